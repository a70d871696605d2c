/** Plans the new content of an agent's file: imported servers are removed, and claudikins is added. */
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { isObject, type JsonObject, objectAt, stringsIn, valueAt } from "../json-object.ts";
import { changed, parseFile } from "../settings/edit/editor.ts";
import { bytesOf, type FileText } from "../settings/file-text.ts";
import { type FoundFile, type FoundServer, readHostFile } from "./find-servers.ts";
import { isSame } from "./merge.ts";
import { claudikinsName, startsClaudikins } from "./supported/claudikins-entry.ts";
import type { Surroundings } from "./supported/model.ts";

export interface Plan {
  found: FoundFile;
  before: FileText;
  after: Buffer;
  afterText: string;
}

export interface RewireOptions {
  /** The command that starts claudikins. */
  command(found: FoundFile): [string, ...string[]];
}

export interface Rewired {
  plans: Plan[];
  /** Files that cannot be changed safely. */
  refused: { host: string; file: string; error: ClaudikinsError }[];
}

/** Makes one plan for each file that changes. */
export function rewire(files: readonly FoundFile[], options: RewireOptions): Rewired {
  const all: Rewired = { plans: [], refused: [] };
  for (const found of files) {
    const isFirst = !files.some(
      (other) => isTogether(other, found) && (other.own.length > 0 || isBefore(other, found, files)),
    );
    if (found.servers.length === 0 && !(found.own.length === 0 && isFirst)) continue;
    try {
      const afterText = rewired(found, isFirst, options.command(found));
      if (afterText === found.content.text) continue;
      all.plans.push({ found, before: found.content, after: bytesOf(afterText, found.content), afterText });
    } catch (thrown) {
      all.refused.push({ host: found.host.name, file: found.file.path, error: toClaudikinsError(thrown) });
    }
  }
  return all;
}

function isTogether(one: FoundFile, other: FoundFile): boolean {
  return one.host === other.host && one.file.group === other.file.group;
}

/** Whether `other` gets the entry instead: the first file with servers, of the files that an agent reads together. */
function isBefore(other: FoundFile, found: FoundFile, files: readonly FoundFile[]): boolean {
  if (other === found) return false;
  if (other.servers.length > 0 !== found.servers.length > 0) return other.servers.length > 0;
  return files.indexOf(other) < files.indexOf(found);
}

function rewired(
  { host, file, content, servers }: FoundFile,
  getsEntry: boolean,
  command: [string, ...string[]],
): string {
  const document = parseFile(content.text, file);
  const bySection = Map.groupBy(servers, ({ section }) => section.join("\0"));
  const removed = [...bySection.values()].map((group) => ({
    section: group[0]!.section,
    names: group.map(({ name }) => name),
  }));
  const section = host.ownSection(document, file);
  const name = freeName(objectAt(document, section));
  const lists = (host.allowLists?.(document) ?? []).filter(
    (path) => !stringsIn(valueAt(document, path)).includes(name),
  );
  return changed(
    content.text,
    {
      removed,
      added: getsEntry ? [{ section, name, value: host.ownEntry(command, file) }] : [],
      listed: getsEntry ? lists.map((path) => ({ path, item: name })) : [],
    },
    file,
  );
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
  surroundings: Surroundings,
  options: RewireOptions,
): Promise<Plan> {
  const { host, file, servers, left, own } = plan.found;
  const found = await readHostFile(host, file, content, surroundings);
  const isLeft = (each: FoundServer) =>
    left.some(({ name, section }) => name === each.name && Bun.deepEquals(section, each.section));
  found.left = found.servers.filter(isLeft);
  found.servers = found.servers.filter((each) => !isLeft(each));
  const isAsBefore =
    found.servers.length === servers.length &&
    found.own.length === own.length &&
    found.servers.every(({ name, entry, section }, place) => {
      const before = servers[place];
      return before?.name === name && Bun.deepEquals(before.section, section) && isSame(before.entry, entry);
    });
  if (!isAsBefore) {
    throw new ClaudikinsError("CONFIG_INVALID", `The servers in ${file.path} changed while the command ran`, {
      hint: "Run the command again. The file was not changed.",
    });
  }
  const afterText = rewired(found, parseHasNew(plan), options.command(found));
  return { found, before: content, after: bytesOf(afterText, content), afterText };
}

function parseHasNew({ found, afterText }: Plan): boolean {
  return ownEntries(parseFile(afterText, found.file), found).length > found.own.length;
}

function ownEntries(document: JsonObject, { host, file }: Pick<FoundFile, "host" | "file">): string[] {
  return Object.entries(objectAt(document, host.ownSection(document, file))).flatMap(([name, raw]) =>
    isObject(raw) && startsClaudikins(raw) ? [name] : [],
  );
}

/** Whether `current` has servers other than claudikins that none of the texts `before` had. Throws CONFIG_INVALID. */
export function hasOtherServers(
  before: readonly string[],
  current: string,
  { host, file }: Pick<FoundFile, "host" | "file">,
  surroundings: Surroundings,
): boolean {
  const is = parseFile(current, file);
  const was = before.map((text) => parseFile(text, file));
  return host.sections(is, file, surroundings).some(({ path, ignored = [] }) => {
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
  { host, file }: Pick<FoundFile, "host" | "file">,
  surroundings: Surroundings,
): string {
  const [was, is] = [parseFile(before, file), parseFile(current, file)];
  const ours = host.ownSection(is, file);
  const known = new Set(ownEntries(was, { host, file }));
  const names = ownEntries(is, { host, file }).filter((name) => !known.has(name));
  const added = host.sections(was, file, surroundings).flatMap(({ path, ignored = [] }) => {
    const now = objectAt(is, path);
    return Object.entries(objectAt(was, path)).flatMap(([name, value]) => {
      const isThere = Object.hasOwn(now, name);
      return isThere || ignored.includes(name) || !isObject(value) ? [] : [{ section: path, name, value }];
    });
  });
  const unlisted = (host.allowLists?.(is) ?? []).flatMap((path) => {
    const listedBefore = stringsIn(valueAt(was, path));
    return names.filter((name) => !listedBefore.includes(name)).map((item) => ({ path, item }));
  });
  return changed(current, { added, removed: [{ section: ours, names }], unlisted }, file);
}
