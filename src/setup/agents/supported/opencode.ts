/** opencode: `mcp` in its config, or `mcp.servers` in version 2. The command is a list. */
import { join } from "node:path";
import { isObject, type JsonObject, stringsIn, valueAt } from "../../../base/json-object.ts";
import { readEntry } from "./entry.ts";
import type { Agent } from "./model.ts";
import { configFolder, projectFiles, userFile } from "./settings-files.ts";

const flat = ["mcp"] as const;
const nested = ["mcp", "servers"] as const;
const names = ["opencode.json", "opencode.jsonc"];

export const opencode: Agent = {
  name: "opencode",
  title: "opencode",
  folder: ({ env }) => join(configFolder(env), "opencode"),
  memory: { project: "AGENTS.md", user: "AGENTS.md" },
  files: (around) => [
    ...[...names, "config.json"].map((name) => userFile(join(opencode.folder(around), name))),
    ...(around.env["OPENCODE_CONFIG"] ? [userFile(around.env["OPENCODE_CONFIG"], "json", "chosen")] : []),
    ...projectFiles([...names, ...names.map((name) => join(".opencode", name))], around),
  ],
  sections: (document) =>
    hasNested(document) ? [{ path: flat, ignored: ["servers", "timeout"] }, { path: nested }] : [{ path: flat }],
  ownSection: (document) => (hasNested(document) ? nested : flat),
  read(raw, scene) {
    if (!isServer(raw)) return { skipped: "it is not a server" };
    const [command, ...args] = stringsIn(raw["command"]);
    const isLocal = command !== undefined && raw["type"] !== "remote";
    const { timeout, oauth } = raw;
    const common = {
      ...raw,
      ...(isLocal ? { type: "local", command, args, env: raw["environment"] ?? raw["env"] } : {}),
      startTimeoutMs: isObject(timeout) ? timeout["catalog"] : timeout,
      callTimeoutMs: isObject(timeout) ? timeout["execution"] : undefined,
      oauth: withScopes(oauth),
    };
    const reading = readEntry(common, "opencode", scene);
    if (reading.entry && isLocal) delete reading.entry["type"];
    return reading;
  },
  ownEntry: (command) => ({ type: "local", command: [...command], enabled: true }),
};

/** Whether the config has `mcp.servers`. A server may also be called `servers`. */
function hasNested(document: JsonObject): boolean {
  const inner = valueAt(document, nested);
  return isObject(inner) && !isServer(inner);
}

function isServer(value: JsonObject): boolean {
  return Array.isArray(value["command"]) || typeof value["url"] === "string" || typeof value["type"] === "string";
}

/** Splits `scope`, one string of several scopes, into `scopes`. */
function withScopes(oauth: unknown): unknown {
  if (!isObject(oauth)) return oauth;
  const { scope, ...rest } = oauth;
  return typeof scope === "string" ? { ...rest, scopes: scope.split(/\s+/).filter(Boolean) } : rest;
}
