/**
 * Doctor check of the agents: whether they have claudikins, whether its entry starts this claudikins, and whether their files
 * changed since `init`.
 */
import { existsSync, readFileSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { counted } from "../../base/counted.ts";
import { type JsonObject, objectAt } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import { version } from "../../base/version.ts";
import { parseFile } from "../../config/edit/editor.ts";
import { hashOf } from "../../config/file-text.ts";
import { configFileName, programsOnPath, realOf } from "../../config/locations.ts";
import { type FoundFile, findServers } from "../../setup/agents/find-servers.ts";
import { Journal, type JournalEntry } from "../../setup/agents/journal.ts";
import { agents, agentsHere } from "../../setup/agents/supported/agents.ts";
import { claudikinsName, commandLineOf } from "../../setup/agents/supported/claudikins-entry.ts";
import type { Agent, InstalledPlugin } from "../../setup/agents/supported/model.ts";
import { lastingCommand } from "../../setup/upgrade/lasting.ts";
import { ownProgram, versionOf } from "./executable.ts";
import { type CheckContext, type Finding, findingsOf } from "./finding.ts";

const { ok, warning, problem, failure } = findingsOf("hosts");

interface Looked {
  agent: Agent;
  /** Whether the agent has settings files. */
  isHere: boolean;
  isWired: boolean;
  findings: Finding[];
}

export async function agentFindings(scene: CheckContext): Promise<Finding[]> {
  const looked = await Promise.all(agents.map((agent) => look(agent, scene)));
  const findings = looked.flatMap((each) => each.findings);
  return [...findings, ...noneWired(looked, scene), ...journalFindings(scene)];
}

async function look(agent: Agent, scene: CheckContext): Promise<Looked> {
  const { files, problems } = await findServers([agent], { ...scene, project: true });
  const unreadable = problems.map(({ file, error }) => ({
    ...failure(`host.${agent.name}.file`, error),
    message: `${agent.title}: ${error.message.split("\n")[0]}`,
    repair: `Fix ${file} by hand.`,
  }));
  const plugin = agent.plugin?.(scene);
  const isWired = plugin !== undefined || files.some(({ own }) => own.length > 0);
  const entries = await Promise.all(files.flatMap((file) => entryFindings(file, scene)));
  const twice = startedTwice(agent, files, plugin);
  const findings = [...unreadable, ...entries, ...twice, ...ownServers(agent, files, isWired, scene)];
  return { agent, isHere: files.length > 0, isWired, findings };
}

/** Reports the plugin, or that the agent starts claudikins more than once. */
function startedTwice(agent: Agent, files: FoundFile[], plugin: InstalledPlugin | undefined): Finding[] {
  const { name: host, title } = agent;
  const id = `host.${host}.twice`;
  const sets = entriesTogether(files);
  const besides = sets.flat().find(({ name }) => !(plugin?.givesWay && name === claudikinsName));
  if (plugin && besides) {
    const text = `${title} starts claudikins twice: by its ${plugin.kind}, and by the entry ${besides.name} in ${besides.path}`;
    return [warning(id, text, `Remove that entry, or turn the ${plugin.kind} off: ${plugin.removal}`)];
  }
  const [first, second] = sets.find((entries) => entries.length > 1) ?? [];
  if (first && second) {
    const text = `${title} starts claudikins twice: by the entries ${first.name} and ${second.name} in ${second.path}`;
    return [warning(id, text, `Remove the entry ${second.name} from ${second.path}.`)];
  }
  if (!plugin || sets.flat().length > 0) return [];
  return [ok(`host.${host}.plugin`, `${title} starts claudikins by its ${plugin.kind}`)];
}

/**
 * The entries of claudikins that the agent reads together, by the user's file. Of two entries with the same name, the project's
 * replaces the user's.
 */
function entriesTogether(files: FoundFile[]): { name: string; path: string }[][] {
  const [ofUser, ofProject] = [true, false].map((isUser) =>
    files.filter(({ file }) => (file.folder === undefined) === isUser),
  );
  const groups = [...Map.groupBy(ofUser ?? [], ({ file }) => file.group).values()];
  return (groups.length === 0 ? [[]] : groups).map((group) => {
    const entries = [...group, ...(ofProject ?? [])].flatMap((found) =>
      enabledOwn(found).map(({ name }) => ({ name, path: found.file.path })),
    );
    return [...new Map(entries.map((entry) => [entry.name, entry])).values()];
  });
}

function enabledOwn(found: FoundFile): FoundFile["own"] {
  const document = parseFile(found.content.text, found.file);
  return found.own.filter(({ section, name }) => !isOff(objectAt(document, [...section, name])));
}

function isOff(entry: JsonObject): boolean {
  return entry["disabled"] === true || entry["enabled"] === false;
}

/** Reports servers that `init` would import. */
function ownServers({ name, title }: Agent, files: FoundFile[], isWired: boolean, scene: CheckContext): Finding[] {
  // Several agents read the same file of a project. Only agents on this machine load its servers.
  const isHere = isWired || agentsHere(scene).some((agent) => agent.name === name);
  const having = files.filter((found) => serversOf(found).length > 0 && (isHere || found.file.folder === undefined));
  const names = [...new Set(having.flatMap(serversOf))];
  if (names.length === 0) {
    const isAbsent = files.length > 0 && !isWired;
    return isAbsent ? [ok(`host.${name}`, `${title} has neither claudikins nor other MCP servers`)] : [];
  }
  const init = `claudikins init --host ${name} --apply${projectFlags(having, scene)}`;
  const [servers, list] = [counted(names.length, "server"), names.join(", ")];
  if (isWired) {
    return [warning(`host.${name}.servers`, `${title} loads ${servers} in addition to claudikins: ${list}`, init)];
  }
  return [warning(`host.${name}`, `${title} does not use claudikins, but has ${servers} of its own: ${list}`, init)];
}

/** Servers of a project stay with it, in a config that its people share. */
function projectFlags(having: FoundFile[], { app }: CheckContext): string {
  const folder = having.find(({ file }) => file.folder !== undefined)?.file.folder;
  if (folder === undefined) return "";
  if (app?.config.origin.kind === "project") return " --project";
  return ` --project --config ${shellWord(join(folder, configFileName))}`;
}

function serversOf({ servers }: FoundFile): string[] {
  return servers.filter(({ entry }) => entry["disabled"] !== true).map(({ name }) => name);
}

/** Warns if no agent has claudikins, unless another finding says so already. */
function noneWired(looked: Looked[], scene: CheckContext): Finding[] {
  if (looked.some(({ isWired, findings }) => isWired || findings.some(({ state }) => state !== "ok"))) return [];
  const first = looked.find(({ isHere }) => isHere)?.agent ?? agentsHere(scene)[0];
  if (first) {
    const text = "No agent on this machine uses claudikins";
    return [warning("hosts.none", text, `claudikins init --host ${first.name} --apply`)];
  }
  const text = "No agent was found on this machine. Any program that speaks MCP can start: claudikins serve";
  return [ok("hosts.none", text)];
}

function journalFindings({ env }: CheckContext): Finding[] {
  let changes: JournalEntry[];
  try {
    changes = new Journal(env).changes;
  } catch (thrown) {
    return [failure("hosts.journal", thrown)];
  }
  if (changes.length === 0) return [];
  const left = changes.filter(({ path, before }) => hashAt(path) === before);
  const [first] = left;
  // The agent's own finding says what to do about it.
  if (first) return [ok("hosts.journal", `A change of init was interrupted, or undone by hand: ${first.file}`)];
  const files = counted(new Set(changes.map(({ path }) => path)).size, "file");
  return [
    ok("hosts.journal", `The originals of ${files} that init changed are kept: claudikins restore brings them back`),
  ];
}

function hashAt(path: string): string | undefined {
  try {
    return hashOf(readFileSync(path));
  } catch {
    return undefined;
  }
}

/** One finding for each entry of claudikins. */
function entryFindings(found: FoundFile, scene: CheckContext): Promise<Finding>[] {
  const document = parseFile(found.content.text, found.file);
  return found.own.map(({ section, name }) => findingOf(found, objectAt(document, [...section, name]), scene));
}

async function findingOf({ agent, file }: FoundFile, raw: JsonObject, scene: CheckContext): Promise<Finding> {
  const id = `host.${agent.name}${file.folder !== undefined ? ".project" : ""}`;
  const shown = `${agent.title} (${file.path})`;
  const repair = `In ${file.path}, set the command to: ${lastingCommand(scene.env, "serve").join(" ")}`;
  if (isOff(raw)) {
    return warning(id, `${shown} has claudikins, but it is disabled`, `Enable it in ${file.path}.`);
  }
  const words = commandLineOf(raw);
  const [program = ""] = words;
  const path = isAbsolute(program) ? program : programsOnPath(program, scene.env)[0];
  if (path === undefined) {
    return problem(id, `${shown} starts ${program}, which is not on the PATH`, "FILE_NOT_FOUND", repair);
  }
  const source = sourceIn(words);
  const gone = [path, ...(source === undefined ? [] : [source])].find((each) => !existsSync(each));
  if (gone !== undefined)
    return problem(id, `${shown} starts a file that does not exist: ${gone}`, "FILE_NOT_FOUND", repair);
  const config = words.includes("--config") ? words[words.indexOf("--config") + 1] : undefined;
  if (config !== undefined && isAbsolute(config) && !existsSync(config)) {
    return problem(id, `${shown} names a config file that does not exist: ${config}`, "CONFIG_NOT_FOUND", repair);
  }
  const lack = agent.ownEntryLack?.(raw);
  if (lack)
    return warning(id, `${shown} ${lack.message}`, `${lack.repair} to the entry of claudikins in ${file.path}.`);
  if (realOf(source ?? path) === realOf(ownProgram)) return ok(id, `${shown} starts this claudikins`);
  if (source !== undefined) return warning(id, `${shown} starts claudikins from another source: ${source}`, repair);
  // A package runner chooses the version itself.
  if (!basename(path).startsWith(claudikinsName)) return ok(id, `${shown} starts claudikins through ${program}`);
  // A program named in a project's file is not started, because the file may not be the user's.
  if (file.folder !== undefined && !programsOnPath(basename(path), scene.env).includes(path)) {
    return warning(id, `${shown} starts a program that is not on the PATH and was not checked: ${path}`, repair);
  }
  const other = await versionOf(path, scene.env, scene.signal);
  if (other === version) return ok(id, `${shown} starts claudikins ${version}: ${path}`);
  return warning(id, `${shown} starts another claudikins (${other ?? "unknown version"}): ${path}`, repair);
}

/** The main file of a source checkout, if the entry starts one. */
function sourceIn(words: string[]): string | undefined {
  return words.find((word, place) => place > 0 && isAbsolute(word) && /[\\/]src[\\/]main\.ts$/.test(word));
}
