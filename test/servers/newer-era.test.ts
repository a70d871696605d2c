/** Connections to servers of MCP 2026-07-28 over HTTP that answer in unusual ways. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Log, silentLog } from "../../src/base/log.ts";
import type { ServerConfig } from "../../src/config/load.ts";
import { withEdits } from "../../src/config/tool-edits.ts";
import type { Pool } from "../../src/servers/pool.ts";
import { failureOf, openPool, plainValue, surroundings } from "../support/pool.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

interface Message {
  id?: number | string;
  method: string;
  params?: object;
}

/** Answers a request. Undefined for the usual answer. */
type Answer = (message: Message, request: Request) => Response | undefined;

let folder: TemporaryFolder;
let pool: Pool;
let server: Bun.Server<undefined>;
/** The methods of all requests, in order. */
let asked: string[];
/** The tools that are known from before. */
let storedTools: { name: string; inputSchema: Record<string, unknown>; edit?: string }[];
afterEach(async () => {
  await pool.close();
  await server.stop(true);
  folder[Symbol.dispose]();
});

const usual: Record<string, object> = {
  "server/discover": {
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
  },
  "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }], ttlMs: 0, cacheScope: "private" },
  "tools/call": { content: [{ type: "text", text: "hello" }] },
};

const answer = (id: Message["id"], result: object) => Response.json({ jsonrpc: "2.0", id, result });
const refusal = (id: Message["id"], status: number, code: number, data = {}) =>
  Response.json({ jsonrpc: "2.0", id, error: { code, message: "no", data } }, { status });

function open(own: Answer = () => undefined, stored?: string, log: Log = silentLog): void {
  asked = [];
  storedTools = [];
  folder = temporaryFolder();
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      asked.push(message.method);
      const result = usual[message.method];
      const { id } = message;
      return (
        own(message, request) ??
        (result
          ? answer(id, { resultType: "complete", ...result })
          : refusal(id, 400, -32_022, { supported: ["2026-07-28"] }))
      );
    },
  });
  const entry = { url: `http://127.0.0.1:${server.port}/mcp` };
  pool = openPool(
    { far: entry },
    {
      ...surroundings(folder.path),
      credentialsFile: `${folder.path}/credentials.json`,
      log,
      stored: () => ({ protocol: stored, tools: storedTools }),
    },
  );
}

const hello = async () => plainValue(await pool.callTool("far", "hello", {}));

test("a result without a type counts as complete", async () => {
  open(({ id, method }) => (method === "tools/call" ? answer(id, usual[method]!) : undefined));
  expect(await hello()).toBe("hello");
});

test("a result of an unknown type is an error", async () => {
  open(({ id, method }) => (method === "tools/call" ? answer(id, { resultType: "later" }) : undefined));
  expect((await failureOf(hello())).message).toContain("of a kind that claudikins does not know");
});

test("a server that answers everybody's initialize, and asks for a sign-in then, needs a sign-in", async () => {
  open(({ method }) => (method === "initialize" ? undefined : new Response("", { status: 401 })));
  expect(await failureOf(hello())).toMatchObject({
    code: "AUTH_REQUIRED",
    message: 'Server "far" cannot be used: it needs a sign-in (401)',
  });
});

test("the next connection begins in the era of the last one", async () => {
  open();
  expect(await hello()).toBe("hello");
  expect(asked).toEqual(["initialize", "server/discover", "tools/call"]);
  await pool.release("far");
  asked.length = 0;
  expect(await hello()).toBe("hello");
  expect(asked).toEqual(["server/discover", "tools/call"]);
});

test("an era that is known from before is tried first", async () => {
  open(undefined, "2026-07-28");
  expect(await hello()).toBe("hello");
  expect(asked).toEqual(["server/discover", "tools/call"]);
});

test("a server that has returned to the older era is used in it", async () => {
  const older = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "far", version: "1" },
  };
  open(({ id, method }) => {
    if (method === "initialize") return answer(id, older);
    if (id === undefined) return new Response(null, { status: 202 });
    return method === "server/discover" ? refusal(id, 400, -32_600) : undefined;
  }, "2026-07-28");
  expect(await hello()).toBe("hello");
  expect(asked.slice(0, 2)).toEqual(["server/discover", "initialize"]);
});

test("after a failure, the era is found again", async () => {
  let isAway = true;
  open(() => (isAway ? new Response("", { status: 503 }) : undefined), "2026-07-28");
  expect((await failureOf(hello())).code).toBe("SERVER_UNAVAILABLE");
  isAway = false;
  asked.length = 0;
  expect(await hello()).toBe("hello");
  expect(asked).toEqual(["initialize", "server/discover", "tools/call"]);
});

describe("a call with a marked argument", () => {
  const inputSchema = {
    type: "object",
    properties: { place: { type: "string", "x-mcp-header": "Place" } },
  };
  const go = () => pool.callTool("far", "hello", { place: "Köln" });
  const begin = ["initialize", "server/discover"];

  test("has the header from the first call, if the schema is known from before", async () => {
    const headers: (string | null)[] = [];
    open(({ method }, request) => {
      if (method === "tools/call") headers.push(request.headers.get("mcp-param-place"));
      return undefined;
    });
    storedTools = [{ name: "hello", inputSchema }];
    await go();
    expect([asked, headers]).toEqual([[...begin, "tools/call"], ["=?base64?S8O2bG4=?="]]);
  });

  test("is sent once more if the server misses a header, after its tools were listed", async () => {
    const mismatch: Answer = ({ id, method }) => (method === "tools/call" ? refusal(id, 400, -32_020) : undefined);
    open(mismatch);
    expect((await failureOf(go())).code).toBe("TOOL_FAILED");
    expect(asked).toEqual([...begin, "tools/call", "tools/list", "tools/call"]);
  });

  test("has the header of an argument that the config fixes, although agents do not see it", async () => {
    const headers: (string | null)[] = [];
    const tools = [{ name: "hello", inputSchema }];
    open(({ id, method, params }, request) => {
      if (method === "tools/list")
        return answer(id, { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" });
      if (method !== "tools/call") return undefined;
      const header = request.headers.get("mcp-param-place");
      headers.push(header);
      if (header === null) return refusal(id, 400, -32_020);
      return answer(id, { resultType: "complete", content: [], structuredContent: params });
    });
    const written = [
      { tool: "hello", entry: { name: "greet", arguments: { place: { value: "here" } } }, place: "tools" },
    ];
    const servers = pool.servers as Map<string, ServerConfig>;
    const far = withEdits(servers.get("far")!, written, {}) as ServerConfig;
    servers.set("far", far);
    storedTools = [{ name: "greet", inputSchema: { type: "object" }, edit: far.edits!.tools[0]!.mark }];
    const result = await pool.callTool("far", "greet", {});
    expect(result["structuredContent"]).toMatchObject({ name: "hello", arguments: { place: "here" } });
    expect(headers).toEqual([null, "here"]);
  });

  test("has no header if the tool's marks are invalid, and the tool is left out of the list with a warning", async () => {
    const bad = { ...inputSchema, "x-mcp-header": "Place" };
    const warnings: string[] = [];
    const tools = [
      { name: "hello", inputSchema: bad },
      { name: "other", inputSchema },
    ];
    open(
      ({ id, method }) =>
        method === "tools/list"
          ? answer(id, { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" })
          : undefined,
      undefined,
      { ...silentLog, warn: (message) => warnings.push(message) },
    );
    expect((await pool.listTools("far")).map(({ name }) => name)).toEqual(["other"]);
    expect(warnings).toEqual([
      "far: the tool hello is left out: its x-mcp-header is invalid: the schema itself is not a property that can be marked",
    ]);
  });
});

describe("a subscription to a resource", () => {
  const accepted = (id: Message["id"], uri: string) => ({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: {
      _meta: { "io.modelcontextprotocol/subscriptionId": id },
      notifications: { resourceSubscriptions: [uri] },
    },
  });
  /** A stream that ends after the server has accepted the subscription. */
  const stream = (id: Message["id"]) =>
    new Response(`event: message\ndata: ${JSON.stringify(accepted(id, "note://one"))}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  const withResources: Answer = ({ id, method }) =>
    method === "server/discover"
      ? answer(id, { resultType: "complete", ...usual[method], capabilities: { resources: { subscribe: true } } })
      : undefined;
  const listens = () => asked.filter((method) => method === "subscriptions/listen").length;

  test("is renewed when its stream has ended, also after a failure, and its listener hears that the resource may have changed", async () => {
    open((message, request) => {
      if (message.method !== "subscriptions/listen") return withResources(message, request);
      return listens() === 2 ? refusal(message.id, 500, -32_603) : stream(message.id);
    });
    const changed = Promise.withResolvers<string>();
    const end = await pool.subscribe("far", "note://one", changed.resolve);
    expect(await changed.promise).toBe("note://one");
    expect(listens()).toBe(3);
    end();
  });

  test("is not renewed when its listener has gone", async () => {
    open((message, request) =>
      message.method === "subscriptions/listen" ? stream(message.id) : withResources(message, request),
    );
    (await pool.subscribe("far", "note://one", () => {}))();
    await Bun.sleep(300);
    expect(listens()).toBe(1);
  });
});
