/** Reads pasted JSON or TOML of any agent, a whole file or one entry, as entries of claudikins.json. */
import { ClaudikinsError, messageOf } from "../../../base/errors.ts";
import { isObject, type JsonObject, valueAt } from "../../../base/json-object.ts";
import type { PortableEntry } from "../../../config/config-file.ts";
import { parseJson } from "../../../config/edit/json.ts";
import { parseToml } from "../../../config/edit/toml.ts";
import { cursor, gemini, vscode, zed } from "./agents.ts";
import { codex } from "./codex.ts";
import { type Agent, type AgentSurroundings, suppliedText } from "./model.ts";
import { opencode } from "./opencode.ts";

export interface PastedEntry {
  /** Undefined for a single entry without a name. */
  name: string | undefined;
  entry: PortableEntry;
  notes: string[];
}

/** Whether an argument is a pasted entry rather than a server's name. */
export function isPasted(text: string): boolean {
  return /^\s*[{["]/.test(text);
}

/** Throws CONFIG_INVALID with the reason if the text has no server entry. */
export function readPasted(text: string, surroundings: AgentSurroundings): PastedEntry[] {
  const document = parsed(text.trim());
  const servers = serversIn(document);
  const all = servers.flatMap(([name, raw, agent]) => {
    const reading = agent.read(raw, { ...surroundings, server: name ?? "server", document });
    if (reading.entry) {
      const notes = [...reading.notes, ...reading.supplied.map((one) => suppliedText(one))];
      return [{ name, entry: { ...reading.entry, ...oursIn(raw) }, notes }];
    }
    throw notAnEntry(`${name === undefined ? "it" : `"${name}"`} is not a server: ${reading.skipped}`);
  });
  if (all.length === 0) throw notAnEntry("it has no servers");
  return all;
}

/** Keys of claudikins.json that no agent has. */
const ownKeys = ["allow", "deny", "confirm", "category", "account", "idleTimeoutMs", "keepAlive", "maxCallsInFlight"];

function oursIn(raw: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(raw).filter(([key]) => ownKeys.includes(key)));
}

const source = "the entry";

function parsed(text: string): JsonObject {
  try {
    if (text.startsWith("[")) return parseToml(text, source);
    // People copy `"name": { … }` out of a file.
    return parseJson(text.startsWith('"') ? `{${text.replace(/,$/, "")}}` : text, source);
  } catch (error) {
    // The parser's hint refers to a file.
    throw new ClaudikinsError("CONFIG_INVALID", messageOf(error), { hint: example, cause: error });
  }
}

type NamedEntry = [name: string | undefined, raw: JsonObject, agent: Agent];

/** The keys under which agents list their servers, and the agent whose format the entries have. */
const places: [readonly string[], Agent | undefined][] = [
  [["mcpServers"], undefined],
  [["mcp_servers"], codex],
  [["context_servers"], zed],
  [["amp.mcpServers"], undefined],
  [["mcp", "servers"], undefined],
  [["mcp"], opencode],
  [["servers"], vscode],
];

function serversIn(document: JsonObject): NamedEntry[] {
  for (const [path, agent] of places) {
    const section = valueAt(document, path);
    if (isObject(section)) return namedIn(section, agent);
  }
  if (isEntry(document)) return [[undefined, document, agentOf(document)]];
  return namedIn(document, undefined);
}

function namedIn(section: JsonObject, agent: Agent | undefined): NamedEntry[] {
  return Object.entries(section).map(([name, raw]) => {
    if (!isObject(raw)) throw notAnEntry(`"${name}" is not an object`);
    return [name, raw, agent ?? agentOf(raw)];
  });
}

function isEntry(raw: JsonObject): boolean {
  return ["command", "url", "serverUrl", "httpUrl"].some((key) => raw[key] !== undefined && !isRawServer(raw[key]));
}

/** Whether the value is a server that is called `command` or `url`. */
function isRawServer(value: unknown): boolean {
  return isObject(value) && value["path"] === undefined;
}

/** The agent whose format the entry has, if the key around it does not tell. */
function agentOf(raw: JsonObject): Agent {
  if (Array.isArray(raw["command"])) return opencode;
  if (isObject(raw["command"])) return zed;
  if (["bearer_token_env_var", "http_headers", "env_http_headers", "env_vars"].some((key) => key in raw)) return codex;
  return "httpUrl" in raw || "trust" in raw ? gemini : cursor;
}

const example = 'Example: claudikins add --json \'{ "docs": { "url": "https://mcp.example.com/mcp" } }\'';

function notAnEntry(why: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `This is not a server entry: ${why}`, { hint: example });
}
