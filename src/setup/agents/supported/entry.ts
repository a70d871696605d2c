/** Translates an agent's server entry into an entry of claudikins.json. It handles the keys that most agents share. */
import { readFileSync } from "node:fs";
import { isAbsolute, join, normalize, relative, resolve } from "node:path";
import { parseEnv } from "node:util";
import { isObject, type JsonObject, stringsIn, withTexts } from "../../../base/json-object.ts";
import { networkTypeOf } from "../../../config/address.ts";
import type { PortableEntry } from "../../../config/config-file.ts";
import { maxTimeoutMs } from "../../../config/limits.ts";
import { homeOf } from "../../../config/locations.ts";
import { oauthKeys } from "../../../config/oauth.ts";
import type { EntryContext, Reading } from "./model.ts";
import { type Syntax, Translator } from "./variables.ts";

/** Keys that allow or hide tools of a server. */
const shownKeys = ["includeTools", "enabledTools", "enabled_tools", "tools"];
const hiddenKeys = ["excludeTools", "disabledTools", "disabled_tools"];

/** Never throws: an entry that cannot be used is skipped with a reason. */
export function readEntry(raw: JsonObject, syntax: Syntax, scene: EntryContext): Reading {
  const translate = new Translator(syntax, scene);
  const { notes, supplied, obstacles } = translate;
  const address = raw["httpUrl"] ?? raw["url"] ?? raw["serverUrl"];
  const { command, type } = raw;
  const isNetwork = typeof address === "string" && (typeof command !== "string" || networkTypeOf(type) !== undefined);
  if (!isNetwork && typeof command !== "string") return { skipped: "it has neither a command nor a URL" };
  if (isNetwork && /^(?:unix|pipe):/.test(address)) return { skipped: "its URL is a local socket" };
  const own = raw["authProviderType"];
  if (typeof own === "string" && own !== "dynamic_discovery") return { skipped: `it signs in with ${own}` };
  if (typeof type === "string" && !isKnownType(type)) return { skipped: `its type "${type}" is not supported` };
  const entry = isNetwork ? networkEntry(raw, address, translate, scene) : stdioEntry(raw, translate, scene);
  const [obstacle] = obstacles;
  if (obstacle !== undefined) return { skipped: obstacle };
  if (raw["disabled"] === true || raw["enabled"] === false) entry["disabled"] = true;
  if (typeof raw["description"] === "string" && raw["description"] !== "") entry["description"] = raw["description"];
  const list = (keys: string[]) => keys.flatMap((key) => stringsIn(raw[key]));
  if (list(shownKeys).length > 0) entry["allow"] = list(shownKeys);
  if (list(hiddenKeys).length > 0) entry["deny"] = list(hiddenKeys);
  for (const key of ["startTimeoutMs", "callTimeoutMs"]) {
    const ms = raw[key];
    if (typeof ms === "number" && ms >= 1) entry[key] = Math.min(Math.round(ms), maxTimeoutMs);
  }
  return { entry, notes, supplied };
}

function isKnownType(type: string): boolean {
  return type === "stdio" || type === "local" || networkTypeOf(type) !== undefined;
}

function stdioEntry(raw: JsonObject, translate: Translator, scene: EntryContext): PortableEntry {
  const { text, notes } = translate;
  // Translated before the folder, because its path is relative to the project.
  const file = typeof raw["envFile"] === "string" ? text(raw["envFile"]) : undefined;
  const cwd = folderOf(raw["cwd"], translate, scene);
  const entry: PortableEntry = { command: text(String(raw["command"])) };
  if (Array.isArray(raw["args"]) && raw["args"].length > 0) entry["args"] = raw["args"].map((arg) => text(String(arg)));
  const fromFile = file === undefined ? {} : variablesOf(file, scene, notes);
  const env = { ...fromFile, ...texts(raw["env"], text) };
  if (Object.keys(env).length > 0) entry["env"] = env;
  if (cwd !== undefined) entry["cwd"] = cwd;
  return entry;
}

/** The folder in which the server starts; relative to the project's folder in a shared file. */
function folderOf(raw: unknown, translate: Translator, scene: EntryContext): string | undefined {
  const { text, notes } = translate;
  const cwd = typeof raw === "string" ? text(raw) : undefined;
  if (scene.isShared) {
    const inProject = normalize(cwd ?? ".").replace(/(?<=.)[\\/]$/, "");
    if (cwd?.startsWith("${") || isAbsolute(inProject)) return cwd;
    translate.workspaceFolder = relative(join("/", "project", inProject), join("/", "project")) || ".";
    return inProject;
  }
  // A project's server may use files of the project.
  if (cwd === undefined) return scene.folder;
  const folder = cwd.startsWith("${") ? cwd : resolve(scene.folder ?? homeOf(scene.env), cwd);
  if (scene.folder === undefined && cwd !== folder)
    notes.push(`its folder ${cwd} was relative to where the agent runs and is now ${folder}`);
  return folder;
}

function networkEntry(
  raw: JsonObject,
  address: string,
  { text, notes }: Translator,
  scene: EntryContext,
): PortableEntry {
  const { type } = raw;
  const entry: PortableEntry = {};
  if (typeof type === "string" && type !== "remote") entry["type"] = type;
  else if (raw["httpUrl"] !== undefined) entry["type"] = "http";
  entry["url"] = text(address);
  const headers = texts(raw["headers"], text);
  if (Object.keys(headers).length > 0) entry["headers"] = headers;
  const helper = raw["headersHelper"];
  if (typeof helper === "string" && helper !== "") {
    // Its variables are the shell's, for the agent as well.
    entry["headersHelper"] = helper;
    const isOfFolder = scene.folder !== undefined && !scene.isShared;
    if (isOfFolder) entry["cwd"] = scene.folder;
    else if (!scene.isShared && /^\.{1,2}[\\/]/.test(helper))
      notes.push(
        "its headersHelper is a relative path, and now runs in the folder of the config: write an absolute path",
      );
  }
  const { oauth, auth } = raw;
  if (oauth === false) entry["oauth"] = false;
  else if (isObject(oauth)) {
    const kept = Object.entries(oauth).filter(([key, value]) => oauthKeys.includes(key) && value !== null);
    if (kept.length > 0) entry["oauth"] = withTexts(Object.fromEntries(kept), text);
  }
  if (isObject(auth) && "CLIENT_ID" in auth) entry["auth"] = withTexts(auth, text);
  return entry;
}

function texts(values: unknown, text: Translator["text"]): Record<string, string> {
  if (!isObject(values)) return {};
  const known = Object.entries(values).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return Object.fromEntries(known.map(([key, value]) => [key, text(String(value), key)]));
}

/** The variables of a file with `NAME=value` lines. A shared entry gets only their names. */
function variablesOf(file: string, scene: EntryContext, notes: string[]): Record<string, string> {
  try {
    const found = parseEnv(readFileSync(resolve(scene.folder ?? homeOf(scene.env), file), "utf8")) as Record<
      string,
      string
    >;
    if (!scene.isShared) {
      notes.push(`its variables were copied from ${file}`);
      return found;
    }
    const names = Object.keys(found);
    notes.push(
      `set ${names.join(", ")} in your environment: the values stay in ${file}, which claudikins does not read`,
    );
    return Object.fromEntries(names.map((name) => [name, `\${${name}:-}`]));
  } catch {
    notes.push(`its variables are in ${file}, which cannot be read: set them yourself`);
    return {};
  }
}
