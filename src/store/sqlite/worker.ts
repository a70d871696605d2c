/** The worker of the store. */
import type { ToStore } from "./messages.ts";
import { StoreThread } from "./store-thread.ts";

declare const self: Worker;

const thread = new StoreThread((answer, transfer = []) => self.postMessage(answer, transfer));
/** Opening is asynchronous, and everything else comes after it. */
let before: Promise<void> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToStore>) => {
  before = before.then(() => thread.take(data));
};
