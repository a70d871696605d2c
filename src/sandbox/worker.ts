/** The thread that code runs in: one engine, one execution at a time, each in a fresh runtime. */
import type { QuickJSWASMModule } from "quickjs-emscripten-core";
import { createEngine } from "./engine.ts";
import { Execution } from "./execution.ts";
import type { FromWorker, ToWorker } from "./messages.ts";

declare const self: Worker;

let guestScript = "";
let ready: { memoryBytes: number; engine: Promise<QuickJSWASMModule>; next: Promise<Execution> } | undefined;
let current: Execution | undefined;

/** Makes the next execution, so that its code can start at once. An engine of another size is a new one. */
function prepare(memoryBytes: number): Promise<Execution> {
  const engine = ready?.memoryBytes === memoryBytes ? ready.engine : createEngine(memoryBytes);
  const next = engine.then((instance) => new Execution(instance, memoryBytes, guestScript, send));
  ready = { memoryBytes, engine, next };
  return next;
}

self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case "init":
      guestScript = data.guest;
      await prepare(data.memoryBytes);
      break;
    case "run":
      current = await (ready?.memoryBytes === data.memoryBytes ? ready.next : prepare(data.memoryBytes));
      current.run(data);
      break;
    case "settle":
      current?.settle(data);
      break;
    case "stop":
      current?.checkStopped();
      break;
  }
};

/** An execution that ended well leaves its engine to the next one. */
function send(message: FromWorker): void {
  self.postMessage(message);
  if (message.type === "done" && message.reusable && ready) void prepare(ready.memoryBytes);
}
