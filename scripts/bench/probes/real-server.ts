/** Runs a real server behind claudikins: what an agent is told about its tools, and what they return. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { pageServer } from "../../results/page.ts";
import { type Plan, type PlannedCall, type Start, textOf, type World } from "../../results/plan.ts";
import { type Promised, promisesIn } from "./promises.ts";

/** The key in the config. */
const key = "tried";
/** The server must be listed within this many searches: each waits for ten seconds. */
const maxSearches = 4;

export interface Called {
  call: PlannedCall;
  value: unknown;
}

export interface Tried {
  /** By the name of the tool. */
  promises: Map<string, Promised>;
  calls: Called[];
}

/**
 * Searches the tools of a server and makes the calls of its plan. `folder` is new. Without `calls`, only the answer of the search
 * is returned.
 */
export async function tryServer(
  plan: Plan,
  { command, args }: Start,
  { binary, folder, calls = plan.calls }: { binary: string; folder: string; calls?: readonly PlannedCall[] },
): Promise<Tried> {
  using page = pageServer();
  const world: World = { folder: join(folder, "world"), page: page.url, last: "" };
  mkdirSync(world.folder);
  plan.prepare?.(world);
  const entry = {
    command,
    args: [...args, ...(plan.args?.(world) ?? [])],
    env: { HOME: world.folder, ...plan.env?.(world) },
    cwd: world.folder,
  };
  const config = { mcpServers: { [key]: entry }, limits: { outputChars: 1_000_000 } };
  writeFileSync(join(folder, "claudikins.json"), JSON.stringify(config));
  const client = new Client({ name: "bench", version: "1" });
  const { PATH = "", HOME = "" } = process.env;
  // Servers of a daemon would go on after the session.
  const env = { PATH, HOME, CLAUDIKINS_DAEMON: "off" };
  const serve = { command: binary, args: ["serve", "--trust"], env, cwd: folder, stderr: "ignore" as const };
  await client.connect(new StdioClientTransport(serve));
  try {
    const paths = await promisesOf(client);
    const found: Called[] = [];
    for (const call of calls) {
      const path = [...paths.keys()].find((each) => isPathOf(each, call.tool));
      if (!path) throw new Error(`the search answer has no ${call.tool}`);
      const value = await returnedBy(client, { path, call, world, folder });
      world.last = textOf(value);
      found.push({ call, value });
    }
    const named = [...paths].map(([path, promised]) => [nameIn(path), promised] as const);
    return { promises: new Map(named), calls: found };
  } finally {
    await client.close();
  }
}

async function promisesOf(client: Client): Promise<Map<string, Promised>> {
  for (let left = maxSearches; left > 0; left--) {
    const { text } = await ask(client, "search_tools", { server: key, detail: "signatures", limit: 50 });
    const promises = promisesIn(text);
    if (promises.size > 0) return promises;
  }
  throw new Error("the server was not listed in time");
}

interface Tool {
  path: string;
  call: PlannedCall;
  world: World;
  folder: string;
}

/** The value as a program gets it. The program writes it to a file, because a host shows only the beginning of a long one. */
async function returnedBy(client: Client, { path, call, world, folder }: Tool): Promise<unknown> {
  const code = `
import { writeFile } from "node:fs/promises";
const value = await ${path}(${JSON.stringify(call.args?.(world) ?? {})});
await writeFile("./workspace/value.json", JSON.stringify({ value }));`;
  for (let left = call.tries ?? 1; ; left--) {
    const { text, failed } = await ask(client, "execute_code", { code, timeout_ms: 120_000 });
    if (!failed) break;
    if (left <= 1) throw new Error(`${call.tool} failed: ${text.slice(0, 500)}`);
  }
  const { value } = JSON.parse(readFileSync(join(folder, ".claudikins", "workspace", "value.json"), "utf8"));
  return value;
}

async function ask(client: Client, name: string, args: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: args }, undefined, { timeout: 150_000 });
  return { text: (content as { text: string }[])[0]?.text ?? "", failed: isError === true };
}

/** The name in code of a path: `tried.get_sum` → `get_sum`. */
function nameIn(path: string): string {
  return path.slice(key.length).replace(/^\.|^\["|"\]$/g, "");
}

function isPathOf(path: string, tool: string): boolean {
  return nameIn(path) === tool || nameIn(path) === tool.replace(/\W/g, "_");
}
