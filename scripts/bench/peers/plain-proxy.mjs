/**
 * A plain proxy made with the SDK as its documentation shows it: it serves the tools of one stdio server over Streamable HTTP, at a port that it
 * prints, and passes each call on. It neither checks nor records anything. The words of its command line start the server.
 */
import { randomUUID } from "node:crypto";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "proxy", version: "1" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));

const sessions = new Map();

const app = createMcpExpressApp();
app.all("/mcp", async (request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  await (known ?? (await newSession())).handleRequest(request, response, request.body);
});
const listener = app.listen(0, "127.0.0.1", () => console.log(listener.address().port));

async function newSession() {
  const server = new Server({ name: "proxy", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => client.listTools(params));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => client.callTool(params));
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  transport.onclose = () => sessions.delete(transport.sessionId);
  await server.connect(transport);
  return transport;
}
