/**
 * A server on the network in the process of the storm, which writes down every call with the key in its arguments. Tools: `act` may not be
 * repeated, `look` and `put` may, `guarded` is for calls that somebody must approve, and `wait` answers late.
 */

export interface FarCall {
  tool: string;
  key: string;
  at: number;
}

export interface FarServer extends AsyncDisposable {
  url: string;
  calls: FarCall[];
  /** Keys of calls of `wait` that are not answered yet. */
  waiting: Set<string>;
}

interface Message {
  id?: number;
  method: string;
  params?: { name?: string; arguments?: { key?: string; ms?: number }; protocolVersion?: string };
}

const inputSchema = {
  type: "object",
  properties: { key: { type: "string" }, ms: { type: "number" } },
  required: ["key"],
};
const outputSchema = { type: "object", properties: { key: { type: "string" } }, required: ["key"] };

const tools = [
  { name: "act" },
  { name: "look", annotations: { readOnlyHint: true } },
  { name: "put", annotations: { readOnlyHint: false, idempotentHint: true } },
  { name: "guarded" },
  { name: "wait" },
].map((tool) => ({ ...tool, description: `Tool ${tool.name}`, inputSchema, outputSchema }));

export function farServer(): FarServer {
  const calls: FarCall[] = [];
  const waiting = new Set<string>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params = {} } = (await request.json()) as Message;
      if (id === undefined) return new Response(null, { status: 202 });
      const answer = (result: object) => Response.json({ jsonrpc: "2.0", id, result });
      if (method === "initialize") {
        return answer({
          protocolVersion: params.protocolVersion === "2025-06-18" ? "2025-06-18" : "2025-11-25",
          capabilities: { tools: {} },
          serverInfo: { name: "far", version: "1" },
        });
      }
      if (method === "tools/list") return answer({ tools });
      if (method !== "tools/call") {
        return Response.json({ jsonrpc: "2.0", id, error: { code: -32_601, message: "there is no such method" } });
      }
      const { key = "", ms = 0 } = params.arguments ?? {};
      calls.push({ tool: params.name ?? "", key, at: Date.now() });
      if (params.name === "wait") {
        waiting.add(key);
        await Promise.race([Bun.sleep(ms), aborted(request.signal)]);
        waiting.delete(key);
      } else if (ms > 0) await Bun.sleep(ms);
      return answer({ content: [], structuredContent: { key } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    calls,
    waiting,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
