/** Parked and background programs with large memory and large answers: many at once, resumed, cancelled, and with expired approvals. */
import { runProgram } from "../../../../test/support/process.ts";
import type { Agent } from "../agents/agent.ts";
import type { Processes } from "../site.ts";
import { largeArgument } from "./gated-calls.ts";
import { gatedCall, type Kind, many, type Run } from "./kind.ts";

/** Time in milliseconds after which a call is cancelled. */
const lateMs = 20_000;

export const parkedKind: Kind = {
  name: "parked and background programs with large memory and answers",
  weight: 6,
  async run(run) {
    const { random, processes } = run;
    const agent = random.chance(0.5) ? await processes.newer() : await processes.older();
    const codes = Array.from({ length: random.pick([1, 2, 4, 8]) }, () => codeOf(run));
    const ids = await inBackground(agent, codes);
    await Bun.sleep(random.below(500));
    if (ids[0] !== undefined && random.chance(0.3)) await cancel(processes, ids[0]);
    await endAll(agent, processes, ids);
  },
};

function codeOf(run: Run): string {
  const { seed, index, random } = run;
  const megabytes = many(random, 60);
  const heap = random.chance(0.5)
    ? `const heap = Array.from({ length: ${megabytes} }, (_, i) => String.fromCharCode(97 + i % 26).repeat(1_000_000));`
    : `const heap = Array.from({ length: ${megabytes * 15_000} }, (_, i) => ({ id: i, name: "n" + i }));`;
  const calls = Array.from(
    { length: many(random, 40) },
    () => `await fuzz.answer({ seed: ${seed}, index: ${index} }).catch(String);`,
  );
  const gated = random.chance(0.2) ? gatedCall(run, largeArgument(run, 1_000_000)) : gatedCall(run);
  const wait = random.pick([`await ${gated}.catch(String);`, `await ${gated}.catch(String);`, "await sleep(300);", ""]);
  const value = random.pick(["heap.length", "heap.length", `"a".repeat(${many(random, 30_000_000)})`, "heap"]);
  return `${heap}\n${calls.join("\n")}\n${wait}\nreturn ${value};`;
}

/** The ids of programs that run in the background. Those that ended at once have none. */
export async function inBackground(agent: Agent, codes: readonly string[]): Promise<string[]> {
  const texts = await Promise.all(
    codes.map((code) =>
      agent.call("execute_code", { code, background: true }, { signal: AbortSignal.timeout(lateMs) }),
    ),
  );
  return texts.flatMap((text) => /\bThe execution ([0-9a-z]+) /.exec(text ?? "")?.[1] ?? []);
}

async function cancel(processes: Processes, id: string): Promise<void> {
  const { command, env, folder, config } = processes.site;
  const argv = [...command, "executions", "cancel", id, "--config", config];
  await runProgram(argv, { cwd: folder.path, env });
}

/** Lets approvals expire until all programs have ended, and reads their outcomes. */
export async function endAll(agent: Agent, { site }: Processes, ids: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(lateMs);
  const outcomes = Promise.all(
    ids.map(async (id) => {
      let text: string | undefined;
      do text = await agent.call("execute_code", { resume: id }, { signal });
      while (text?.includes("To get its outcome later") && !signal.aborted);
    }),
  );
  let isOver = false;
  void outcomes.then(() => {
    isOver = true;
  });
  while (!isOver && !signal.aborted) {
    site.expireApprovals();
    await Bun.sleep(100);
  }
  await outcomes;
}
