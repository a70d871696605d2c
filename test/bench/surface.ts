/** What a host loads before any work, in tokens: our two tools and instructions, beside all definitions of the same servers. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { root } from "../support/claudikins.ts";
import { type Entry, everything, filesystem, fixture, memory, sequentialThinking } from "../support/servers.ts";
import { type Row, under } from "./report.ts";
import type { Bench, Measure } from "./section.ts";

const maxTokens = 601;

/** Recorded from real servers; they stand beside the repository where it is developed. */
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
    rows: rows.map((row) => under(row, maxTokens)),
    notes: [
      "Tokens of o200k: tools/list as JSON, and the instructions, as a host gets them; direct: those of each server, together.",
    ],
  };
};

function recordedServers(): Record<string, Entry> {
  const files = existsSync(lists) ? readdirSync(lists).sort() : [];
  return Object.fromEntries(
    files.map((file) => [file.replace(/\.json$/, ""), fixture("from-file", join(lists, file))]),
  );
}

async function rowOf(what: string, servers: Record<string, Entry>, { binary, folder }: Bench): Promise<Row> {
  const cwd = folder(servers);
  await Bun.spawn([binary, "gen"], { cwd, stdout: "ignore", stderr: "ignore" }).exited;
  const ours = await surfaceOf({ command: binary, args: ["serve"] }, cwd);
  let [tokens, tools] = [0, 0];
  for (const entry of Object.values(servers)) {
    const direct = await surfaceOf(entry, cwd);
    tokens += direct.tokens;
    tools += direct.tools;
  }
  const direct = { value: tokens, ratio: ours.tokens / tokens };
  return { what: `${what}, ${tools} tools`, unit: "tokens", ours: ours.tokens, others: { direct }, counted: "once" };
}

async function surfaceOf(entry: Entry, cwd: string): Promise<{ tokens: number; tools: number }> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ ...entry, cwd, stderr: "ignore" }));
  try {
    const tools = [];
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const text = `${JSON.stringify({ tools })}\n${client.getInstructions() ?? ""}`;
    return { tokens: countTokens(text), tools: tools.length };
  } finally {
    await client.close();
  }
}
