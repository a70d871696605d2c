/**
 * Runs under Node: executes each program on a line of stdin with @utcp/code-mode, and writes its value to stdout.
 * Arguments: the folder of its installation, and the servers as JSON. Its own log is discarded.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, serversJson] = process.argv.slice(2);
for (const name of ["log", "info", "warn", "error"]) console[name] = () => {};
const { resolve } = createRequire(join(folder, "x.js"));
const load = (name) => import(pathToFileURL(resolve(name)));
await load("@utcp/mcp");
const { CodeModeUtcpClient } = await load("@utcp/code-mode");
const client = await CodeModeUtcpClient.create();
const servers = JSON.parse(serversJson);
const names = Object.keys(servers);
if (names.length > 0) {
  const mcpServers = Object.fromEntries(names.map((name) => [name, { ...servers[name], transport: "stdio" }]));
  const manual = { name: "bench", call_template_type: "mcp", config: { mcpServers } };
  const { success, errors } = await client.registerManual(manual);
  if (!success) throw new Error(errors.join("\n"));
}

/** Its tool names begin with the server's name. These namespaces hide that, so that all peers run the same programs. */
const namespaces = names
  .map((name) => `const ${name} = new Proxy({}, { get: (_, tool) => (args) => bench["${name}_" + tool](args) });`)
  .join(" ");
const clock = "const performance = { now: () => Date.now() };";

for await (const line of createInterface({ input: process.stdin })) {
  const { id, code } = JSON.parse(line);
  client.callToolChain(`${clock} ${namespaces}\n${code}`, 60_000, 512).then(
    ({ result, logs }) => {
      // A failed program returns null, and logs the reason.
      const failed = result === null && logs.some((text) => text.startsWith("[ERROR]"));
      process.stdout.write(`${JSON.stringify({ id, ok: !failed, value: result, error: logs.join("\n") })}\n`);
    },
    (error) => process.stdout.write(`${JSON.stringify({ id, ok: false, error: String(error) })}\n`),
  );
}
process.exit(0);
