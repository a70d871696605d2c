/** Well-known servers with the sandbox that the catalog has for them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { megabyte } from "../../src/base/units.ts";
import { boxOf } from "../../src/config/box.ts";
import { boxSchema } from "../../src/config/box-schema.ts";
import { Pool } from "../../src/servers/pool.ts";
import { residentBytes } from "../../src/servers/process/resident-memory.ts";
import { confinedServer } from "../../src/setup/settings/add-server.ts";
import { findInCatalog } from "../../src/tools/server-catalog.ts";
import { serverConfig } from "./pool.ts";
import { type Entry, everything, filesystem, memory, sequentialThinking } from "./servers.ts";

export interface WellKnown {
  name: string;
  entry: Entry;
  /** A call that shows that it works. */
  tool: string;
  args: object;
}

/** Servers that are installed here. Their files are in the folder `data` of `folder`. */
export function wellKnownServers(folder: string): WellKnown[] {
  for (const name of ["home", "data"]) mkdirSync(join(folder, name), { recursive: true });
  const data = join(folder, "data");
  return [
    { name: "filesystem", entry: filesystem(data), tool: "write_file", args: { path: join(data, "a"), content: "a" } },
    {
      name: "memory",
      entry: memory(join(data, "memory.json")),
      tool: "create_entities",
      args: { entities: [{ name: "a", entityType: "b", observations: [] }] },
    },
    {
      name: "sequential-thinking",
      entry: sequentialThinking(),
      tool: "sequentialthinking",
      args: { thought: "a", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
    },
    { name: "everything", entry: everything(), tool: "echo", args: { message: "a" } },
  ];
}

/** The sandbox of the catalog, with its variables filled in. */
export async function catalogSandbox(name: string, folder: string): Promise<object> {
  const data = join(folder, "data");
  const variables: Record<string, string> = { FILESYSTEM_ROOT: data, MEMORY_FILE_PATH: join(data, "memory.json") };
  const { server } = await findInCatalog(name);
  const entry = server && confinedServer(server).server;
  const text = JSON.stringify(entry && "sandbox" in entry ? entry.sandbox : undefined);
  return JSON.parse(text.replace(/\$\{(\w+)(?::-[^}]*)?\}/g, (_, variable: string) => variables[variable] ?? ""));
}

/** Starts a server, lists its tools, and makes its call. Returns the milliseconds until the list, and the memory then. Throws if the call fails. */
export async function started(
  { name, entry, tool, args }: WellKnown,
  sandbox: object | false,
  folder: string,
): Promise<{ ms: number; megabytes: number }> {
  const box = boxOf({ entry: boxSchema.parse(sandbox), common: undefined });
  const server = serverConfig(name, { ...entry, box });
  const env = { PATH: process.env["PATH"] ?? "", HOME: join(folder, "home") };
  const began = performance.now();
  await using pool = new Pool(new Map([[name, server]]), { env, cwd: join(folder, "data"), log: silentLog });
  await pool.listTools(name, {});
  const ms = performance.now() - began;
  const state = pool.state(name);
  const pids = state.state === "ready" && state.pid ? [state.pid] : [];
  const [bytes = 0] = residentBytes(pids).values();
  const result = await pool.callTool(name, tool, args);
  if (result["isError"]) throw new Error(`${name}: ${tool} failed: ${JSON.stringify(result)}`);
  return { ms, megabytes: bytes / megabyte };
}
