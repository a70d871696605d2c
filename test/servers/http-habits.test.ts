/** Habits of servers over HTTP that the protocol leaves open, or that are common mistakes. */
import { afterEach, describe, expect, test } from "bun:test";
import { ownFolder } from "../support/own-folder.ts";
import { openPool, plainValue, surroundings } from "../support/pool.ts";

const folder = ownFolder({ isShared: true });

interface Seen {
  method: string;
  path: string;
  headers: Headers;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Habits {
  /** Answers a notification. */
  notified?: () => Response;
  /** Answers a call of the tool. `answer` is the usual one. */
  answered?: (answer: { jsonrpc: string; id: number; result: object }) => Response;
  /** Answers a request to a path, or leaves it to the endpoint. */
  route?: (url: URL) => Response | undefined;
}

/** Calls the tool `echo` of a server with these habits. Returns what it says and the requests that the server got. */
async function called({ notified, answered, route }: Habits): Promise<{ said: unknown; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      seen.push({ method: request.method, path: url.pathname, headers: request.headers });
      const routed = route?.(url);
      if (routed) return routed;
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: never };
      if (id === undefined) return notified?.() ?? new Response(null, { status: 202 });
      const answer = { jsonrpc: "2.0", id, result: resultOf(method, params) };
      return answered && method === "tools/call" ? answered(answer) : Response.json(answer);
    },
  });
  closing.push(() => server.stop(true));
  const entry = { url: `http://127.0.0.1:${server.port}/mcp`, headers: { "X-Key": "k" } };
  const pool = openPool({ habits: entry }, surroundings(folder.path));
  closing.push(() => pool.close());
  return { said: plainValue(await pool.callTool("habits", "echo", { text: "arrived" })), seen };
}

function resultOf(method: string, params: { arguments?: { text: string } } = {}): object {
  if (method === "initialize") {
    const serverInfo = { name: "habits", version: "1" };
    return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
  }
  if (method === "tools/list") return { tools: [{ name: "echo", inputSchema: { type: "object" } }] };
  return { content: [{ type: "text", text: params.arguments?.text ?? "" }] };
}

describe("a notification may be answered with", () => {
  test.each<[string, () => Response]>([
    ["an empty 200", () => new Response(null, { status: 200 })],
    ["204", () => new Response(null, { status: 204 })],
    ["a word", () => new Response("OK")],
    ["an object that JSON-RPC does not know", () => Response.json({ ok: true })],
    ["null", () => Response.json(null)],
    ["a response without a request", () => Response.json({ jsonrpc: "2.0", id: null, result: {} })],
    ["an empty stream of events", () => new Response(": \n\n", { headers: { "content-type": "text/event-stream" } })],
    ["JSON that is cut off", () => new Response('{"json', { headers: { "content-type": "application/json" } })],
  ])("%s", async (_, notified) => {
    expect((await called({ notified })).said).toBe("arrived");
  });
});

describe("an answer that was written by hand is read as it is meant:", () => {
  test.each<[string, (answer: { id: number; result: object }) => object]>([
    ["with an empty error", (answer) => ({ ...answer, error: null })],
    ["with empty metadata", (answer) => ({ ...answer, result: { ...answer.result, _meta: null } })],
  ])("%s", async (_, written) => {
    expect((await called({ answered: (answer) => Response.json(written(answer)) })).said).toBe("arrived");
  });
});

test("an error of JSON-RPC is told, whatever status of a failure its response has", async () => {
  const error = { code: -32_000, message: "the database is down" };
  for (const status of [500, 502]) {
    const answered = ({ id }: { id: number }) => Response.json({ jsonrpc: "2.0", id, error }, { status });
    await expect(called({ answered })).rejects.toThrow(/: the database is down$/);
    // An error for another request says nothing about this one.
    const other = () => Response.json({ jsonrpc: "2.0", id: "other", error }, { status });
    await expect(called({ answered: other })).rejects.toThrow(`it failed (${status})`);
  }
});

test.each([307, 308])("a redirect with %p to another path keeps the body and the headers", async (status) => {
  const route = ({ pathname }: URL) =>
    pathname === "/mcp" ? new Response(null, { status, headers: { location: "/mcp/" } }) : undefined;
  const { said, seen } = await called({ route });
  expect(said).toBe("arrived");
  const arrived = seen.filter(({ path }) => path === "/mcp/");
  expect(arrived.length).toBeGreaterThan(2);
  expect(arrived.map(({ headers }) => headers.get("x-key"))).toEqual(arrived.map(() => "k"));
});

test("a stream is asked for with GET, which has no body and accepts only events", async () => {
  const { seen } = await called({});
  const streams = seen.filter(({ method }) => method === "GET");
  expect(streams.length).toBeGreaterThan(0);
  for (const { headers } of streams) {
    expect(headers.get("accept")).toBe("text/event-stream");
    expect(headers.get("content-type")).toBeNull();
  }
});
