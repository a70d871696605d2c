/** The thread that code runs in: one engine, one execution at a time, each in a fresh runtime. */
import type { QuickJSContext } from "quickjs-emscripten-core";
import { createEngine, type Engine } from "./engine.ts";
import { Execution } from "./execution.ts";
import snapshotFile from "./guest-snapshot.bin" with { type: "file" };
import type { FromWorker, PrepareMessage, ToWorker } from "./messages.ts";
import { restoreSnapshot, runGuest } from "./snapshot.ts";

declare const self: Worker;

let ready: { memoryBytes: number; engine: Promise<Engine>; next: Promise<Execution> } | undefined;
let current: Execution | undefined;

/** The build puts the snapshot where the source has an empty file: from source, the guest's script is run. */
const snapshot = Bun.file(snapshotFile).bytes();

/** Makes the next execution before its code is there. An engine is used again as long as its size is the wanted one. */
function prepare({ engine: module, guest, memoryBytes }: PrepareMessage): void {
  const again = ready?.memoryBytes === memoryBytes ? ready.engine : undefined;
  current?.[Symbol.dispose]();
  current = undefined;
  const engine = again ?? createEngine(module, memoryBytes);
  const next = Promise.all([engine, snapshot]).then(([made, taken]) => {
    const restore = (context: QuickJSContext) => !again && taken.length > 0 && restoreSnapshot(made, context, taken);
    return new Execution(made, send, (context) => restore(context) || runGuest(context, guest));
  });
  ready = { memoryBytes, engine, next };
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case "prepare":
      prepare(data);
      break;
    case "run":
      current = await ready?.next;
      current?.run(data);
      break;
    case "settle":
      current?.settle(data);
      break;
    case "stop":
      current?.checkStopped();
      break;
  }
};

function send(message: FromWorker): void {
  self.postMessage(message);
}
