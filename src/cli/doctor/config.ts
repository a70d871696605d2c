/**
 * Doctor checks of the config: problems, missing variables, secrets that other users can read, its rules, its doors, and the database and the
 * bucket of a team.
 */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { counted } from "../../base/counted.ts";
import { readIfThere } from "../../base/files.ts";
import { shellWord } from "../../base/shell-word.ts";
import { namesBucket } from "../../config/bucket.ts";
import { openConfigFile } from "../../config/config-file.ts";
import { databaseOf, namesDatabase } from "../../config/database.ts";
import { type Config, loadConfig, mistakeLines, ownServersOf, unfilledText } from "../../config/load.ts";
import { agentsByDoor } from "../../setup/agents/agent-doors.ts";
import { haveSecrets } from "../../setup/agents/secrets.ts";
import { openBucket, openStore } from "../../store/open.ts";
import { ruleProblems } from "../../tools/rule-problems.ts";
import { type CheckContext, type CheckParts, type Finding, findingsOf } from "./finding.ts";

const { ok, warning, problem, failure } = findingsOf("config");

export function configFindings(scene: CheckContext): Finding[] {
  const { app, configError } = scene;
  if (!app) return [failure("config.file", configError)];
  const { config } = app;
  if (config.origin.kind === "demo") {
    const text = "There is no config file yet: claudikins uses its built-in demo server. To make one: claudikins init";
    return [ok("config.file", text)];
  }
  const { file, kind } = config.origin;
  return [
    ok(
      "config.file",
      `${kind === "user" ? "Your own config" : "The project's config"}, with ${serversText(config)}: ${file}`,
    ),
    ...ownServers(config),
    ...mistakenEntries(config),
    ...missingVariables(config),
    ...unfilledArguments(config),
    ...missingForModel(config),
    ...exposedSecrets(file, config, scene),
  ];
}

function serversText({ servers }: Config): string {
  const size = servers.size - ownServersOf({ servers }).length;
  return size === 0 ? "no servers" : counted(size, "server");
}

/** What a project's config takes from the user's own. */
function ownServers(config: Config): Finding[] {
  const { origin, extended } = config;
  if (origin.kind !== "project") return [];
  if (!extended) {
    return [
      ok("config.extends", 'Your own servers are not used here, because the project\'s config has "extends": false'),
    ];
  }
  const own = ownServersOf(config);
  if (own.length + extended.replaced.length === 0) return [];
  const replaced = extended.replaced.length > 0 ? `; the project replaces ${extended.replaced.join(", ")}` : "";
  return [ok("config.extends", `Your own config adds ${own.join(", ") || "no servers"}${replaced}: ${extended.file}`)];
}

function mistakenEntries(config: Config): Finding[] {
  return mistakeLines(config).map((line) =>
    problem("config.entry", capitalised(line), "CONFIG_INVALID", "claudikins config edit"),
  );
}

const capitalised = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`;

function missingVariables({ servers }: Config): Finding[] {
  return [...servers.values()].flatMap(({ name, needs }) => {
    if (needs.length === 0) return [];
    const text = `Server "${name}" needs ${needs.join(", ")} in the environment`;
    const repair = needs.map((variable) => `export ${variable}=…`).join("; ");
    return [problem(`variables.${name}`, text, "NEEDS_VARIABLE", repair)];
  });
}

/** The program of a server may fill in a variable itself, as mcp-remote does. */
function unfilledArguments({ servers }: Config): Finding[] {
  return [...servers.values()].flatMap((server) => {
    const text = unfilledText(server);
    return text === undefined
      ? []
      : [warning(`variables.${server.name}`, text, `Set it in "env" of "${server.name}", or: claudikins config edit`)];
  });
}

/** Missing variables of the model. Everything except tasks works without them. */
function missingForModel({ llm }: Config): Finding[] {
  if (!llm || llm.needs.length === 0) return [];
  const text = `The model ${llm.name}/${llm.model} needs ${llm.needs.join(", ")} in the environment`;
  return [warning("llm.variables", text, llm.needs.map((variable) => `export ${variable}=…`).join("; "))];
}

function exposedSecrets(file: string, { llm }: Config, { configFlag, cwd, env }: CheckContext): Finding[] {
  const { entries, kind, content } = openConfigFile({ flag: configFlag, cwd, env });
  const isKeyWritten = llm?.apiKey !== undefined && llm.variable === undefined;
  if (!isKeyWritten && !haveSecrets([...entries.values()])) return [];
  const found: Finding[] = [];
  if (kind === "project" && isInRepository(dirname(file)) && !isIgnored(file)) {
    const text =
      "The config contains a secret and git does not ignore the file: replace the secret with ${VAR}, or keep the file out of git";
    const ignore = shellWord(join(dirname(file), ".gitignore"));
    found.push(warning("config.secrets", text, `echo ${basename(file)} >> ${ignore}`));
  }
  if (content && process.platform !== "win32" && (statSync(content.path).mode & 0o044) !== 0) {
    const text = "The config contains a secret, and other users of this machine can read the file";
    found.push(warning("config.rights", text, `chmod 600 ${shellWord(content.path)}`));
  }
  return found;
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}

/** Whether .gitignore has a line with the file's name, as the finding suggests. Other patterns are not recognised. */
function isIgnored(file: string): boolean {
  const lines = (readIfThere(join(dirname(file), ".gitignore")) ?? "").split(/\r?\n/).map((line) => line.trim());
  return lines.some((line) => line.replace(/^\//, "") === basename(file));
}

export async function ruleFindings({ config, catalog }: CheckParts): Promise<Finding[]> {
  const rules = [...config.servers.values()].find(({ policy }) => policy?.rules)?.policy?.rules ?? [];
  if (rules.length === 0) return [];
  const servers = catalog.names.flatMap(({ name }) => catalog.findWithDenied(name) ?? []);
  const problems = await ruleProblems(config, servers);
  if (problems.length === 0) return [ok("config.rules", `Rules with conditions: ${rules.length}`)];
  return problems.map(({ line, problem: text }) =>
    problem("config.rules", `${line}: ${text}`, "CONFIG_INVALID", "Correct the rule: claudikins config edit"),
  );
}

export async function doorFindings({ config }: CheckParts, scene: CheckContext): Promise<Finding[]> {
  const { origin, doors } = config;
  const users = await agentsByDoor(scene, origin.kind === "demo" ? null : origin.file);
  const findings = await Promise.all(doors.map((door) => doorFinding(door, users.get(door) ?? [], scene)));
  const gone = [...users].filter(([door]) => !doors.includes(door));
  return [...findings, ...gone.map(([door, agents]) => goneFinding(door, agents))];
}

function goneFinding(door: string, agents: readonly string[]): Finding {
  const text = `${agents.join(", ")} starts claudikins behind the door "${door}", which the config does not have`;
  return problem(`config.doors.${door}`, text, "DOOR_NOT_FOUND", `claudikins doors add ${door}`);
}

/** The whole config is in use here, so it needs no trust any more. */
async function doorFinding(
  door: string,
  agents: readonly string[],
  { configFlag: flag, cwd, env }: CheckContext,
): Promise<Finding> {
  try {
    const { servers } = await loadConfig({ flag, door, trust: true, cwd, env });
    const use = agents.length === 0 ? "" : `, for ${agents.join(", ")}`;
    const names = [...servers.keys()].join(", ") || "no servers";
    return ok(`config.doors.${door}`, `Behind the door "${door}"${use}: ${names}`);
  } catch (error) {
    return failure(`config.doors.${door}`, error);
  }
}

export async function databaseFindings({ env }: CheckContext): Promise<Finding[]> {
  try {
    if (databaseOf(env) === undefined) return [];
    await using store = openStore(env);
    await store.checkWritable();
    return [ok("config.database", "The database that CLAUDIKINS_DATABASE names can be written")];
  } catch (error) {
    return [failure("config.database", error)];
  }
}

export async function bucketFindings({ env }: CheckContext): Promise<Finding[]> {
  if (!namesBucket(env)) return [];
  if (!namesDatabase(env)) {
    const text = "CLAUDIKINS_BUCKET has no effect: contents go to a bucket only if a team has a database";
    return [warning("config.bucket", text, "Set CLAUDIKINS_DATABASE too, or: unset CLAUDIKINS_BUCKET")];
  }
  try {
    await openBucket(env)?.check();
    return [ok("config.bucket", "The bucket that CLAUDIKINS_BUCKET names can be written, read and emptied")];
  } catch (error) {
    return [failure("config.bucket", error)];
  }
}
