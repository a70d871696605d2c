/** Collects the server catalog: writes `registry/index.ts` and the table in `registry/README.md`. `bun run catalog`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CatalogServer } from "../registry/types.ts";

const folder = join(import.meta.dir, "..", "registry");

/** Every server folder, sorted, such as `code/github`. */
export function serverFolders(): string[] {
  return (readdirSync(folder, { recursive: true }) as string[])
    .map((name) => /^([^\\/]+)[\\/]([^\\/]+)[\\/]index\.ts$/.exec(name))
    .flatMap((match) => (match ? [`${match[1]}/${match[2]}`] : []))
    .sort();
}

export async function readServers(): Promise<CatalogServer[]> {
  const modules = await Promise.all(serverFolders().map((name) => import(join(folder, name, "index.ts"))));
  return modules.map((module): CatalogServer => module.server);
}

/** The text of `registry/index.ts`. */
export function indexText(folders: readonly string[]): string {
  const identifier = (name: string) =>
    (name.split("/")[1] ?? "").replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
  const imports = new Map(folders.map((name) => [`./${name}/index.ts`, `{ server as ${identifier(name)} }`]));
  imports.set("./types.ts", "type { CatalogServer }");
  return [
    "/** Every server of the catalog. Written by `bun run catalog`. */",
    ...[...imports].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, what]) => `import ${what} from "${path}";`),
    "",
    "export const servers: readonly CatalogServer[] = [",
    ...folders.map((name) => `  ${identifier(name)},`),
    "];",
    "",
  ].join("\n");
}

const [begin, end] = ["<!-- The table is written by `bun run catalog`. -->\n", "<!-- The end of the table. -->"];

/** The text of `registry/README.md` with the table of these servers. */
export function withTable(readme: string, servers: readonly CatalogServer[]): string {
  const from = readme.indexOf(begin) + begin.length;
  const to = readme.indexOf(end);
  if (from < begin.length || to < from) throw new Error("registry/README.md has no place for the table");
  return `${readme.slice(0, from)}\n${table(servers)}\n\n${readme.slice(to)}`;
}

function table(servers: readonly CatalogServer[]): string {
  const rows = servers.map(({ name, category, description, variables, signIn, checked }) => {
    const needs = variables.filter(({ required }) => required).map((variable) => `\`${variable.name}\``);
    if (signIn === "oauth") needs.push("signing in");
    return `| [${name}](${category}/${name}/index.ts) | ${category} | ${description} | ${needs.join(", ")} | ${checked.how} |`;
  });
  return [
    "| server | category | what it lets an agent do | needs | checked |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}

if (import.meta.main) {
  writeFileSync(join(folder, "index.ts"), indexText(serverFolders()));
  const readme = join(folder, "README.md");
  writeFileSync(readme, withTable(readFileSync(readme, "utf8"), await readServers()));
}
