/** The logs of servers: starts and ends, output, limits for floods, and no secrets. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import type { LogLine } from "../../../src/servers/logs/line.ts";
import { LogFiles } from "../../../src/servers/logs/log-file.ts";
import { logFile } from "../../../src/servers/logs/place.ts";
import { readLog } from "../../../src/servers/logs/read-logs.ts";
import { ServerLog } from "../../../src/servers/logs/server-log.ts";
import type { Pool } from "../../../src/servers/pool.ts";
import { redactorOf } from "../../../src/servers/values/secrets.ts";
import { failureOf, openPool, plainValue, type ServerEntry, serverConfig, surroundings } from "../../support/pool.ts";
import { everything, fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let logs: LogFiles;
const pools: Pool[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  logs = new LogFiles({ folder: folder.path, config: null, log: silentLog });
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  await logs.end();
  folder[Symbol.dispose]();
});

function open(entry: ServerEntry): Pool {
  const pool = openPool({ shop: entry }, { ...surroundings(folder.path), logs });
  pools.push(pool);
  return pool;
}

/** The log after the pool was closed, with milliseconds and process ids as N. */
async function written(pool: Pool): Promise<string[]> {
  await pool.close();
  await logs.end();
  return readLog(logFile(folder.path, { server: "shop", config: null })).map(
    ({ kind, text }) => `${kind}: ${text.replace(/\d+ ms/, "N ms").replace(/process \d+/g, "process N")}`,
  );
}

const chatty = (env: Record<string, string> = {}) => ({ ...fixture("chatty"), env });

test("the log of a server of 2026-07-28 has its name and version, though it needs no initialize", async () => {
  const pool = open(fixture("modern", "reject"));
  await pool.callTool("shop", "era", {});
  expect(await written(pool)).toEqual([
    "start: its process was started by claudikins (process N)",
    "ready: after N ms: modern 1.2.3",
    "end: by claudikins: claudikins is closing",
  ]);
});

test("the log has a server's start, output, log messages and end", async () => {
  const pool = open(chatty());
  await pool.callTool("shop", "write", { text: "one\n  two\r\n\n\u001b[31mthree\u001b[0m\nno end of a line" });
  await pool.callTool("shop", "log", { level: "warning", data: { message: "stock\nis low" } });
  const { state } = pool.state("shop");
  expect(state).toBe("ready");
  expect(await written(pool)).toEqual([
    "start: its process was started by claudikins (process N)",
    "stderr: chatty is starting",
    "ready: after N ms: chatty 1.2.3",
    "stderr: one",
    "stderr:   two",
    "stderr: three",
    "log: warning (shop): stock is low",
    "stderr: no end of a line",
    "end: by claudikins: claudikins is closing",
  ]);
});

test("the log skips invalid log messages", async () => {
  const pool = open(chatty());
  expect(plainValue(await pool.callTool("shop", "odd", {}))).toBe("done");
  expect((await written(pool)).filter((line) => line.startsWith("log"))).toEqual([
    "log: no level: null",
    "log: info:",
    "log: no level:",
    "log: no level:",
  ]);
});

test("lines have the server's process id and the time", async () => {
  const before = Date.now();
  const pool = open(chatty());
  await pool.callTool("shop", "write", { text: "now\n" });
  const state = pool.state("shop");
  await written(pool);
  const lines = readLog(logFile(folder.path, { server: "shop", config: null }));
  expect(lines.every(({ process }) => state.state === "ready" && process === state.pid)).toBe(true);
  expect(lines.every(({ at }) => at >= before && at <= Date.now())).toBe(true);
});

test("the log has a second start of a server from npm", async () => {
  const pool = open({ ...chatty() });
  await failureOf(pool.callTool("shop", "die", {}));
  expect(plainValue(await pool.callTool("shop", "env", { name: "NOTHING" }))).toBe("done");
  const lines = await written(pool);
  expect(lines.filter((line) => /^(?:start|end)/.test(line))).toEqual([
    "start: its process was started by claudikins (process N)",
    "end: its process exited with code 7",
    "start: its process was started by claudikins (process N)",
    "end: by claudikins: claudikins is closing",
  ]);
  const other = open(everything());
  await other.callTool("shop", "echo", { message: "hi" });
  const all = await written(other);
  expect(all).toContain("stderr: Starting default (STDIO) server...");
  expect(all.filter((line) => line.startsWith("ready: after N ms: mcp-servers/everything"))).toHaveLength(1);
});

test.each([
  ["a missing command", { command: "no-such-program-anywhere" }, /^failed: .*no-such-program-anywhere$/],
  ["a program that ends", { ...fixture("by-hand", "missing-key") }, /^stderr: API_KEY is not set$/],
  ["output that is not MCP", { ...fixture("odd") }, /^error: not a JSON-RPC message: INFO: starting/],
  [
    "an address where nothing listens",
    { url: "http://127.0.0.1:9/mcp?key=s3cr3t-k3y" },
    /^start: a connection to 127\.0\.0\.1:9 was opened by/,
  ],
  ["an answer that is an error", { ...fixture("by-hand", "refuses") }, /^failed: .*no license/],
  ["an invalid answer", { ...fixture("by-hand", "shapeless") }, /^failed: Server "shop" .*/],
  ["a server that never answers", { ...fixture("by-hand", "hangs"), startTimeoutMs: 300 }, /^failed: .*did not/],
])("the log explains a failed start: %s", async (_, entry, line) => {
  const pool = open(entry as ServerEntry);
  await pool.listTools("shop").catch(() => {});
  const lines = await written(pool);
  expect(lines.filter((each) => line.test(each))).toHaveLength(1);
  if (!lines.some((each) => each.startsWith("ready")))
    expect(lines.some((each) => each.startsWith("failed: "))).toBe(true);
  expect(lines.join("\n")).not.toContain("s3cr3t-k3y");
});

const secret = "s3cr3t-t0k3n-0123456789";

test("the log contains no secrets of the entry, even if they are split or coloured", async () => {
  const pool = open(chatty({ API_TOKEN: secret }));
  expect(plainValue(await pool.callTool("shop", "env", { name: "API_TOKEN" }))).toBe(secret);
  for (const text of [
    `the token is ${secret}\n`,
    `${"x".repeat(1_990)}${secret}\n`,
    `${"x".repeat(65_530)}${secret}${"y".repeat(100)}\n`,
    `${secret.slice(0, 8)}\u001b[1m${secret.slice(8)}\n`,
    `${secret} `.repeat(5_000),
  ]) {
    await pool.callTool("shop", "write", { text });
  }
  await pool.callTool("shop", "log", { level: "info", data: { token: secret } });
  const text = (await written(pool)).join("\n");
  expect(text).toContain("stderr: the token is ***");
  expect(text).toContain("x".repeat(1_900));
  for (let start = 0; start + 8 <= secret.length; start++) expect(text).not.toContain(secret.slice(start, start + 8));
});

/** The logged lines of a server with this secret. */
function unwritten(token: string): { log: ServerLog; texts: () => string[] } {
  const lines: LogLine[] = [];
  const server = serverConfig("shop", chatty({ API_TOKEN: token }));
  const files = { of: () => ({ add: (line: LogLine) => lines.push(line) }), expect() {}, async end() {} };
  return {
    log: new ServerLog(server, files as unknown as LogFiles, redactorOf(server)),
    texts: () => lines.map(({ text }) => text),
  };
}

test("a line in any chunks is one log line, and a long one is cut", () => {
  const { log, texts } = unwritten(secret);
  const bytes = Buffer.from(`grün ${secret}\n${"long ".repeat(1_000)}\nend`);
  for (const byte of bytes) log.stderr(Uint8Array.of(byte));
  log.failed("x");
  expect(texts()).toEqual(["grün ***", `${"long ".repeat(1_000).slice(0, 1_999)}…`, "end", "x"]);
});

test("a long secret is removed completely, even if the line becomes short", () => {
  const long = Array.from({ length: 200 }, (_, index) => `k${index}y`).join("");
  const { log, texts } = unwritten(long);
  log.stderr(Buffer.from(`${long.repeat(200)}\n`));
  expect(texts().join("")).not.toMatch(/k\d+y/);
});

test("a flood is cut with the number of omitted bytes, and calls continue", async () => {
  const pool = open(chatty());
  const megabytes = 200;
  expect(plainValue(await pool.callTool("shop", "flood", { megabytes }))).toBe("done");
  await pool.callTool("shop", "many", { count: 5_000 });
  const lines = await written(pool);
  const { size } = statSync(logFile(folder.path, { server: "shop", config: null }));
  expect(size).toBeLessThan(1_100_000);
  expect(existsSync(`${logFile(folder.path, { server: "shop", config: null })}.1`)).toBe(false);
  const dropped = lines.filter((line) => line.startsWith("dropped: ")).join("\n");
  const kilobytes = [...dropped.matchAll(/([\d,]+) kB of stderr/g)].map(([, count = ""]) =>
    Number(count.replaceAll(",", "")),
  );
  expect(kilobytes.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(megabytes * 1_000 * 0.9);
  expect(dropped).toMatch(/[\d,]+ messages over the log limit/);
  expect(lines.at(-1)).toBe("end: by claudikins: claudikins is closing");
  // Only complete lines are kept.
  expect(lines.filter((line) => line.startsWith("stderr: ") && !/^stderr: (?:0123456789){9}$/.test(line))).toEqual([
    "stderr: chatty is starting",
  ]);
});

test("nothing is logged if the folder cannot be written to, and calls work", async () => {
  const file = join(folder.path, "file");
  folder.write("file", "not a folder");
  const nowhere = new LogFiles({ folder: file, config: null, log: silentLog });
  const pool = openPool({ shop: chatty() }, { ...surroundings(folder.path), logs: nowhere });
  pools.push(pool);
  expect(plainValue(await pool.callTool("shop", "write", { text: "x\n" }))).toBe("done");
  await pool.close();
  await nowhere.end();
});
