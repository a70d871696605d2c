/** Programs that wait on disk: their size, the time until they are stored, and the time until they continue. */
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { defaultLimits } from "../../src/config/defaults.ts";
import { limitsFrom } from "../../src/programs/execute.ts";
import { ExecutionCheckpointer } from "../../src/programs/execution/checkpointer.ts";
import { CopyTurns } from "../../src/programs/execution/copy-turns.ts";
import { readHead, readProgram } from "../../src/programs/execution/stored-program.ts";
import type { Bindings, Outcome } from "../../src/sandbox/contract.ts";
import type { RunOptions } from "../../src/sandbox/main-thread/program-run.ts";
import { bytesOf } from "../../src/sandbox/program-image.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { SqliteStore } from "../../src/store/sqlite/store.ts";
import { StoreWriter } from "../../src/store/sqlite/writer.ts";
import { median } from "./measure.ts";
import { type Row, rowOf, under } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

/** Code that has this in its memory when it waits. */
const programs: Record<string, string> = {
  // The size of most programs of agents after a call or two.
  "a typical program": `const orders = Array.from({ length: 50 }, (_, n) => ({ id: "ord_" + n, total: n * 100, lines: [n, n + 1] }));
    const byId = new Map(orders.map((order) => [order.id, order]));`,
  "a program with 1 MB of data": `const rows = Array.from({ length: 8_000 }, (_, n) => ({ n, text: "row " + Math.random().toString(36) + n }));
    const data = JSON.stringify(rows).repeat(3).slice(0, 1_000_000);`,
  "a program with a heap of 60 MB": `const rows = Array.from({ length: 330_000 }, (_, n) => ({ n, text: "row " + n }));`,
};

interface Kept {
  parkMs: number;
  resumeMs: number;
  bytes: number;
}

/** The limits of the typical program. */
const [typicalMs, typicalKb] = [30, 300];

export const measurePark: Measure = async (bench) => {
  const rows: Row[] = [];
  using sandbox = new Sandbox();
  for (const [what, code] of Object.entries(programs)) {
    const kept: Kept[] = [];
    // The first round warms up.
    for (let round = 0; round <= Math.max(bench.runs, 5); round++)
      kept.push(await keepOnce(bench, sandbox, code, round));
    const of = kept.slice(1);
    const isTypical = rows.length === 0;
    const time = (name: string, times: number[]) => {
      const row = rowOf(`${what}, ${name}`, { ours: times });
      return isTypical ? under(row, typicalMs) : row;
    };
    const size: Row = {
      what: `${what}, size on disk`,
      unit: "KB",
      ours: median(of.map(({ bytes }) => bytes)) / 1_024,
      others: {},
      counted: `${of.length} times`,
    };
    rows.push(
      time(
        "from a wait to the disk",
        of.map(({ parkMs }) => parkMs),
      ),
      time(
        "from the disk to the next call",
        of.map(({ resumeMs }) => resumeMs),
      ),
      isTypical ? under(size, typicalKb) : size,
    );
  }
  return {
    rows,
    notes: [
      "The sandbox runs from source in the benchmark's own process. Each program is stored as a program in the background is: its memory is copied, compressed, and written to SQLite, which waits for the disk. It continues in a worker that is ready.",
      "To the disk: from the answer of one call until the next call may leave. From the disk: from reading the program until it has received an answer and makes its next call.",
    ],
  };
};

/** Runs a program until it waits, gives it up, and continues it. */
async function keepOnce(bench: Bench, sandbox: Sandbox, code: string, round: number): Promise<Kept> {
  const folder = bench.folder();
  const file = join(folder, "store.sqlite");
  await using store = new SqliteStore(file);
  const writer = new StoreWriter(file);
  try {
    const access = { writer, owner: "bench", engine: "bench" };
    const told = { id: `bench-${round}`, config: null, startedAt: 0, request: "{}", maxBytes: 1e9, roomBytes: 1e10 };
    const around = { log: silentLog, turns: new CopyTurns(), open: async () => access };
    const kept = new ExecutionCheckpointer({ ...told, ...around, fromStart: true });
    await kept.begun;
    const source = `${code}\nawait bench.ready(); await bench.wait(); return await bench.next();`;
    const called: Record<string, PromiseWithResolvers<number>> = {
      ready: Promise.withResolvers(),
      wait: Promise.withResolvers(),
      next: Promise.withResolvers(),
    };
    const call: Bindings["call"] = async ({ name }, { signal }) => {
      const at = performance.now();
      called[name]?.resolve(at);
      if (name === "wait")
        await new Promise((_, no) => signal.addEventListener("abort", () => no(new Error("given up"))));
      return { json: "1" };
    };
    const stop = new AbortController();
    const options = optionsOf(folder, call, stop.signal);
    const first = sandbox.run(source, { ...options, id: told.id, checkpointer: kept });
    const parkMs = -(await called["ready"]!.promise) + (await called["wait"]!.promise);
    kept.release();
    stop.abort();
    await first;
    // The worker of a cancelled program ends. The next one is ready after this.
    refuseFailure(await sandbox.run("return 1", optionsOf(folder, call)));

    const [waiting] = await store.executions.callPlaces(told.id);
    const startedAt = performance.now();
    const head = readHead((await store.executions.program(told.id))!);
    const records = await writer.do("records", told.id, { ...head.image.manifest, records: head.records });
    const { execution } = await readProgram(head, records);
    const taken = { access, calls: [waiting!.call], sent: new Map(), program: { head, recordedCount: 0 } };
    const checkpointer = new ExecutionCheckpointer({ ...told, ...around, fromStart: true, taken });
    const answer = { type: "settle", call: waiting!.call, json: "1" } as const;
    const open = [{ message: (await writer.do("message", told.id, waiting!)) as never, answer }];
    const last = sandbox.run(source, { ...optionsOf(folder, call), checkpointer }, { execution, open });
    const resumeMs = (await called["next"]!.promise) - startedAt;
    refuseFailure(await last);
    return { parkMs, resumeMs, bytes: bytesOf(head.image.manifest) };
  } finally {
    await writer.close();
  }
}

function optionsOf(folder: string, call: Bindings["call"], signal?: AbortSignal): RunOptions {
  return {
    bindings: { namespaces: [{ name: "bench", jsName: "bench", functions: "any" }], call },
    limits: limitsFrom(defaultLimits),
    mounts: { workspace: folder, registry: folder },
    check: "off",
    signal,
  };
}

function refuseFailure(outcome: Outcome): void {
  if (!outcome.ok) throw new Error(`a program did not continue: ${Bun.inspect(outcome)}`);
}
