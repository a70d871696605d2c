/** Codex: `~/.codex/config.toml`, and `.codex/config.toml` of a project. */
import { join } from "node:path";
import { isObject, type JsonObject, objectAt, stringsIn } from "../../../base/json-object.ts";
import { homeOf } from "../../../config/locations.ts";
import type { Confirm, ConfirmMode } from "../../../config/policy.ts";
import { readEntry } from "./entry.ts";
import type { Agent, AgentSurroundings, SettingsFile } from "./model.ts";
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
    const confirm = confirmOf(raw, reading.notes);
    if (confirm !== undefined) entry["confirm"] = confirm;
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
  // Without this, `codex exec` cancels every call of execute_code: it cannot ask, and the tool may change things.
  ownEntry: ([command, ...args]) => ({ command, args, [approvalKey]: "approve" }),
  ownEntryNote:
    'Codex will run the tools of claudikins without asking, because codex exec cancels execute_code otherwise. The policy of your config decides about calls: for questions before calls that may destroy something, set "policy": { "confirm": "destructive" }',
  ownEntryLack(raw) {
    const ofTool = objectAt(raw, ["tools", "execute_code"])["approval_mode"];
    if (raw[approvalKey] !== undefined || ofTool !== undefined) return undefined;
    return {
      message: "asks before each execute_code, and codex exec cancels it",
      repair: `To leave the decision to the policy of your config, add ${approvalKey} = "approve"`,
    };
  },
};

/** `auto`, `prompt`, `writes` or `approve`. */
const approvalKey = "default_tools_approval_mode";

function settingsOf(around: AgentSurroundings): SettingsFile {
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

/**
 * The questions that Codex asked before calls of the server. Codex does not see these calls any more, so claudikins has to ask. `auto`, its
 * default, depends on the annotations of each tool and on how Codex was started, and is not translated.
 */
function confirmOf(raw: JsonObject, notes: string[]): Confirm | undefined {
  const own = modeOf(raw[approvalKey]);
  const tools = Object.entries(objectAt(raw, ["tools"])).flatMap(([name, tool]) => {
    const mode = isObject(tool) ? modeOf(tool["approval_mode"]) : undefined;
    return mode === undefined ? [] : [[name, mode] as const];
  });
  const isAsked = own !== undefined && own !== "never";
  if (!isAsked && tools.every(([, mode]) => mode === "never")) return undefined;
  if ([own, ...tools.map(([, mode]) => mode)].includes("destructive"))
    notes.push("Codex asked before calls that write; claudikins asks before calls that may destroy something");
  if (tools.length === 0) return own;
  return { ...(isAsked ? { "*": own } : {}), ...Object.fromEntries(tools) };
}

function modeOf(mode: unknown): ConfirmMode | undefined {
  return ({ prompt: "always", writes: "destructive", approve: "never" } as const)[String(mode)];
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
