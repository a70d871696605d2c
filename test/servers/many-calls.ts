/**
 * 1,000 concurrent calls to eight servers, in a process whose memory is measured. Argument: a mark for the servers.
 * Prints the result of each call and the maximum resident megabytes as JSON.
 */

import { ClaudikinsError } from "../../src/base/errors.ts";
import { silentLog } from "../../src/base/log.ts";
import { defaultServerTimes } from "../../src/config/defaults.ts";
import type { ServerConfig } from "../../src/config/load.ts";
import { Pool } from "../../src/servers/pool.ts";
import { fixture } from "../support/servers.ts";

/** `text` is undefined without an answer. */
export interface Called {
  server: string;
  /** The number of this call to its server, starting at 1. */
  index: number;
  number: number;
  payload: string;
  text?: string;
  error?: string;
}

const [mark = ""] = process.argv.slice(2);
const well = ["one", "two", "three", "four", "five", "six"];
const names = [...well, "hangs", "crashes"];

const special: Record<string, Partial<ServerConfig>> = {
  one: { maxCallsInFlight: 10 },
  hangs: { callTimeoutMs: 500 },
  crashes: { maxCallsInFlight: 20 },
};

const configOf = (name: string): ServerConfig => ({
  name,
  ...fixture("echo", well.includes(name) ? "well" : name, mark),
  env: {},
  disabled: false,
  needs: [],
  ...defaultServerTimes,
  ...(special[name] as object),
});

let mostMb = 0;
const watching = setInterval(() => {
  mostMb = Math.max(mostMb, process.memoryUsage.rss() / 1_048_576);
}, 5);

const env = { PATH: process.env["PATH"] ?? "", HOME: mark };
const pool = new Pool(new Map(names.map((name) => [name, configOf(name)])), { env, cwd: mark, log: silentLog });
const called = await Promise.all(Array.from({ length: 1_000 }, (_, number) => call(number)));
clearInterval(watching);
await pool.close();
console.log(JSON.stringify({ called, mostMb }));

async function call(number: number): Promise<Called> {
  const server = names[number % names.length]!;
  const payload = `${number} `.repeat(500);
  const asked = { server, index: Math.floor(number / names.length) + 1, number, payload };
  const delay = server === "one" ? { delayMs: 2 } : {};
  try {
    const { content } = await pool.callTool(server, "echo", { number, payload, ...delay });
    const [block] = content as { text: string }[];
    return { ...asked, text: block?.text ?? "" };
  } catch (error) {
    return { ...asked, error: error instanceof ClaudikinsError ? `${error.code}: ${error.message}` : String(error) };
  }
}
