/** Calls one tool many times concurrently, with the sign-ins of a file: `auth-caller.ts <file> <url> <count>`. */

import { messageOf } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { Pool } from "../../src/servers/pool.ts";
import { serverOf } from "./auth-harness.ts";

const [, , credentialsFile = "", url = "", count = "1"] = process.argv;
await using pool = new Pool(new Map([["far", serverOf("far", { url })]]), {
  env: {},
  cwd: "/",
  log: silentLog,
  credentialsFile,
});
// All connect before the concurrent calls.
await pool.listTools("far").catch(() => {});
console.log("ready");
await Bun.stdin.text();
const calls = Array.from({ length: Number(count) }, () => pool.callTool("far", "echo", {}));
for (const call of await Promise.allSettled(calls)) {
  console.log(call.status === "fulfilled" ? "ok" : messageOf(call.reason));
}
