/** The session that the README shows: the settings of a new user, the commands, and what their output must have. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export const columns = 104;

export interface Step {
  /** The command as typed, possibly on several lines. */
  command: string;
  /** Patterns that the output must match. */
  shows: RegExp[];
}

export const steps: readonly Step[] = [
  {
    command: "claudikins init --apply",
    shows: [/\d+ tools of 5 servers: about [\d,]+ tokens of definitions/, /Changed claude-code: ~\/\.claude\.json/],
  },
  {
    command: 'claudikins search --limit 1 "which tickets are urgent?"',
    shows: [/shop\.list_tickets\(args\?: \{/],
  },
  {
    command: `claudikins exec -e '  // Customers with an urgent open ticket, and the number of their orders
const urgent = { priority: "urgent", status: "open" };
const [{ orders }, { tickets }] = await Promise.all([shop.list_orders(), shop.list_tickets(urgent)]);
const ids = [...new Set(tickets.map((ticket) => ticket.customer_id))];
const customers = await Promise.all(ids.map((customer_id) => shop.get_customer({ customer_id })));
const count = (id) => orders.filter((order) => order.customer_id === id).length;
const report = customers.map(({ id, name }) => \`\${name}: \${count(id)} orders\`).join("\\n");
await files.write_file({ path: "waiting.txt", content: report });
return report'`,
    shows: [/: \d+ orders/, /\[7 calls · [\d.,]+ m?s · [\d,]{7,} characters kept out\]/],
  },
  {
    command: "claudikins executions show last",
    shows: [/exec · ok · .* · 7 calls, \d at once/, /files\.write_file/],
  },
];

/** A program that is the server `shop`: the demo server under another name, because claudikins is never imported into itself. */
export const shopProgram = "#!/bin/sh\nexec claudikins demo\n";

/** Settings of Claude Code with four servers from npm, and the shop. */
export function settings(project: string, memoryFile: string): object {
  const mcpServers = {
    files: published("server-filesystem", project),
    memory: { ...published("server-memory"), env: { MEMORY_FILE_PATH: memoryFile } },
    everything: published("server-everything", "stdio"),
    thinking: published("server-sequential-thinking"),
    shop: { command: "shop", args: [] },
  };
  return { mcpServers };
}

function published(name: string, ...args: string[]): { command: string; args: string[] } {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`@modelcontextprotocol/${name}/package.json`);
  const { bin } = require(manifest) as { bin: Record<string, string> };
  return { command: "node", args: [join(dirname(manifest), Object.values(bin)[0] ?? ""), ...args] };
}
