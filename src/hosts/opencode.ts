/** opencode: `mcp` in its config, where version 2 has the servers one step deeper; the command is a list. */
import { join } from "node:path";
import { readEntry } from "./entry.ts";
import { type Host, type HostFile, isRaw, type Raw, type Surroundings, textsIn, valueAt } from "./model.ts";
import { configFolder, projectFiles, userFile } from "./places.ts";

const flat = ["mcp"] as const;
const nested = ["mcp", "servers"] as const;
const names = ["opencode.json", "opencode.jsonc"];

export const opencode: Host = {
  name: "opencode",
  title: "opencode",
  files(surroundings) {
    const inProject = [...names, ...names.map((name) => join(".opencode", name))];
    return [...userFiles(surroundings), ...projectFiles(inProject, surroundings)];
  },
  sections: (document) =>
    hasNested(document) ? [{ path: flat, ignored: ["servers", "timeout"] }, { path: nested }] : [{ path: flat }],
  ownSection: (document) => (hasNested(document) ? nested : flat),
  read(raw, scene) {
    if (!isServer(raw)) return { skipped: "it is not a server" };
    const [command, ...args] = textsIn(raw["command"]);
    const isLocal = command !== undefined && raw["type"] !== "remote";
    const { timeout, oauth } = raw;
    const common = {
      ...raw,
      ...(isLocal ? { type: "local", command, args, env: raw["environment"] ?? raw["env"] } : {}),
      startTimeoutMs: isRaw(timeout) ? timeout["catalog"] : timeout,
      callTimeoutMs: isRaw(timeout) ? timeout["execution"] : undefined,
      oauth: isRaw(oauth) && oauth["scope"] === undefined ? oauth : withScopes(oauth),
    };
    const reading = readEntry(common, "opencode", scene);
    if (reading.entry && isLocal) delete reading.entry["type"];
    return reading;
  },
  ownEntry: (command) => ({ type: "local", command: [...command], enabled: true }),
};

function userFiles({ env }: Surroundings): HostFile[] {
  const folder = join(configFolder(env), "opencode");
  const own = [...names, "config.json"].map((name) => userFile(join(folder, name)));
  const chosen = env["OPENCODE_CONFIG"];
  return chosen ? [...own, userFile(chosen, "json", "chosen")] : own;
}

/** `servers` may be the name of a server as well. */
function hasNested(document: Raw): boolean {
  const inner = valueAt(document, nested);
  return isRaw(inner) && !isServer(inner);
}

function isServer(value: Raw): boolean {
  return Array.isArray(value["command"]) || typeof value["url"] === "string" || typeof value["type"] === "string";
}

/** One text with several, as we read it too. */
function withScopes(oauth: unknown): unknown {
  if (!isRaw(oauth)) return oauth;
  const { scope, ...rest } = oauth;
  return typeof scope === "string" ? { ...rest, scopes: scope.split(/\s+/).filter(Boolean) } : rest;
}
