/**
 * Starts well-known servers with and without the sandbox of the catalog, calls a tool of each, and writes the table of docs/sandbox.md:
 * `bun run sandboxes`. The numbers are of this machine, so run it while nothing else runs.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../src/base/log.ts";
import { megabyte } from "../src/base/units.ts";
import { parseConfig } from "../src/config/parse.ts";
import { sandboxOf } from "../src/config/sandbox.ts";
import { Pool } from "../src/servers/pool.ts";
import { residentBytes } from "../src/servers/resident-memory.ts";
import { confinedServer } from "../src/setup/settings/add-server.ts";
import { findInCatalog } from "../src/tools/server-catalog.ts";
import { everything, filesystem, memory, sequentialThinking } from "../test/support/servers.ts";
import { temporaryFolder } from "../test/support/temporary.ts";

const rounds = 20;
const begin = "<!-- made by: bun run sandboxes -->";
const end = "<!-- end -->";

using folder = temporaryFolder();
const [home, data] = [join(folder.path, "home"), join(folder.path, "data")];
mkdirSync(home);
mkdirSync(data);
const variables: Record<string, string> = { FILESYSTEM_ROOT: data, MEMORY_FILE_PATH: join(data, "memory.json") };
const env = { PATH: process.env["PATH"] ?? "", HOME: home };

/** Each server as it is installed here, and a call that shows that it works. */
const servers = [
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

/** The sandbox of the catalog, with the variables filled in. */
async function catalogSandbox(name: string): Promise<object> {
  const { server } = await findInCatalog(name);
  const entry = server && confinedServer(server).server;
  const text = JSON.stringify(entry && "sandbox" in entry ? entry.sandbox : {});
  return JSON.parse(text.replace(/\$\{(\w+)(?::-[^}]*)?\}/g, (_, variable: string) => variables[variable] ?? ""));
}

interface Start {
  ms: number;
  megabytes: number;
}

async function start({ name, entry, tool, args }: (typeof servers)[number], sandbox: object | false): Promise<Start> {
  const text = JSON.stringify({ mcpServers: { [name]: { ...entry, sandbox } } });
  const parsed = parseConfig(text, "claudikins.json").servers.get(name);
  if (parsed?.command === undefined) throw new Error(`${name} has no command`);
  const { allow: _, deny: __, confirm: ___, ...rest } = parsed;
  const server = { ...rest, name, needs: [], sandbox: sandboxOf({ entry: parsed.sandbox, common: undefined }) };
  const began = performance.now();
  await using pool = new Pool(new Map([[name, server]]), { env, cwd: data, log: silentLog });
  await pool.listTools(name, {});
  const ms = performance.now() - began;
  const result = await pool.callTool(name, tool, args);
  if (result.isError) throw new Error(`${name}: ${tool} failed: ${JSON.stringify(result)}`);
  const state = pool.state(name);
  const pid = state.state === "ready" ? state.pid : undefined;
  return { ms, megabytes: (residentBytes(pid ? [pid] : []).get(pid ?? 0) ?? 0) / megabyte };
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function row(server: (typeof servers)[number]): Promise<string> {
  const sandbox = await catalogSandbox(server.name);
  const ways: (object | false)[] = [false, sandbox, { ...sandbox, network: ["example.com"] }];
  const starts: Start[][] = ways.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, way] of ways.entries()) starts[at]?.push(await start(server, way));
  }
  const cells = starts.map((each) => {
    const [ms, size] = [median(each.map(({ ms }) => ms)), median(each.map(({ megabytes }) => megabytes))];
    return `${Math.round(ms)} ms, ${Math.round(size)} MB`;
  });
  return `| ${server.name} | ${cells.join(" | ")} |`;
}

const lines = ["| server | without | with | with a list of hosts |", "| --- | --- | --- | --- |"];
for (const server of servers) lines.push(await row(server));
const page = join(import.meta.dir, "..", "docs", "sandbox.md");
const [before = "", rest = ""] = readFileSync(page, "utf8").split(begin);
const after = rest.split(end)[1] ?? "";
writeFileSync(page, `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`);
console.log(lines.join("\n"));
