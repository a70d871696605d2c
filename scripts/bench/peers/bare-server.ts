/** A minimal server of the SDK with two tools over stdio. The start time of its executable is the minimum for ours. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const inputSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const server = new Server({ name: "bare", version: "1" }, { capabilities: { tools: {} }, instructions: "Two tools." });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: "one", description: "Gives its text back", inputSchema },
    { name: "two", description: "Gives its text back", inputSchema },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: "text", text: String(params.arguments?.["text"]) }],
}));
await server.connect(new StdioServerTransport());
process.stdin.on("end", () => void server.close());
