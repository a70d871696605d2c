/** Restores the snapshot in a file to a new engine, runs code in it, and prints the result. */

import { createEngine } from "../../src/sandbox/engine/engine.ts";
import { endAddressOf, restoreSnapshot } from "../../src/sandbox/engine/snapshot.ts";
import { compiledEngine } from "../../src/sandbox/engine/wasm.ts";
import { newState } from "../../src/sandbox/messages.ts";
import { CodeRun } from "../../src/sandbox/worker/code-run.ts";
import { ReusableContext } from "../../src/sandbox/worker/reusable-context.ts";
import { someLimits } from "./some-limits.ts";

const [file = "", memoryMb = ""] = process.argv.slice(2);
const snapshot = await Bun.file(file).bytes();
const engine = await createEngine(await compiledEngine(), Number(memoryMb) * 1_048_576);
let restored = false;
const cell = new ReusableContext(engine, endAddressOf(snapshot), (context) => {
  restored = restoreSnapshot(engine, context, snapshot);
});
const code = "console.log('x'); return [typeof Math.random(), typeof __guest, typeof __host, [3, 1, 2].sort()]";
const execution = new CodeRun(cell, {
  run: {
    type: "run",
    source: code,
    check: "error",
    namespaces: [],
    mounts: { workspace: "/nowhere", registry: "/nowhere" },
    limits: someLimits(),
    isKept: false,
    tellsFiles: false,
    deadline: Date.now() + 1_000,
    state: newState(),
  },
  code,
  isKept: false,
  onEnd: ({ result }) => console.log(JSON.stringify({ restored, result })),
  send() {},
});
execution.start();
