/**
 * Takes one step of a program at a time: answers the calls that the program waited for, and runs it until it makes other calls or ends. Then
 * the store has the program, and another process takes the next step. Reads a step on each line of stdin, and writes what became of it on
 * stdout. Arguments: the folder of the store, the workspace and the registry.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { silentLog } from "../../../src/base/log.ts";
import { ExecutionCheckpointer } from "../../../src/programs/execution/checkpointer.ts";
import { CopyTurns } from "../../../src/programs/execution/copy-turns.ts";
import { readHead, readProgram } from "../../../src/programs/execution/stored-program.ts";
import type { OpenCall } from "../../../src/sandbox/checkpoint-contract.ts";
import type { Bindings, Outcome } from "../../../src/sandbox/contract.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { StoreWriter } from "../../../src/store/sqlite/writer.ts";
import { answer, bindingsWith } from "../../sandbox/harness.ts";
import { someLimits } from "../../sandbox/some-limits.ts";
import { ExecutionRows } from "../../store/sqlite/rows.ts";

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
const file = join(folder, "store.sqlite");
const store = new ExecutionRows(await openDatabase(file));
const writer = new StoreWriter(file);
const owner = `process ${process.pid}`;
const sandbox = new Sandbox();
const turns = new CopyTurns();
const access = { writer, owner };

async function step({ id, source }: Step): Promise<Stepped> {
  const program = store.get(id)?.program ?? undefined;
  if (program && !(await writer.do("claim", id, { owner, from: null })))
    throw new Error("the program was not given up");
  const waiting = program ? store.calls(id) : [];
  const head = program && readHead(program);
  const read =
    head &&
    (await readProgram(head, await writer.do("records", id, { ...head.image.manifest, records: head.records })));
  const answered = new Set(waiting.map(({ call }) => call));
  const told = { id, config: null, startedAt: 0, request: "{}", maxBytes: 1e9, roomBytes: 1e10, turns, log: silentLog };
  const recordedCount = read?.execution.recorded.length ?? 0;
  const taken = head && { access, calls: answered, sent: new Map(), program: { head, recordedCount } };
  const kept = new ExecutionCheckpointer({ ...told, open: async () => access, fromStart: true, taken });
  kept.want();
  await kept.begun;
  const waits = Promise.withResolvers<undefined>();
  const call: Bindings["call"] = async (of, context) => {
    const { signal, made } = context;
    if (made && answered.has(made.call)) return answer(of, context);
    waits.resolve(undefined);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("given up"))));
  };
  const stop = new AbortController();
  // The programs have ended within half a second elsewhere. A machine that is busy with something else may need longer.
  const limits = someLimits({ timeoutMs: 20_000, cpuMs: 10_000 });
  const given = { id, limits, mounts, check: "error" as const, signal: stop.signal, checkpointer: kept };
  const options = { ...given, bindings: bindingsWith(call) };
  const saved = read && { execution: read.execution, open: waiting.map(openCall) };
  const running = sandbox.run(source, options, saved);
  const outcome = await Promise.race([running, waits.promise]);
  if (outcome) {
    await kept.ended(outcome);
    await writer.do("remove", id, {});
    return { outcome };
  }
  kept.release();
  stop.abort();
  await running;
  // The store has done what was asked of it before.
  await writer.do("calls", id, {});
  return {};
}

function openCall({ message, answer }: { message: string; answer: string | null }): OpenCall {
  return { message: JSON.parse(message), ...(answer === null ? {} : { answer: JSON.parse(answer) }) };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await step(JSON.parse(line) as Step))}\n`);
}
process.exit(0);
