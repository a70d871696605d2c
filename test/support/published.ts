/** Servers of the npm registry that nobody needs a key for. They are installed once, into the cache of the tests. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cachedBuild } from "./claudikins.ts";
import type { Entry } from "./servers.ts";

/** Each is small, and different from the servers in `registry/`. Those of `@modelcontextprotocol` use the SDK of a newer revision. */
const packages = {
  "@agent-infra/mcp-server-commands": "1.2.18",
  "@agent-infra/mcp-server-filesystem": "1.2.29",
  "@allpepper/memory-bank-mcp": "0.2.2",
  "@drawio/mcp": "1.6.1",
  "@hyperdrive-eng/mcp-nodejs-debugger": "0.2.2",
  "@itseasy21/mcp-knowledge-graph": "1.0.7",
  "@kazuph/mcp-taskmanager": "1.1.1",
  "@liuyoshio/mcp-compass": "1.0.7",
  "@mantine/mcp-server": "9.5.2",
  "@mcp-get-community/server-curl": "0.1.0",
  "@modelcontextprotocol/server-basic-vanillajs": "2.0.3",
  "@modelcontextprotocol/server-budget-allocator": "2.0.3",
  "@modelcontextprotocol/server-cohort-heatmap": "2.0.3",
  "@modelcontextprotocol/server-scenario-modeler": "2.0.3",
  "@modelcontextprotocol/server-sheet-music": "2.0.3",
  "@modelcontextprotocol/server-system-monitor": "2.0.3",
  "fast-filesystem-mcp": "3.5.2",
  "mcp-git": "0.0.4",
  "mcp-graphql-schema": "0.0.2",
  "mcp-hello-world": "1.1.2",
  "mcp-obsidian": "1.0.0",
  "mcp-sequentialthinking-tools": "0.0.3",
  "mcp-server-commands": "0.5.0",
  "time-mcp": "1.0.6",
  "wikipedia-mcp": "1.0.3",
};

export type PublishedName = keyof typeof packages;

/** The folder of all packages. Bun takes six seconds for them, and npm two minutes. Their own install scripts would download programs. */
function installed(): string {
  const named = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  return cachedBuild(`published-${Bun.hash(named.join()).toString(16)}`, (folder) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    return ["add", "--cwd", folder, "--exact", "--ignore-scripts", "--omit=optional", "--omit=peer", ...named];
  });
}

/** The entry of a published server. */
export function published(name: PublishedName, args: string[] = [], env: Record<string, string> = {}): Entry {
  const folder = join(installed(), "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { bin: string | object };
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { command: "node", args: [join(folder, file), ...args], env };
}
