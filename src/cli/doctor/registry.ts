/** Doctor check of the registry: its index, its generated files, and the programs that run them. */
import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import { counted } from "../../base/counted.ts";
import { stringsIn } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import type { ServerConfig } from "../../config/load.ts";
import { programsOnPath, userDataFolder } from "../../config/locations.ts";
import { outerServers } from "../../config/saved-programs.ts";
import { claudikinsName } from "../../setup/agents/supported/claudikins-entry.ts";
import { inRegistry } from "../../tools/catalog/registries.ts";
import { indexFileName, type RegistryServer } from "../../tools/model.ts";
import { originOf } from "../../tools/origin.ts";
import { bridgeDifferences } from "../../tools/registry/bridge.ts";
import { differencesOf, globalsDifference, notExecutable } from "../../tools/registry/store.ts";
import { versionOf } from "./executable.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

/** Milliseconds until doctor looks again at generated files that differ: the daemon may be writing them. */
const lateFilesMs = 500;

const { ok, warning, problem } = findingsOf("registry");

const gen = "claudikins gen";

/** `failed` are the servers that could not be asked: fetching their tools again would fail as well. */
export async function registryFindings(
  app: CheckParts,
  scene: CheckContext,
  failed: ReadonlySet<string> = new Set(),
): Promise<Finding[]> {
  const { catalog, config } = app;
  const { indexProblem } = catalog;
  const folder = config.folders.registry;
  if (indexProblem) return [problem("registry.index", indexProblem.message, indexProblem.code, gen)];
  if (!existsSync(join(folder, indexFileName))) {
    if (!outerServers(config).some((server) => isAskable(server, failed))) return [];
    return [ok("registry.index", "No tools are known yet: the first search fetches them from the servers")];
  }
  const servers = app.catalog.index.servers.filter(({ name }) => config.servers.has(name));
  const ours = inRegistry(config, folder, servers);
  const tools = servers.reduce((sum, server) => sum + server.tools.length, 0);
  const files = () => {
    // The check of the servers took its time, in which the daemon may have written what it learned from calls.
    catalog.observer.settle();
    const known = ours.filter(({ name }) => catalog.find(name));
    return fileFindings(folder, known, inRegistry(config, folder, catalog.index.servers));
  };
  let wrong = files();
  if (wrong.length > 0) {
    // It writes one file after the other.
    await Bun.sleep(lateFilesMs);
    wrong = files();
  }
  return [
    ok("registry.index", `${counted(tools, "tool")} of ${counted(servers.length, "server")}: ${folder}`),
    ...serverFindings(app, servers, failed),
    ...wrong,
    ...rightsFindings(folder, ours),
    ...commandFindings(folder, scene),
    ...(await runtimeFindings(scene)),
  ];
}

/** Whether gen could fetch the server's tools. */
function isAskable({ name, needs, mistake }: ServerConfig, failed: ReadonlySet<string>): boolean {
  return needs.length === 0 && !mistake && !failed.has(name);
}

function serverFindings(app: CheckParts, servers: RegistryServer[], failed: ReadonlySet<string>): Finding[] {
  const { config, catalog } = app;
  const { index } = catalog;
  const canBeAsked = (name: string) => isAskable(config.servers.get(name)!, failed);
  const outer = new Set(outerServers(config).map(({ name }) => name));
  const missing = catalog
    .missingServers()
    .filter((name) => outer.has(name) && catalog.freshness(name) === "unknown" && canBeAsked(name));
  const stored = servers.map(({ name }) => name);
  const outdated = stored.filter(
    (name) => outer.has(name) && catalog.freshness(name) === "outdated" && canBeAsked(name),
  );
  const gone = index.servers.map(({ name }) => name).filter((name) => !config.servers.has(name));
  return [
    ...named("registry.missing", missing, "The registry does not have the tools of", genOf(missing)),
    ...named(
      "registry.outdated",
      outdated,
      "The registry is out of date, because the config entry or the version has changed:",
      genOf(outdated),
    ),
    ...named("registry.gone", gone, "The registry has servers that are no longer in the config:", gen),
  ];
}

function named(id: string, names: string[], text: string, repair: string): Finding[] {
  return names.length === 0 ? [] : [warning(id, `${text} ${names.join(", ")}`, repair)];
}

function genOf(names: string[]): string {
  return [gen, ...names.map((name) => `--server ${shellWord(name)}`)].join(" ");
}

function fileFindings(folder: string, servers: RegistryServer[], stored: RegistryServer[]): Finding[] {
  const differences = servers.flatMap((server) => differencesOf(folder, server, undefined));
  const bridge = [...globalsDifference(folder, stored), ...bridgeDifferences(folder)];
  const gone = bridge.filter(({ path, state }) => state === "missing" && path.endsWith(".js"));
  const [first] = gone;
  if (first) {
    const text = `Generated files cannot be called: ${relative(folder, first.path)} is missing`;
    return [problem("registry.files", text, "REGISTRY_STALE", gen)];
  }
  const paths = [...differences, ...bridge].map(({ path }) => relative(folder, path));
  if (paths.length === 0) return [];
  const others = paths.length > 1 ? ` and ${paths.length - 1} more` : "";
  return [warning("registry.files", `Generated files differ from what this version writes: ${paths[0]}${others}`, gen)];
}

function rightsFindings(folder: string, servers: RegistryServer[]): Finding[] {
  const [first, ...others] = notExecutable(folder, servers).map((path) => relative(folder, path));
  if (first === undefined) return [];
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [warning("registry.executable", `Generated programs are not executable: ${first}${more}`, gen)];
}

/** Checks the recorded command that generated files start if claudikins is not on the PATH. */
function commandFindings(folder: string, { env }: CheckContext): Finding[] {
  const [program] = stringsIn(originOf(userDataFolder(env), folder).command);
  if (program !== undefined && existsSync(program)) return [];
  const onPath = programsOnPath(claudikinsName, env)[0];
  const text =
    program === undefined
      ? "The command that generated files start is not recorded"
      : `Generated files start a program that no longer exists: ${program}`;
  if (onPath !== undefined) return [warning("registry.command", `${text}; they use ${onPath} from the PATH`, gen)];
  return [problem("registry.command", text, "REGISTRY_STALE", gen)];
}

/** The first versions of Node.js that strip types without a flag. */
const firstNodes = ["22.18.0", "23.6.0"];

/** Generated files run with Bun, a recent Node.js, or claudikins itself, which contains Bun. */
async function runtimeFindings({ env, signal }: CheckContext): Promise<Finding[]> {
  const id = "registry.runtime";
  const programs = ["bun", "node"].flatMap((name) => {
    const [path] = programsOnPath(name, env);
    return path === undefined ? [] : [{ name, path }];
  });
  const found = await Promise.all(
    programs.map(async ({ name, path }) => ({ name, version: (await versionOf(path, env, signal)) ?? "" })),
  );
  const fit = found.filter(({ name, version }) => name === "bun" || stripsTypes(version));
  const text = (each: typeof found) => each.map(({ name, version }) => `${name} ${version}`).join(" and ");
  if (fit.length > 0) return [ok(id, `Generated files run with ${text(fit)}`)];
  const [own] = programsOnPath(claudikinsName, env);
  const old = found.length > 0 ? `, because ${text(found)} is too old for them` : "";
  // A claudikins that is not on the PATH is another finding.
  return own === undefined ? [] : [ok(id, `Generated files run with claudikins itself${old}: ${own}`)];
}

export function stripsTypes(version: string): boolean {
  const [major = 0] = version.split(".").map(Number);
  const first = firstNodes.find((each) => each.startsWith(`${major}.`));
  return first === undefined ? major > 23 : Bun.semver.order(version, first) >= 0;
}
