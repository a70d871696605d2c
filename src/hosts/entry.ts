/** The entry of a host → that of claudikins.json. What most hosts have in common is read here. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { networkTypeOf } from "../config/address.ts";
import { maxTimeoutMs } from "../config/defaults.ts";
import { oauthKeys } from "../config/oauth.ts";
import { isRaw, type PortableEntry, type Raw, type Reading, type Scene, textsIn } from "./model.ts";
import { type Syntax, type Translator, translator } from "./variables.ts";

/** Keys by which hosts show only some tools of a server. */
const shownKeys = ["includeTools", "enabledTools", "enabled_tools", "tools"];
const hiddenKeys = ["excludeTools", "disabledTools", "disabled_tools"];

/** Never throws: what makes no sense is skipped with the reason. */
export function readEntry(raw: Raw, syntax: Syntax, scene: Scene): Reading {
  const translate = translator(syntax, scene);
  const { notes } = translate;
  const address = raw["httpUrl"] ?? raw["url"] ?? raw["serverUrl"];
  const { command, type } = raw;
  const isNetwork = typeof address === "string" && (typeof command !== "string" || networkTypeOf(type) !== undefined);
  if (!isNetwork && typeof command !== "string") return { skipped: "it has neither a command nor an address" };
  if (isNetwork && /^(?:unix|pipe):/.test(address)) return { skipped: "its address is a socket of this machine" };
  const own = raw["authProviderType"];
  if (raw["headersHelper"] !== undefined) return { skipped: "its headers come from a program (headersHelper)" };
  if (typeof own === "string" && own !== "dynamic_discovery") return { skipped: `it is signed in to by ${own}` };
  if (typeof type === "string" && !isKnownType(type)) return { skipped: `its type is "${type}"` };
  const entry = isNetwork ? networkEntry(raw, address, translate) : stdioEntry(raw, translate, scene);
  if (raw["disabled"] === true || raw["enabled"] === false) entry["disabled"] = true;
  if (typeof raw["description"] === "string" && raw["description"] !== "") entry["description"] = raw["description"];
  const list = (keys: string[]) => keys.flatMap((key) => textsIn(raw[key]));
  if (list(shownKeys).length > 0) entry["allow"] = list(shownKeys);
  if (list(hiddenKeys).length > 0) entry["deny"] = list(hiddenKeys);
  for (const key of ["startTimeoutMs", "callTimeoutMs"]) {
    const ms = raw[key];
    if (typeof ms === "number" && ms >= 1) entry[key] = Math.min(Math.round(ms), maxTimeoutMs);
  }
  return { entry, notes };
}

function isKnownType(type: string): boolean {
  return type === "stdio" || type === "local" || networkTypeOf(type) !== undefined;
}

function stdioEntry(raw: Raw, { text, notes }: Translator, scene: Scene): PortableEntry {
  const entry: PortableEntry = { command: text(String(raw["command"])) };
  if (Array.isArray(raw["args"]) && raw["args"].length > 0) entry["args"] = raw["args"].map((arg) => text(String(arg)));
  const file = raw["envFile"];
  const fromFile = typeof file === "string" ? variablesOf(text(file), scene, notes) : {};
  const env = { ...fromFile, ...texts(raw["env"], text) };
  if (Object.keys(env).length > 0) entry["env"] = env;
  const cwd = typeof raw["cwd"] === "string" ? text(raw["cwd"]) : undefined;
  const folder = cwd === undefined || cwd.startsWith("${") ? cwd : resolve(scene.folder ?? scene.home, cwd);
  if (scene.folder === undefined && cwd !== folder)
    notes.push(`its folder ${cwd} was that of wherever the host runs, and is ${folder} now`);
  if (folder !== undefined) entry["cwd"] = folder;
  // A program of a project may name files of it, or look for them.
  else if (scene.folder !== undefined) entry["cwd"] = scene.folder;
  return entry;
}

function networkEntry(raw: Raw, address: string, { text }: Translator): PortableEntry {
  const { type } = raw;
  const entry: PortableEntry = {};
  if (typeof type === "string" && type !== "remote") entry["type"] = type;
  else if (raw["httpUrl"] !== undefined) entry["type"] = "http";
  entry["url"] = text(address);
  const headers = texts(raw["headers"], text);
  if (Object.keys(headers).length > 0) entry["headers"] = headers;
  const { oauth, auth } = raw;
  if (oauth === false) entry["oauth"] = false;
  else if (isRaw(oauth)) {
    const kept = Object.entries(oauth).filter(([key, value]) => oauthKeys.includes(key) && value !== null);
    if (kept.length > 0) entry["oauth"] = translated(Object.fromEntries(kept), text);
  }
  if (isRaw(auth) && "CLIENT_ID" in auth) entry["auth"] = translated(auth, text);
  return entry;
}

function texts(values: unknown, text: Translator["text"]): Record<string, string> {
  if (!isRaw(values)) return {};
  const known = Object.entries(values).filter(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return Object.fromEntries(known.map(([key, value]) => [key, text(String(value), key)]));
}

function translated(value: Raw, text: Translator["text"]): Raw {
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      typeof each === "string" ? text(each) : Array.isArray(each) ? textsIn(each).map((one) => text(one)) : each,
    ]),
  );
}

/** `NAME=value` lines. */
function variablesOf(file: string, scene: Scene, notes: string[]): Record<string, string> {
  try {
    const lines = readFileSync(resolve(scene.folder ?? scene.home, file), "utf8")
      .replace(/^\uFEFF/, "")
      .split(/\r?\n/);
    const found = lines.flatMap((line) => {
      const [, name, value = ""] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value.replace(/^(["'])(.*)\1$/, "$2")] as const];
    });
    notes.push(`its variables were copied from ${file}`);
    return Object.fromEntries(found);
  } catch {
    notes.push(`its variables stand in ${file}, which cannot be read: set them`);
    return {};
  }
}
