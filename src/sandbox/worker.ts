/** The thread that code runs in: one engine, one execution at a time, each in a fresh runtime. */
import type { QuickJSWASMModule } from "quickjs-emscripten-core";
import { createEngine } from "./engine.ts";
import { Execution } from "./execution.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

declare const self: Worker;

let ready: { memoryBytes: number; engine: Promise<QuickJSWASMModule>; next: Promise<Execution> } | undefined;
let current: Execution | undefined;

/** Makes the next execution before its code is there. An engine is used again as long as its size is the wanted one. */
function prepare(guest: string, memoryBytes: number): void {
  const engine = ready?.memoryBytes === memoryBytes ? ready.engine : createEngine(memoryBytes);
  ready = { memoryBytes, engine, next: engine.then((instance) => new Execution(instance, memoryBytes, guest, send)) };
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case "prepare":
      prepare(data.guest, data.memoryBytes);
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
