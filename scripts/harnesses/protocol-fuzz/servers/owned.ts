/**
 * A server that several owners share. Arguments: its name, and the file where it records every call. `note` and `hold` return the mark that
 * they get, `guarded` needs a person's permission, which nobody gives, and `ask` asks the caller's own agent a question with the mark. Its
 * resources are whatever is asked for, and `touch` announces a change of one.
 */
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, recordFile = ""] = process.argv.slice(2);

/** `caller` is the number of the owner that calls, as the owner says. */
interface Args {
  caller?: number;
  mark?: string;
  ms?: number;
}

const properties = { caller: { type: "number" }, mark: { type: "string" }, ms: { type: "number" } };
const inputSchema = { type: "object", properties, required: ["caller", "mark"] };
const outputSchema = { type: "object", properties: { mark: { type: "string" } }, required: ["mark"] };

const tools = ["note", "hold", "guarded", "ask", "touch"].map((name) => ({
  name,
  description: `Tool ${name}`,
  inputSchema,
  outputSchema,
}));

const waiting = new Map<string, (answer: object) => void>();
let lastId = 0;

async function call(tool: string, { mark = "", ms = 0 }: Args): Promise<object> {
  if (ms > 0) await Bun.sleep(ms);
  if (tool === "touch") say({ method: "notifications/resources/updated", params: { uri: `owned://${mark}` } });
  if (tool === "ask") await ask(mark);
  return { content: [], structuredContent: { mark } };
}

async function ask(mark: string): Promise<void> {
  lastId += 1;
  const id = `question-${lastId}`;
  const { promise, resolve } = Promise.withResolvers<object>();
  waiting.set(id, resolve);
  const requestedSchema = { type: "object", properties: { answer: { type: "string" } } };
  say({ id, method: "elicitation/create", params: { mode: "form", message: `Which one? ${mark}`, requestedSchema } });
  await promise;
}

interface Params {
  name?: string;
  arguments?: Args;
  uri?: string;
  protocolVersion?: string;
}

async function resultOf(method: string, params: Params): Promise<object> {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "owned", version: "1" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      appendFileSync(recordFile, `${JSON.stringify({ tool: params.name, args: params.arguments })}\n`);
      return await call(params.name ?? "", params.arguments ?? {});
    case "resources/list":
      return { resources: [] };
    case "resources/templates/list":
      return { resourceTemplates: [{ uriTemplate: "owned://{text}", name: "any" }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, text: `read ${params.uri}` }] };
    default:
      return {};
  }
}

function say(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {}, result = {} } = JSON.parse(line);
  if (method === undefined) waiting.get(String(id))?.(result);
  else if (id !== undefined) void resultOf(method, params).then((value) => say({ id, result: value }));
}
