/** Random programs have the same outcome if another process continues them whenever they wait. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { programsOf } from "../../scripts/harnesses/sandbox-fuzz/programs.ts";
import type { Outcome } from "../../src/sandbox/contract.ts";
import { Harness } from "../sandbox/harness.ts";
import { temporaryFolder } from "../support/temporary.ts";
import type { Step, Stepped } from "./stored/steps.ts";

setDefaultTimeout(300_000);

const seed = 23;
const programCount = 400;

/** Depends on the time, or on chance. */
const isFree =
  /setTimeout|setInterval|setImmediate|performance|Date|random|randomUUID|getRandomValues|hrtime|uptime|timeout|slow|Temporal|time\(/i;

/** Everything but figures, as JSON has it. */
function seen(outcome: Outcome): string {
  const { receipt: _, ...rest } = outcome;
  return JSON.stringify(rest);
}

/** A process that takes steps. */
function stepper(folder: string) {
  const script = join(import.meta.dir, "stored", "steps.ts");
  const child = Bun.spawn([process.execPath, script, folder], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const lines = (async function* () {
    let rest = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      const all = (rest + chunk).split("\n");
      rest = all.pop() ?? "";
      yield* all;
    }
  })();
  return {
    async take(step: Step): Promise<Stepped> {
      child.stdin.write(`${JSON.stringify(step)}\n`);
      child.stdin.flush();
      const { value } = await lines.next();
      if (value === undefined) throw new Error(`the process has ended during ${step.id}`);
      return JSON.parse(value);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await child.exited;
    },
  };
}

test("random programs that two processes run in turn have the outcome of those that one runs", async () => {
  using plain = new Harness();
  using folder = temporaryFolder();
  await using one = stepper(folder.path);
  await using other = stepper(folder.path);
  const programs = await programsOf(seed);
  let [compared, steps] = [0, 0];
  for (let index = 0; index < programCount; index++) {
    const program = programs(index);
    // Generated programs have one statement on each line; the others are variants of handwritten ones.
    if (isFree.test(program) || !program.startsWith("let a: any")) continue;
    const source = program.replaceAll(/^try \{/gm, "await test.echo({});\ntry {");
    const first = await plain.run(source, { timeoutMs: 20_000, cpuMs: 500 });
    // A program that runs into a limit ends anywhere.
    if (!first.ok && first.reason !== "threw") continue;
    let outcome: Outcome | undefined;
    for (let turn = 0; !outcome; turn++) {
      ({ outcome } = await (turn % 2 === 0 ? one : other).take({ id: `program-${index}`, source }));
      steps += 1;
    }
    // How deep calls may be depends on how far the engine's code is compiled: a process that has run more programs allows more.
    if (!outcome.ok && outcome.reason === "stack") continue;
    expect({ index, seen: seen(outcome) }).toEqual({ index, seen: seen(first) });
    compared += 1;
  }
  console.error(`${compared} programs compared, in ${steps} steps`);
  expect(compared).toBeGreaterThan(12);
  expect(steps).toBeGreaterThan(80);
});
