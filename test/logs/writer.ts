/** Adds lines with a mark to a log, as one of several processes. */

import { silentLog } from "../../src/log.ts";
import { LogFile } from "../../src/logs/log-file.ts";

const [folder = "", mark = "", count = "", maxBytes = ""] = process.argv.slice(2);
const file = new LogFile({ server: "shop", config: null }, { folder, log: silentLog, maxBytes: Number(maxBytes) });
for (let number = 0; number < Number(count); number++) {
  file.add({
    at: Date.now(),
    process: process.pid,
    kind: "stderr",
    text: `${mark} ${number} ${"-".repeat(number % 90)}`,
  });
  // In many writes, among those of the others.
  if (number % 7 === 0) file.write();
  // As slowly as servers are allowed to: what waits for its file to be moved aside is not much.
  if (number % 50 === 0) await Bun.sleep(2);
}
await file.end();
