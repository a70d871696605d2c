/**
 * Runs under Node: executes each program on a line of stdin in a new context of `node:vm`, and writes its value to
 * stdout. The servers are in argv as JSON. Code of agents is often run like this, without isolation: it can reach the
 * process.
 */
import { createInterface } from "node:readline";
import { createContext, Script } from "node:vm";

const maxBufferSize = 256 * 1_048_576;
const namespaces = await connectAll(JSON.parse(process.argv[2] ?? "{}"));

async function connectAll(servers) {
  const names = Object.keys(servers);
  if (names.length === 0) return {};
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const connect = async (name) => {
    const client = new Client({ name: "bench", version: "1" });
    await client.connect(new StdioClientTransport({ ...servers[name], stderr: "ignore", maxBufferSize }));
    return [name, namespaceOf(client)];
  };
  return Object.fromEntries(await Promise.all(names.map(connect)));
}

function namespaceOf(client) {
  return new Proxy(
    {},
    { get: (_, tool) => async (args) => toolValue(await client.callTool({ name: tool, arguments: args }), tool) },
  );
}

function toolValue({ isError, structuredContent, content }, tool) {
  if (isError) throw new Error(`${tool} failed: ${JSON.stringify(content)}`);
  return structuredContent ?? content.map(({ text }) => text).join("\n");
}

async function run(code) {
  const context = createContext({ performance, setTimeout, Buffer, ...namespaces });
  return new Script(`(async () => {${code}\n})()`).runInContext(context);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, code } = JSON.parse(line);
  run(code).then(
    (value) => process.stdout.write(`${JSON.stringify({ id, ok: true, value })}\n`),
    (error) => process.stdout.write(`${JSON.stringify({ id, ok: false, error: String(error) })}\n`),
  );
}
process.exit(0);
