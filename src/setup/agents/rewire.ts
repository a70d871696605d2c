/** Plans the new content of an agent's file: imported servers are removed, and claudikins is added. */
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, objectAt, stringsIn, valueAt } from "../../base/json-object.ts";
import { changed, parseFile } from "../../config/edit/editor.ts";
import type { FileText } from "../../config/file-text.ts";
import { type FoundFile, type FoundServer, readSettings } from "./find-servers.ts";
import { isSameServer } from "./merge.ts";
import { claudikinsName, commandLineOf, doorOf, startsClaudikins, withDoor } from "./supported/claudikins-entry.ts";
import { type AgentSettings, type AgentSurroundings, type SettingsFile, sectionsOf } from "./supported/model.ts";

export interface Plan {
  /** The file with its content before the change. */
  found: FoundFile;
  after: string;
}

/** The command that starts claudikins, for the agent of this file. */
export type StartCommand = (file: SettingsFile) => [string, ...string[]];

export interface Rewired {
  plans: Plan[];
  /** Files that cannot be changed safely. */
  refused: { host: string; file: string; error: ClaudikinsError }[];
  /** Notes for the user about agents that have a plugin of claudikins. */
  notes: string[];
}

/** Makes one plan for each file that changes. */
export function rewire(files: readonly FoundFile[], command: StartCommand): Rewired {
  const all: Rewired = { plans: [], refused: [], notes: [] };
  for (const found of files) {
    const isForEntry = found === fileForEntry(files.filter((other) => isTogether(other, found)));
    const isNamed = ["--config", "--door"].some((word) => command(found.file).includes(word));
    const getsEntry = isForEntry && (isNamed || !isLeftToPlugin(found));
    if (isForEntry) all.notes.push(...pluginNotes(found, isNamed));
    if (getsEntry && found.agent.ownEntryNote !== undefined) all.notes.push(found.agent.ownEntryNote);
    if (found.servers.length === 0 && !getsEntry && behindOtherDoor(found, command).length === 0) continue;
    try {
      const after = rewired(found, getsEntry, command);
      if (after !== found.content.text) all.plans.push({ found, after });
    } catch (thrown) {
      all.refused.push({ host: found.agent.name, file: found.file.path, error: toClaudikinsError(thrown) });
    }
  }
  return all;
}

/** Whether the agent reads both files together. */
export function isTogether(one: FoundFile, other: FoundFile): boolean {
  return one.agent === other.agent && one.file.group === other.file.group;
}

/** Whether the agent's plugin starts claudikins anyway, and an entry would start it a second time. */
function isLeftToPlugin({ plugin }: FoundFile): boolean {
  return plugin !== undefined && !plugin.givesWay;
}

/** A plugin uses the whole config that `serve` finds, so a config or a door that the user named needs an entry. */
function pluginNotes({ agent, file, plugin }: FoundFile, isNamed: boolean): string[] {
  if (!plugin || plugin.givesWay) return [];
  const { kind, removal } = plugin;
  if (!isNamed) return [`${agent.title} starts claudikins by its ${kind}, so ${file.path} gets no entry of claudikins`];
  return [`${agent.title} also starts claudikins by its ${kind}, with your own config. To turn that off: ${removal}`];
}

/** The file that gets the entry, among files that an agent reads together: the first with servers. Undefined if one has it already. */
function fileForEntry(together: readonly FoundFile[]): FoundFile | undefined {
  if (together.some(({ own }) => own.length > 0)) return undefined;
  return together.find(({ servers }) => servers.length > 0) ?? together[0];
}

function rewired(found: FoundFile, getsEntry: boolean, command: StartCommand): string {
  const { agent, file, content, servers } = found;
  const document = parseFile(content.text, file);
  const bySection = Map.groupBy(servers, ({ section }) => section.join("\0"));
  const removed = [...bySection.values()].map((group) => ({
    section: group[0]!.section,
    names: group.map(({ name }) => name),
  }));
  if (!getsEntry) return withMoved(changed(content.text, { removed, added: [] }, file), found, command);
  const section = agent.ownSection(document, file);
  const name = freeName(objectAt(document, section));
  const lists = (agent.allowLists?.(document) ?? []).filter(
    (list) => !stringsIn(valueAt(document, list)).includes(name),
  );
  const added = [{ section, name, value: agent.ownEntry(command(file)) }];
  return changed(content.text, { removed, added, listed: lists.map((path) => ({ path, item: name })) }, file);
}

/** The entries of claudikins in the user's file that start it behind another door than the command, if the command names one. */
function behindOtherDoor({ file, content, own }: FoundFile, command: StartCommand) {
  const door = doorOf(command(file));
  if (door === undefined || file.folder !== undefined) return [];
  const document = parseFile(content.text, file);
  return own.flatMap(({ section, name }) => {
    const entry = objectAt(document, [...section, name]);
    return doorOf(commandLineOf(entry)) === door ? [] : [{ section, name, value: withDoor(entry, door) }];
  });
}

function withMoved(text: string, found: FoundFile, command: StartCommand): string {
  return behindOtherDoor(found, command).reduce((edited, entry) => {
    const { section, name } = entry;
    // A TOML table is removed and written again. A JSON member keeps its place.
    const rest =
      found.file.format === "toml"
        ? changed(edited, { removed: [{ section, names: [name] }], added: [] }, found.file)
        : edited;
    return changed(rest, { removed: [], added: [entry] }, found.file);
  }, text);
}

/** A name for our entry that no other server has. */
function freeName(section: JsonObject): string {
  let name = claudikinsName;
  for (let count = 2; Object.hasOwn(section, name); count++) name = `${claudikinsName}-${count}`;
  return name;
}

/** Plans again for a file that has changed since it was read. Throws CONFIG_INVALID if its servers have changed. */
export async function replan(
  plan: Plan,
  content: FileText,
  surroundings: AgentSurroundings,
  command: StartCommand,
): Promise<Plan> {
  const { file, servers, left, own } = plan.found;
  const found = await readSettings(plan.found, content, surroundings);
  const isLeft = (each: FoundServer) =>
    left.some(({ name, section }) => name === each.name && Bun.deepEquals(section, each.section));
  found.left = found.servers.filter(isLeft);
  found.servers = found.servers.filter((each) => !isLeft(each));
  const isAsBefore =
    found.servers.length === servers.length &&
    found.own.length === own.length &&
    found.servers.every(({ name, entry, section }, place) => {
      const before = servers[place];
      return before?.name === name && Bun.deepEquals(before.section, section) && isSameServer(before.entry, entry);
    });
  if (!isAsBefore) {
    throw new ClaudikinsError("CONFIG_INVALID", `The servers in ${file.path} changed while the command ran`, {
      hint: "Run the command again. The file was not changed.",
    });
  }
  const getsEntry = ownEntries(parseFile(plan.after, file), plan.found).length > own.length;
  return { found, after: rewired(found, getsEntry, command) };
}

function ownEntries(document: JsonObject, { agent, file }: AgentSettings): string[] {
  return Object.entries(objectAt(document, agent.ownSection(document, file))).flatMap(([name, raw]) =>
    isObject(raw) && startsClaudikins(raw) ? [name] : [],
  );
}

/** Whether `current` has servers other than claudikins that none of the texts `before` had. Throws CONFIG_INVALID. */
export function hasOtherServers(
  before: readonly string[],
  current: string,
  settings: AgentSettings,
  surroundings: AgentSurroundings,
): boolean {
  const is = parseFile(current, settings.file);
  const was = before.map((text) => parseFile(text, settings.file));
  return sectionsOf(settings, is, surroundings).some(({ path, ignored = [] }) => {
    return Object.entries(objectAt(is, path)).some(([name, value]) => {
      if (ignored.includes(name) || (isObject(value) && startsClaudikins(value))) return false;
      return !was.some((document) => Bun.deepEquals(valueAt(document, [...path, name]), value));
    });
  });
}

/** The current text with the servers of `before` and without our entry; other changes stay. Throws CONFIG_INVALID. */
export function withServersOf(
  before: string,
  current: string,
  settings: AgentSettings,
  surroundings: AgentSurroundings,
): string {
  const { agent, file } = settings;
  const [was, is] = [parseFile(before, file), parseFile(current, file)];
  const known = new Set(ownEntries(was, settings));
  const names = ownEntries(is, settings).filter((name) => !known.has(name));
  const added = sectionsOf(settings, was, surroundings).flatMap(({ path, ignored = [] }) => {
    const now = objectAt(is, path);
    return Object.entries(objectAt(was, path)).flatMap(([name, value]) => {
      const isThere = Object.hasOwn(now, name);
      return isThere || ignored.includes(name) || !isObject(value) ? [] : [{ section: path, name, value }];
    });
  });
  const unlisted = (agent.allowLists?.(is) ?? []).flatMap((path) => {
    const listedBefore = stringsIn(valueAt(was, path));
    return names.filter((name) => !listedBefore.includes(name)).map((item) => ({ path, item }));
  });
  return changed(current, { added, removed: [{ section: agent.ownSection(is, file), names }], unlisted }, file);
}
