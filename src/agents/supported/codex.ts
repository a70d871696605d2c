/** Codex: `~/.codex/config.toml`, and `.codex/config.toml` of a project. */
import { join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { isObject, type JsonObject, objectAt, stringsIn } from "../../json-object.ts";
import { readEntry } from "./entry.ts";
import type { Agent, SettingsFile, Surroundings } from "./model.ts";
import { codexPlugin } from "./plugins.ts";
import { projectFiles, userFile } from "./settings-files.ts";

export const codex: Agent = {
  name: "codex",
  title: "Codex",
  folder: ({ env }) => env["CODEX_HOME"] || join(homeOf(env), ".codex"),
  memory: { project: "AGENTS.md", user: "AGENTS.md" },
  files: (around) => [settingsOf(around), ...projectFiles([join(".codex", "config.toml")], around, "toml")],
  ownSection: () => ["mcp_servers"],
  read(raw, scene) {
    const reading = readEntry(inCommonWords(raw), "none", scene);
    if (!reading.entry) return reading;
    // Variables are added after the translation, because Codex itself treats `${VAR}` as plain text.
    const { entry } = reading;
    if (typeof entry["url"] === "string") {
      const headers = { ...(entry["headers"] as object | undefined), ...variableHeaders(raw) };
      if (Object.keys(headers).length > 0) entry["headers"] = headers;
    } else {
      const env = { ...passedOn(raw["env_vars"]), ...(entry["env"] as object | undefined) };
      if (Object.keys(env).length > 0) entry["env"] = env;
    }
    return reading;
  },
  plugin: (around) => codexPlugin(settingsOf(around)),
  ownEntry: ([command, ...args]) => ({ command, args }),
};

function settingsOf(around: Surroundings): SettingsFile {
  return userFile(join(codex.folder(around), "config.toml"), "toml");
}

function inCommonWords(raw: JsonObject): JsonObject {
  const seconds = (key: string) => (typeof raw[key] === "number" ? raw[key] * 1_000 : undefined);
  return {
    ...raw,
    headers: raw["http_headers"],
    startTimeoutMs: seconds("startup_timeout_sec") ?? raw["startup_timeout_ms"],
    callTimeoutMs: seconds("tool_timeout_sec"),
    ...(typeof raw["url"] === "string" && typeof raw["command"] !== "string" ? { type: "http" } : {}),
    ...oauthOf(raw),
  };
}

function oauthOf({ oauth, scopes }: JsonObject): JsonObject {
  const clientId = isObject(oauth) ? oauth["client_id"] : undefined;
  const known = {
    ...(typeof clientId === "string" ? { clientId } : {}),
    ...(stringsIn(scopes).length > 0 ? { scopes: stringsIn(scopes) } : {}),
  };
  return { oauth: Object.keys(known).length > 0 ? known : undefined };
}

/** Headers whose values are in variables. */
function variableHeaders(raw: JsonObject): Record<string, string> {
  const token = raw["bearer_token_env_var"];
  const named = Object.entries(objectAt(raw, ["env_http_headers"]));
  return {
    ...(typeof token === "string" ? { Authorization: `Bearer \${${token}}` } : {}),
    ...Object.fromEntries(named.map(([header, name]) => [header, `\${${name}}`])),
  };
}

/** The variables in `env_vars`. They may be unset: Codex starts a server without them. */
function passedOn(names: unknown): Record<string, string> {
  const all = (Array.isArray(names) ? names : []).map((each) => (isObject(each) ? each["name"] : each));
  return Object.fromEntries(stringsIn(all).map((name) => [name, `\${${name}:-}`]));
}
