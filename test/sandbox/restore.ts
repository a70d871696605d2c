/** Restores the snapshot of a file in a fresh engine and runs code in it; prints what came of it. */
import { createEngine } from "../../src/sandbox/engine.ts";
import { Execution } from "../../src/sandbox/execution.ts";
import { restoreSnapshot } from "../../src/sandbox/snapshot.ts";
import { compiledEngine } from "../../src/sandbox/wasm.ts";

const [file = "", memoryMb = ""] = process.argv.slice(2);
const snapshot = await Bun.file(file).bytes();
const engine = await createEngine(await compiledEngine(), Number(memoryMb) * 1_048_576);
let restored = false;
const execution = new Execution(
  engine,
  (message) => {
    if (message.type === "done") console.log(JSON.stringify({ restored, result: message.result }));
  },
  (context) => {
    restored = restoreSnapshot(engine, context, snapshot);
  },
);
execution.run({
  type: "run",
  code: "console.log('x'); return [typeof Math.random(), typeof __guest, typeof __host, [3, 1, 2].sort()]",
  namespaces: [],
  timeoutMs: 1_000,
  stop: new SharedArrayBuffer(4),
});
