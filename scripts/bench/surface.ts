/** The tokens that a host loads before any work: our two tools and instructions, compared with all definitions of the same servers. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { surfaceTokensOf } from "../../src/serve/surface/surface-tokens.ts";
import { root } from "../../test/support/claudikins.ts";
import { type Entry, everything, filesystem, fixture, memory, sequentialThinking } from "../../test/support/servers.ts";
import { shownName, toolsOf } from "./host.ts";
import { type Row, under } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

/** Lists recorded from real servers, beside the repository. */
const lists = join(root, "..", "shared", "servers", "lists");

export const measureSurface: Measure = async (bench) => {
  const installed: Record<string, Entry> = {
    everything: everything(),
    files: filesystem(bench.folder()),
    memory: memory(join(bench.folder(), "memory.json")),
    "sequential-thinking": sequentialThinking(),
  };
  const recorded = Object.entries(recordedServers());
  const rows = [await rowOf("four servers from npm", installed, bench)];
  if (recorded.length >= 16) {
    rows.push(await rowOf("16 recorded servers", Object.fromEntries(recorded.slice(0, 16)), bench));
    rows.push(await rowOf(`${recorded.length} recorded servers`, Object.fromEntries(recorded), bench));
  }
  return {
    rows,
    notes: [
      "Counted with the o200k tokenizer: tools/list as JSON plus the instructions, as a host receives them. Direct is the sum over all servers.",
      "Tool search is what a host with its own tool search loads: the names of all tools and the servers' instructions. The host's search tool is not counted, and each definition that is found later adds to it.",
    ],
  };
};

/** Servers whose lists were recorded, by name. Empty where the lists are missing. */
export function recordedServers(): Record<string, Entry> {
  const files = existsSync(lists) ? readdirSync(lists).sort() : [];
  return Object.fromEntries(
    files.map((file) => [file.replace(/\.json$/, ""), fixture("from-file", join(lists, file))]),
  );
}

async function rowOf(what: string, servers: Record<string, Entry>, { binary, folder }: Bench): Promise<Row> {
  const cwd = folder(servers);
  await Bun.spawn([binary, "gen"], { cwd, env: process.env, stdout: "ignore", stderr: "ignore" }).exited;
  const { tokens: ours } = await surfaceOf("claudikins", { command: binary, args: ["serve", "--trust"] }, cwd);
  let [tokens, nameTokens, tools] = [0, 0, 0];
  for (const [name, entry] of Object.entries(servers)) {
    const direct = await surfaceOf(name, entry, cwd);
    tokens += direct.tokens;
    nameTokens += direct.nameTokens;
    tools += direct.tools;
  }
  const beside = (value: number) => ({ value, ratio: ours / value });
  const others = { direct: beside(tokens), "tool search": beside(nameTokens) };
  // Nothing was called before.
  const most = surfaceTokensOf({}, Object.keys(servers).length, 0) + 1;
  return under({ what: `${what}, ${tools} tools`, unit: "tokens", ours, others, counted: "once" }, most);
}

interface Surface {
  tokens: number;
  /** The tokens of names and instructions alone. */
  nameTokens: number;
  tools: number;
}

async function surfaceOf(server: string, entry: Entry, cwd: string): Promise<Surface> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ ...entry, cwd, stderr: "ignore" }));
  try {
    const tools = await toolsOf(client);
    const instructions = client.getInstructions() ?? "";
    const names = tools.map(({ name }) => shownName(server, name));
    return {
      tokens: countTokens(`${JSON.stringify({ tools })}\n${instructions}`),
      nameTokens: countTokens([...names, instructions].join("\n")),
      tools: tools.length,
    };
  } finally {
    await client.close();
  }
}
