/**
 * Takes one step of a program at a time: answers the calls that the program waited for, and runs it until it makes other calls or ends. Then
 * the store has the program, and another process takes the next step. Reads a step on each line of stdin, and writes what became of it on
 * stdout. Arguments: the folder of the store, the workspace and the registry.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { deserialize } from "node:v8";
import { ExecutionCheckpointer, type StoredProgram } from "../../../src/execution/checkpointer.ts";
import { silentLog } from "../../../src/log.ts";
import type { OpenCall } from "../../../src/sandbox/checkpointer.ts";
import type { Bindings, Outcome } from "../../../src/sandbox/contract.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { ExecutionStore } from "../../../src/store/executions.ts";
import { answer, bindingsWith } from "../../sandbox/harness.ts";
import { someLimits } from "../../sandbox/some-limits.ts";

export interface Step {
  id: string;
  source: string;
}

/** The outcome, or nothing if the program waits. */
export interface Stepped {
  outcome?: Outcome;
}

const folder = process.argv[2] ?? "";
const mounts = { workspace: join(folder, "workspace"), registry: join(folder, "registry") };
const store = new ExecutionStore(await openDatabase(join(folder, "store.sqlite")));
const owner = `process ${process.pid}`;
const sandbox = new Sandbox();
const access = { store, owner, engine: await sandbox.buildMark() };

async function step({ id, source }: Step): Promise<Stepped> {
  const program = store.program(id);
  if (program && !store.claim(id, owner, null)) throw new Error("the program was not given up");
  const waiting = program ? store.calls(id) : [];
  const answered = new Set(waiting.map(({ call }) => call));
  const told = { id, config: null, startedAt: 0, request: "{}", maxBytes: 1e9, log: silentLog };
  const taken = program ? { access, sent: new Map() } : undefined;
  const kept = new ExecutionCheckpointer({ ...told, open: async () => access, fromStart: true, taken });
  kept.want();
  await kept.begun;
  const waits = Promise.withResolvers<undefined>();
  const call: Bindings["call"] = async (of, signal, _, made) => {
    if (made && answered.has(made.call)) return answer(of, signal);
    waits.resolve(undefined);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up"))));
  };
  const stop = new AbortController();
  // The programs have ended within half a second elsewhere. A machine that is busy with something else may need longer.
  const limits = someLimits({ timeoutMs: 20_000, cpuMs: 10_000 });
  const given = { id, limits, mounts, check: "error" as const, signal: stop.signal, checkpointer: kept };
  const options = { ...given, bindings: bindingsWith(call) };
  const saved = program && {
    execution: (deserialize(program) as StoredProgram).execution,
    open: waiting.map(openCall),
  };
  const running = sandbox.execute(source, options, saved);
  const outcome = await Promise.race([running, waits.promise]);
  if (outcome) {
    await kept.ended(outcome);
    store.remove(id);
    return { outcome };
  }
  kept.release();
  stop.abort();
  await running;
  return {};
}

function openCall({ message, answer }: { message: string; answer: string | null }): OpenCall {
  return { message: JSON.parse(message), ...(answer === null ? {} : { answer: JSON.parse(answer) }) };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await step(JSON.parse(line) as Step))}\n`);
}
process.exit(0);
