/** A worker that ends the process if it stands still, which finds programs that block the host's thread. */
import { writeSync } from "node:fs";

declare const self: Worker;

const patienceMs = 180_000;

/** Counts finished work. It is shared, since a blocked thread receives no messages. */
export type Progress = Int32Array<SharedArrayBuffer>;

self.onmessage = ({ data: progress }: MessageEvent<Progress>) => {
  let [last, since] = [-1, performance.now()];
  setInterval(() => {
    const done = Atomics.load(progress, 0);
    if (done !== last) [last, since] = [done, performance.now()];
    else if (performance.now() - since > patienceMs) {
      writeSync(2, `hung: nothing was done for ${patienceMs / 1000} s after program ${done}; see --first ${done}\n`);
      process.kill(process.pid, "SIGKILL");
    }
  }, 1_000);
};
