/** A process that makes one call to the server at a URL, and prints the result and its memory. */
import { readFileSync } from "node:fs";
import { silentLog } from "../../src/base/log.ts";
import type { NetworkServer } from "../../src/config/load.ts";
import { openPool } from "../support/pool.ts";

const [url = "", transport = "auto"] = process.argv.slice(2);
const entry = { url, transport: transport as NetworkServer["transport"] };
const pool = openPool({ far: entry }, { env: {}, cwd: "/", log: silentLog });
await pool.listTools("far").catch(() => {});
const before = peak();
const error = await pool.callTool("far", "bomb", {}).then(
  () => undefined,
  (thrown: { code?: string; message?: string }) => ({ code: thrown.code, message: thrown.message }),
);
process.stdout.write(JSON.stringify({ error, before, after: peak() }));
await pool.close();

/** The highest resident size so far, in MB. */
function peak(): number {
  if (process.platform !== "linux") return Math.round(process.resourceUsage().maxRSS / 1_024);
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1_024);
}
