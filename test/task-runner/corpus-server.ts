/** A recorded corpus of tools, served by as many real MCP servers over HTTP in this process. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface RecordedTool {
  server: string;
  tool: string;
  description?: string;
  inputSchema?: { type?: unknown };
}

interface RecordedQuery {
  query: string;
  kind: string;
  gold: { server: string; tool: string; alts?: { server: string; tool: string }[] }[];
}

export interface CorpusRequest {
  text: string;
  kind: string;
  right: Set<string>;
}

const lines = <T>(file: string): T[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));

/** The requests of a folder with `tools.jsonl` and `queries.jsonl`. */
export function corpusRequests(folder: string): CorpusRequest[] {
  return lines<RecordedQuery>(join(folder, "queries.jsonl")).map(({ query, kind, gold }) => ({
    text: query,
    kind,
    right: new Set(gold.flatMap((each) => [each, ...(each.alts ?? [])]).map(({ server, tool }) => `${server}.${tool}`)),
  }));
}

/** Config entries of its servers, which run until the end of the `using` block. */
export function serveCorpus(folder: string): Disposable & { entries: Record<string, object> } {
  const byServer = Map.groupBy(lines<RecordedTool>(join(folder, "tools.jsonl")), ({ server }) => server);
  const all = [...byServer].map(([name, recorded]) => ({ name, tools: recorded.map(listed) }));
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const server = all[Number(new URL(request.url).pathname.slice(1))];
      if (!server || request.method !== "POST") return new Response(null, { status: server ? 405 : 404 });
      const { id, method, params = {} } = (await request.json()) as { id?: number; method: string; params?: object };
      if (id === undefined) return new Response(null, { status: 202 });
      return Response.json({ jsonrpc: "2.0", id, ...answer(server, method, params) });
    },
  });
  const entries = all.map(({ name }, index) => [name, { type: "http", url: `http://127.0.0.1:${http.port}/${index}` }]);
  return { entries: Object.fromEntries(entries), [Symbol.dispose]: () => void http.stop(true) };
}

const listed = ({ tool: name, description = "", inputSchema }: RecordedTool) => ({
  name,
  description,
  inputSchema: inputSchema?.type === "object" ? inputSchema : { type: "object" },
});

function answer({ name, tools }: { name: string; tools: object[] }, method: string, params: object): object {
  const serverInfo = { name, version: "1" };
  if (method === "initialize") return { result: { ...params, capabilities: { tools: {} }, serverInfo } };
  if (method === "tools/list") return { result: { tools } };
  return { error: { code: -32_601, message: "Method not found" } };
}
