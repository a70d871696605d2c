/** Finds the servers in the agents' settings on this machine, as entries of claudikins.json. Changes no file. */
import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { type ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { refuseLinkOut } from "../../base/guarded-folders.ts";
import { isObject, type JsonObject, objectAt, stringsIn } from "../../base/json-object.ts";
import type { PortableEntry } from "../../config/config-file.ts";
import { parseFile } from "../../config/edit/editor.ts";
import { type FileText, textOrNothing } from "../../config/file-text.ts";
import { projectFolder } from "../../config/locations.ts";
import { startsClaudikins } from "./supported/claudikins-entry.ts";
import {
  type Agent,
  type AgentName,
  type AgentSettings,
  type AgentSurroundings,
  type InstalledPlugin,
  type Section,
  type Supplied,
  sectionsOf,
} from "./supported/model.ts";

export interface FoundServer {
  name: string;
  host: AgentName;
  file: string;
  section: readonly string[];
  /** The only project that has the server. */
  folder?: string | undefined;
  entry: PortableEntry;
  /** Differences that a person should know, such as a variable that has to be set. */
  notes: string[];
  supplied: Supplied[];
}

export interface SkippedServer {
  name: string;
  host: AgentName;
  file: string;
  why: string;
}

export interface FoundFile extends AgentSettings {
  content: FileText;
  servers: FoundServer[];
  skipped: SkippedServer[];
  /** Servers that stay in the file, because the user decided so or has not decided yet. */
  left: FoundServer[];
  /** Existing entries of claudikins. */
  own: { section: readonly string[]; name: string }[];
  /** In the user's file: the agent's plugin that starts claudikins as well. */
  plugin?: InstalledPlugin;
}

export interface FoundFiles {
  files: FoundFile[];
  /** Files that cannot be read. They are not changed. */
  problems: { host: AgentName; file: string; error: ClaudikinsError }[];
  /** A project's files, which are imported only with `project`. */
  shared: { host: AgentName; file: string; servers: number }[];
}

export interface FindOptions extends AgentSurroundings {
  /** Agents that the user named. If such an agent has no file yet, its default file is included. */
  named?: ReadonlySet<string>;
  /** Include the files of the project around the working directory. */
  project: boolean;
}

/** Reads the files of the agents, in the order of the agents. Files that cannot be read become `problems`. */
export async function findServers(agents: readonly Agent[], options: FindOptions): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], problems: [], shared: [] };
  const seen = new Set<string>();
  for (const agent of agents) {
    const host = agent.name;
    const all = agent.files(options);
    // A dangling link counts as present: its target may be on another disk.
    const isThere = all.some(({ path }) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
    for (const [place, file] of all.entries()) {
      const { path, folder } = file;
      // An agent is installed if its folder exists.
      const isWanted = place === 0 && !isThere && options.named?.has(host) && existsSync(dirname(path));
      if ((!existsSync(path) && !isWanted) || seen.has(path)) continue;
      seen.add(path);
      try {
        if (folder !== undefined) refuseLinkOut(path, projectFolder({ env: options.env, cwd: folder }));
        const one = await readSettings({ agent, file }, textOrNothing(path), options);
        const plugin = place === 0 ? agent.plugin?.(options) : undefined;
        if (plugin) one.plugin = plugin;
        if (folder === undefined || options.project) found.files.push(one);
        else if (one.servers.length > 0) {
          found.shared.push({ host, file: path, servers: one.servers.length + one.skipped.length });
        }
      } catch (thrown) {
        if (folder !== undefined && !options.project) continue;
        found.problems.push({ host, file: path, error: toClaudikinsError(thrown) });
      }
    }
  }
  return found;
}

/** The servers in one file. Throws CONFIG_INVALID if the text cannot be parsed. */
export async function readSettings(
  settings: AgentSettings,
  content: FileText,
  surroundings: AgentSurroundings,
): Promise<FoundFile> {
  const { agent, file } = settings;
  const document = parseFile(content.text, file);
  const found: FoundFile = { agent, file, content, servers: [], skipped: [], left: [], own: [] };
  const isShared = file.folder !== undefined;
  for (const section of sectionsOf(settings, document, surroundings)) {
    for (const [name, raw] of Object.entries(objectAt(document, section.path))) {
      if (!section.ignored?.includes(name)) await look(name, raw, section);
    }
  }
  return found;

  async function look(name: string, raw: unknown, section: Section): Promise<void> {
    const where = { name, host: agent.name, file: file.path };
    if (!isObject(raw)) {
      found.skipped.push({ ...where, why: "it is not a server entry" });
      return;
    }
    if (startsClaudikins(raw)) {
      found.own.push({ section: section.path, name });
      return;
    }
    const folder = section.folder ?? file.folder;
    const reading = agent.read(raw, { ...surroundings, server: name, folder, isShared, document });
    const isSwitchedOff = section.disabled?.includes(name);
    // The user's own choice must not disable a server for everyone in the project, and the server must not start for the user.
    const own = isShared && isSwitchedOff ? `you disabled it in ${agent.title}` : undefined;
    const why = reading.entry ? ((await whyWrong(name, reading.entry)) ?? own) : reading.skipped;
    if (!reading.entry || why !== undefined) {
      found.skipped.push({ ...where, why: why ?? "" });
      return;
    }
    const isOff = reading.entry["disabled"] === true || isSwitchedOff;
    const entry = isOff ? { ...reading.entry, disabled: true } : reading.entry;
    const { notes, supplied } = reading;
    found.servers.push({ ...where, section: section.path, folder, entry, notes, supplied });
  }
}

/** All entries in a text, including those that cannot be imported, so that the secrets of all can be masked. */
export function entriesIn(text: string, settings: AgentSettings, surroundings: AgentSurroundings): PortableEntry[] {
  const document = parseFile(text, settings.file);
  return sectionsOf(settings, document, surroundings).flatMap(({ path, folder = settings.file.folder }) => {
    return Object.entries(objectAt(document, path)).flatMap(([server, raw]) => {
      if (!isObject(raw)) return [];
      const reading = settings.agent.read(raw, { ...surroundings, server, folder, document });
      return [reading.entry ?? whereSecretsAre(raw)];
    });
  });
}

/** The parts of an unreadable entry that may contain secrets. */
function whereSecretsAre(raw: JsonObject): PortableEntry {
  const objects = ["env", "environment", "headers", "http_headers", "settings"].map((key) => raw[key]).filter(isObject);
  const texts = Object.entries(Object.assign({}, ...objects)).filter(([, value]) => typeof value === "string");
  return { command: "", args: stringsIn(raw["args"]), env: Object.fromEntries(texts) };
}

/** The problems that claudikins would report for the entry in its config; undefined if there are none. */
async function whyWrong(name: string, entry: PortableEntry): Promise<string | undefined> {
  const { parseConfig } = await import("../../config/parse.ts");
  const { mistakes } = parseConfig(JSON.stringify({ mcpServers: { [name]: entry } }), "entry");
  const [mistake] = mistakes.values();
  return mistake?.problems.map(({ text }) => text).join("; ");
}
