/** Calls one tool many times concurrently, with the sign-ins of a file or of a database: `auth-caller.ts <file> <url> <count>`. */

import { messageOf } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { Pool } from "../../src/servers/pool.ts";
import { loadPostgres, readDocuments } from "../../src/store/open.ts";
import { serverOf } from "./auth-harness.ts";

const [, , credentialsFile = "", url = "", count = "1"] = process.argv;
const { XDG_DATA_HOME, CLAUDIKINS_DATABASE, CLAUDIKINS_SEALING_KEY } = process.env;
const env = CLAUDIKINS_DATABASE ? { XDG_DATA_HOME, CLAUDIKINS_DATABASE, CLAUDIKINS_SEALING_KEY } : {};
if (CLAUDIKINS_DATABASE) await loadPostgres();
const close = CLAUDIKINS_DATABASE ? await readDocuments(env) : async () => {};
await using _documents = { [Symbol.asyncDispose]: close };
await using pool = new Pool(new Map([["far", serverOf("far", { url })]]), {
  env,
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
