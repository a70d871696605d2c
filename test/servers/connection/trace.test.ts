/** The traced messages to and from servers: all of them, in order, with times, and without secrets. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Transport } from "@modelcontextprotocol/client";
import { MessageTrace, type TraceEntry } from "../../../src/servers/connection/trace.ts";
import type { Pool } from "../../../src/servers/pool.ts";
import { masked, redactorOf } from "../../../src/servers/values/secrets.ts";
import { eventually } from "../../support/eventually.ts";
import { type NetworkFixture, networkFixture } from "../../support/network.ts";
import { failureOf, openPool, plainValue, type ServerEntry, serverConfig, surroundings } from "../../support/pool.ts";
import { everything, filesystem, fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

const secret = "s3cr3t-t0k3n-0123456789";

let folder: TemporaryFolder;
let pool: Pool | undefined;
let network: NetworkFixture | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await pool?.close();
  await network?.kill();
  pool = undefined;
  network = undefined;
  folder[Symbol.dispose]();
});

/** A pool with the server "shop" whose messages are traced. */
function open(entry: ServerEntry) {
  const seen: TraceEntry[] = [];
  const trace = new MessageTrace((line) => seen.push(line));
  const opened = openPool({ shop: entry }, { ...surroundings(folder.path), trace });
  pool = opened;
  const lines = () => {
    trace.flush();
    return seen.map(({ direction, kind, method, id }) =>
      [direction, kind, method, ...(id === undefined ? [] : [id])].join(" "),
    );
  };
  return { pool: opened, seen, lines };
}

test("a trace has every message in order, with its size and the time of an answer", async () => {
  const { pool, seen, lines } = open(fixture("chatty"));
  const before = performance.now();
  expect(plainValue(await pool.callTool("shop", "env", { name: "NOTHING" }))).toBe("done");
  expect(lines()).toEqual([
    "sent request initialize 0",
    "received result initialize 0",
    "sent notification notifications/initialized",
    "sent request tools/call 1",
    "received result tools/call 1",
  ]);
  const [, , , call, result] = seen;
  expect(call?.message).toEqual({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "env", arguments: { name: "NOTHING" }, _meta: { progressToken: 1 } },
  });
  expect(call?.bytes).toBe(JSON.stringify(call?.message).length);
  expect(result?.message).toEqual({ jsonrpc: "2.0", id: 1, result: { content: [{ type: "text", text: "done" }] } });
  expect(result!.at - call!.at).toBe(result!.ms!);
  expect(seen.every(({ at, server }, index) => server === "shop" && at >= (seen[index - 1]?.at ?? 0))).toBe(true);
  expect(result!.at).toBeLessThanOrEqual(performance.now() - before + 1_000);
});

test("requests of a server and their answers have their own ids", async () => {
  const { pool, lines } = open(fixture("by-hand", "asks"));
  await pool.callTool("shop", "hello", {});
  expect(lines().slice(0, 5).sort()).toEqual([
    "received request ping a",
    "received request roots/list b",
    "sent error roots/list b",
    "sent request initialize 0",
    "sent result ping a",
  ]);
});

test("errors and unexpected answers are traced", async () => {
  const { pool, seen, lines } = open(fixture("by-hand", ""));
  await failureOf(pool.callTool("shop", "answers with an error", {}));
  await failureOf(pool.callTool("shop", "answers somebody else", {}, { timeoutMs: 200 }));
  expect(lines()).toContain("received error tools/call 1");
  expect(seen.find(({ kind }) => kind === "error")?.message).toEqual({
    jsonrpc: "2.0",
    id: 1,
    error: { code: -32_000, message: "the database is gone" },
  });
  // The answer may be later than the time limit.
  await eventually(() => lines().includes("received result an unknown request 1002"));
  expect(lines()).toContain("sent notification notifications/cancelled");
});

test("results are the same with a trace", async () => {
  const file = folder.write("text.txt", "grün\n".repeat(200_000));
  const calls = async ({ pool }: { pool: Pool }) =>
    plainValue(await pool.callTool("shop", "read_text_file", { path: file }));
  const seen = open(filesystem(folder.path));
  expect(await calls(seen)).toEqual({ content: "grün\n".repeat(200_000) });
  expect(seen.lines().at(-1)).toMatch(/^received result tools\/call/);
  expect(seen.seen.at(-1)!.bytes).toBeGreaterThan(1_000_000);
  await pool?.close();
  const told: number[] = [];
  const other = open(everything());
  const run = { duration: 1, steps: 4 };
  await other.pool.callTool("shop", "trigger-long-running-operation", run, {
    onProgress: ({ progress }) => told.push(progress),
  });
  expect(told).toEqual([1, 2, 3, 4]);
  expect(other.lines().filter((line) => line === "received notification notifications/progress")).toHaveLength(4);
});

test("a message that is nested deeper than the stack is still traced", async () => {
  const seen: TraceEntry[] = [];
  const trace = new MessageTrace((entry) => seen.push(entry));
  let deep: unknown = "x";
  for (let depth = 0; depth < 200_000; depth++) deep = [deep];
  const inner: Transport = { start: async () => {}, send: async () => {}, close: async () => {} };
  await trace.over(inner, "shop", (text) => text).send({ jsonrpc: "2.0", method: "x", params: { deep } });
  trace.flush();
  expect(seen).toMatchObject([{ method: "x", bytes: 0, message: { problem: "nested too deeply to show" } }]);
});

test("a traced transport passes on every event", async () => {
  const told: unknown[] = [];
  const inner: Transport = {
    sessionId: "one",
    start: async () => void told.push("start"),
    send: async (message, options) => void told.push(message, options),
    close: async () => inner.onclose?.(),
    setProtocolVersion: (version) => void told.push(version),
  };
  const seen = new MessageTrace(() => {}).over(inner, "shop", (text) => text);
  seen.onclose = () => void told.push("closed");
  seen.onerror = (error) => void told.push(error.message);
  seen.onmessage = (message, extra) => void told.push(message, extra);
  await seen.start();
  const message = { jsonrpc: "2.0", method: "x" } as const;
  const options = { relatedRequestId: 1 };
  await seen.send(message, options);
  seen.setProtocolVersion?.("2025-06-18");
  const extra = { authInfo: { token: "t", clientId: "c", scopes: [] } };
  inner.onmessage?.(message, extra);
  inner.onerror?.(new Error("odd"));
  await seen.close();
  expect(seen.sessionId).toBe("one");
  expect(told).toEqual(["start", message, options, "2025-06-18", message, extra, "odd", "closed"]);
});

test.each(["http", "sse", "websocket"] as const)("a trace over %s contains no headers and addresses", async (mode) => {
  network = await networkFixture(mode);
  const { port } = network;
  const url =
    mode === "websocket"
      ? `ws://127.0.0.1:${port}/mcp?token=${secret}`
      : `http://127.0.0.1:${port}/mcp?token=${secret}`;
  const { pool, seen, lines } = open({ url, headers: { Authorization: `Bearer ${secret}` }, transport: mode });
  expect(JSON.stringify(plainValue(await pool.callTool("shop", "echo", { text: secret })))).toContain(secret);
  expect(lines()).toContain("received result tools/call 1");
  expect(JSON.stringify(seen)).not.toContain(secret);
});

describe("masked", () => {
  const redact = redactorOf(serverConfig("shop", { command: "x", env: { API_TOKEN: secret } }));
  const call = (args: object) => ({
    method: "tools/call",
    params: { name: "login", arguments: args, _meta: { progressToken: 7 } },
  });
  const argumentsOf = (args: object) => masked(call(args), redact).params.arguments as unknown;

  test("hides secrets of the config everywhere", () => {
    expect(argumentsOf({ text: `it is ${secret}`, [secret]: [secret] })).toEqual({ text: "it is ***", "***": ["***"] });
    expect(masked(call({}), redact)).toEqual(call({}));
  });

  test("hides arguments with secret names", () => {
    const args = {
      user: "ann",
      password: "horse",
      pin: 1234,
      apiKey: "k",
      "x-api-key": "k",
      access_token: "t",
      auth: { type: "basic", parts: ["ann", "horse"], ok: true },
      maxTokens: 10,
      tokenFile: "/etc/token",
      author: "ann",
      clientSecret: null,
    };
    expect(argumentsOf(args)).toEqual({
      ...args,
      password: "***",
      pin: "***",
      apiKey: "***",
      "x-api-key": "***",
      access_token: "***",
      auth: { type: "***", parts: ["***", "***"], ok: true },
    });
  });

  test("hides results with secret names, but not schemas", () => {
    const inputSchema = { type: "object", properties: { token: { type: "string" } }, required: ["token"] };
    expect(masked({ result: { tools: [{ name: "login", inputSchema }] } }, redact)).toEqual({
      result: { tools: [{ name: "login", inputSchema }] },
    });
    expect(masked({ result: { structuredContent: { token: "abc", tokens: 12 }, nextCursor: "c" } }, redact)).toEqual({
      result: { structuredContent: { token: "***", tokens: 12 }, nextCursor: "c" },
    });
  });

  test.each([
    ["Authorization: Bearer abcdefgh12345", "Authorization: Bearer ***"],
    ["key ghp_0123456789abcdefghij of GitHub", "key *** of GitHub"],
    ["https://ann:horse@host/path", "https://***@host/path"],
    ["https://host/cb?code=12345&state=x&access_token=abc#f", "https://host/cb?code=***&state=x&access_token=***"],
    ['{"password": "a horse", "user": "ann"}', '{"password": "***", "user": "ann"}'],
    ["the token is kept in a file", "the token is kept in a file"],
  ])("hides secrets in a known form: %s", (text, shown) => {
    expect(masked({ text }, redact).text).toBe(shown);
  });

  test.each([
    "?".repeat(200_000),
    "sk-".repeat(100_000),
    "a://".repeat(100_000),
    '"token":"'.repeat(50_000),
    `"${"a".repeat(500_000)}`,
  ])("is quick for texts that could be slow", (text) => {
    // If it were slow, the test would reach its time limit.
    expect(masked({ text }, redact).text.length).toBeGreaterThan(0);
  });
});
