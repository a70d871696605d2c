/** Log messages of servers: one line each in our log, and nothing on stdout. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { oneLine } from "../../../src/base/visible-text.ts";
import { defaultServerTimes } from "../../../src/config/defaults.ts";
import { Pool } from "../../../src/servers/pool.ts";
import { networkFixture } from "../../support/network.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

/** A pool with one server, the lines of its log, and a promise of the first line that contains a text. */
function open(entry: object) {
  const lines: string[] = [];
  const waiting = new Map<string, () => void>();
  const say = (level: string) => (line: string) => {
    lines.push(`${level} ${line}`);
    for (const [text, found] of waiting) if (line.includes(text)) found();
  };
  const log = { debug: say("debug"), info: say("info"), warn: say("warn") };
  const defaults = { args: [], env: {}, headers: {}, disabled: false, ...defaultServerTimes, needs: [] };
  const { PATH = "" } = process.env;
  const servers = new Map([["shop", { ...defaults, ...entry, name: "shop" } as never]]);
  const pool = new Pool(servers, { env: { PATH }, cwd: process.cwd(), log });
  const saw = async (text: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(text, resolve);
    if (lines.some((line) => line.includes(text))) resolve();
    await promise;
  };
  const send = (params: unknown) => pool.callTool("shop", "notify", { method: "notifications/message", params });
  return { pool, lines, saw, send };
}

test.each(["stdio", "http"])(
  "log messages over %s keep their level, logger and data, even if they are unusual",
  async (way) => {
    await using server = way === "http" ? await networkFixture("http", { program: "protocol" }) : undefined;
    const entry = server
      ? { transport: "http", url: `http://127.0.0.1:${server.port}/` }
      : fixture("protocol", "stdio");
    const { pool, lines, saw, send } = open(entry);
    await using _ = pool;
    for (const level of ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]) {
      await send({ level, data: `at ${level}` });
    }
    await send({ level: "info", logger: "db\n", data: { message: "one\u001b[31m\r\nline\u202e" } });
    await send({ level: "info", data: { rows: 3, message: "several" } });
    await send({ level: "loud" });
    await send({ level: "info", data: "x".repeat(100_000) });
    await saw("xxx");
    expect(
      lines.filter((line) => /^\w+ shop( \(db\))?: /.test(line)).map((line) => line.replace(/x{100,}/, "xxx")),
    ).toMatchInlineSnapshot(`
    [
      "debug shop: at debug",
      "info shop: at info",
      "info shop: at notice",
      "warn shop: at warning",
      "warn shop: at error",
      "warn shop: at critical",
      "warn shop: at alert",
      "warn shop: at emergency",
      "info shop (db): one [31m line",
      "info shop: {"rows":3,"message":"several"}",
      "warn shop: ",
      "info shop: xxx…",
    ]
  `);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(520);
  },
);

test("unknown notifications are ignored, whatever their names", async () => {
  const { pool, lines } = open(fixture("protocol", "stdio"));
  await using _ = pool;
  const heard: unknown[] = [];
  pool.onListChanged((_server, what) => void heard.push(what));
  for (const method of ["constructor", "toString", "notifications/made-up"])
    await pool.callTool("shop", "notify", { method });
  expect(heard).toEqual([]);
  expect(lines.filter((line) => !line.includes("is ready"))).toEqual([]);
});

test("messages before the answer to initialize are accepted", async () => {
  const { pool, lines, saw } = open(fixture("protocol", "stdio", "mark", "early"));
  await using _ = pool;
  expect((await pool.listTools("shop")).length).toBeGreaterThan(3);
  await saw("too early");
  expect(lines.filter((line) => line.startsWith("warn"))).toEqual([]);
});

test("oneLine removes line breaks and control characters, and cuts at a maximum length", () => {
  expect(oneLine("  a\tb\u0000c\u2028d\u009b  ", 100)).toBe("a b c d");
  expect(oneLine("ab".repeat(10), 5)).toBe("abab…");
  expect(oneLine("", 5)).toBe("");
});
