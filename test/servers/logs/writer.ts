/** Adds marked lines to a log, as one of several processes. */

import { silentLog } from "../../../src/base/log.ts";
import { LogFile } from "../../../src/servers/logs/log-file.ts";

const [folder = "", mark = "", count = "", maxBytes = ""] = process.argv.slice(2);
const file = new LogFile({ server: "shop", config: null }, { folder, log: silentLog, maxBytes: Number(maxBytes) });
for (let number = 0; number < Number(count); number++) {
  file.add({
    at: Date.now(),
    process: process.pid,
    kind: "stderr",
    text: `${mark} ${number} ${"-".repeat(number % 90)}`,
  });
  // In many writes, mixed with those of the others.
  if (number % 7 === 0) file.write();
  // As slowly as servers may write, so that few lines wait while the file is moved aside.
  if (number % 50 === 0) await Bun.sleep(2);
}
await file.end();
