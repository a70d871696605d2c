// One call of a tool, written like the example in the SDK's documentation. Arguments: the server's entry and the call, as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [entry, call] = process.argv.slice(2).map((text) => JSON.parse(text));
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ ...entry, stderr: "ignore" }));
const { content } = await client.callTool(call);
process.stdout.write(`${content[0].text}\n`);
await client.close();
