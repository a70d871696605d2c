/** Doctor check for servers that can write the files which decide what claudikins and the agents start and allow. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ServerConfig } from "../../config/load.ts";
import { homeOf, realOf, userConfigFile, userDataFolder } from "../../config/locations.ts";
import { outerServers } from "../../config/saved-programs.ts";
import { isWithin } from "../../config/trust/written-folders.ts";
import { agents } from "../../setup/agents/supported/agents.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { warning } = findingsOf("servers");

export function writableSettingsFindings(app: CheckParts, scene: CheckContext): Finding[] {
  const rules = rulesOf(app, scene);
  return outerServers(app.config).flatMap((server) => findingFor(server, rules, app, scene));
}

function findingFor(
  server: ServerConfig,
  rules: ReadonlyMap<string, string>,
  app: CheckParts,
  scene: CheckContext,
): Finding[] {
  if (server.url !== undefined || app.catalog.isClosed(server.name) || !mayWrite(server.name, app)) return [];
  const places = placesGiven(server, scene);
  const reached = [...rules].filter(([path]) => places.some((place) => isWithin(path, place)));
  const [first] = places.filter((place) => reached.some(([path]) => isWithin(path, place)));
  if (first === undefined) return [];
  const text = `Server "${server.name}" has access to ${first} and could change files that you and your agents rely on`;
  const repair = `Give it a folder without these files, or deny its tools that write: "deny" in mcpServers.${server.name}`;
  return [
    warning(`rules.${server.name}`, text, repair, { details: reached.map(([path, what]) => `${what}: ${path}`) }),
  ];
}

/** Whether the server may write: false only if all its callable tools are known and read-only. */
function mayWrite(name: string, app: CheckParts): boolean {
  const known = app.catalog.find(name);
  return !known || known.tools.some(({ annotations }) => annotations?.["readOnlyHint"] !== true);
}

/** Descriptions of the files, by their real paths. */
function rulesOf({ config }: CheckParts, scene: CheckContext): Map<string, string> {
  const { registry, workspace } = config.folders;
  const rules = new Map<string, string>();
  const add = (what: string, path: string) => {
    if (existsSync(path) && !rules.has(realOf(path))) rules.set(realOf(path), what);
  };
  if (config.origin.kind !== "demo") add("the config", config.origin.file);
  add("your own config", userConfigFile(scene.env));
  add("your trusted configs and sign-ins", userDataFolder(scene.env));
  add("generated programs of the registry", registry);
  add("skills that code can import", join(workspace, "skills"));
  for (const { title, files } of agents) {
    for (const { path } of files(scene)) add(`settings of ${title}`, path);
  }
  return rules;
}

/**
 * The paths that its server sandbox lets it write to; without one, those in its arguments and variables, because a server can usually write to the paths
 * that it is given.
 */
function placesGiven(
  server: Extract<ServerConfig, { command: string }>,
  { env, serverFolder }: CheckContext,
): string[] {
  const base = server.cwd ?? serverFolder;
  const open = server.box ? server.box.write : undefined;
  const texts =
    open ?? [...server.args, ...Object.values(server.env)].flatMap((text) => [text, ...text.split(/[,;:=]/)]);
  const places = texts.flatMap((text) => {
    // Without a slash, only `.`, `..` and `~` are paths.
    if (!open && !/[\\/]|^\.{1,2}$|^~$/.test(text)) return [];
    const path = realOf(resolve(base, text.replace(/^~(?=$|[\\/])/, homeOf(env))));
    return statSync(path, { throwIfNoEntry: false }) ? [path] : [];
  });
  return [...new Set(places)].sort((a, b) => a.length - b.length);
}
