/**
 * Starts well-known servers with and without the sandbox of the catalog, calls a tool of each, and writes the table of docs/sandbox.md:
 * `bun run sandboxes`. The numbers are of this machine, so run it while nothing else runs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { catalogSandbox, started, type WellKnown, wellKnownServers } from "../test/support/confined-servers.ts";
import { temporaryFolder } from "../test/support/temporary.ts";

const rounds = 20;
const begin = "<!-- made by: bun run sandboxes -->";
const end = "<!-- end -->";

using folder = temporaryFolder();

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

async function row(server: WellKnown): Promise<string> {
  const sandbox = await catalogSandbox(server.name, folder.path);
  const ways: (object | false)[] = [false, sandbox, { ...sandbox, network: ["example.com"] }];
  const starts = ways.map((): { ms: number; megabytes: number }[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, way] of ways.entries()) starts[at]?.push(await started(server, way, folder.path));
  }
  const cells = starts.map((each) => {
    const [ms, size] = [median(each.map(({ ms }) => ms)), median(each.map(({ megabytes }) => megabytes))];
    return `${Math.round(ms)} ms, ${Math.round(size)} MB`;
  });
  return `| ${server.name} | ${cells.join(" | ")} |`;
}

const lines = ["| server | without | with | with a list of hosts |", "| --- | --- | --- | --- |"];
for (const server of wellKnownServers(folder.path)) lines.push(await row(server));
const page = join(import.meta.dir, "..", "docs", "sandbox.md");
const [before = "", rest = ""] = readFileSync(page, "utf8").split(begin);
const after = rest.split(end)[1] ?? "";
writeFileSync(page, `${before}${begin}\n\n${lines.join("\n")}\n\n${end}${after}`);
console.log(lines.join("\n"));
