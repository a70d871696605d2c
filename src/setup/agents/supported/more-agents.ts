/** Agents whose entries have the keys that most agents share. Each row states the source of its places and keys. */
import { dirname, join } from "node:path";
import { isObject, type JsonObject, objectAt, stringsIn, valueAt } from "../../../base/json-object.ts";
import { homeOf } from "../../../config/locations.ts";
import { matches } from "../../../config/pattern.ts";
import { readEntry } from "./entry.ts";
import type { Agent, AgentName, AgentSurroundings, Reading, Section, SettingsFile } from "./model.ts";
import { claudePlugin } from "./plugins.ts";
import { applicationData, configFolder, projectFiles, settingsDocument, userFile } from "./settings-files.ts";
import type { Syntax } from "./variables.ts";

interface Row {
  name: AgentName;
  title: string;
  folder: Agent["folder"];
  /** Names in the agent's folder, and other files that it reads. */
  user: readonly string[];
  others?(around: AgentSurroundings): SettingsFile[];
  project?: string[];
  section?: readonly string[];
  sections?: Agent["sections"];
  allowLists?: Agent["allowLists"];
  syntax: Syntax;
  /** Keys with an equivalent, translated to the names that `readEntry` reads. */
  translated?(raw: JsonObject): JsonObject;
  /** Keys without an equivalent. */
  lost?: readonly string[];
  skipped?(raw: JsonObject): string | undefined;
  /** Further members of the entries that the agent writes, besides a command. */
  own?: JsonObject;
}

/** Tools that the agent calls without asking. */
const approvals = ["autoApprove", "alwaysAllow", "trust"];

function agentOf(row: Row): Agent {
  const section = row.section ?? ["mcpServers"];
  return {
    name: row.name,
    title: row.title,
    folder: row.folder,
    files: (around) => [
      ...row.user.map((name) => userFile(join(row.folder(around), name))),
      ...(row.others?.(around) ?? []),
      ...projectFiles(row.project ?? [], around),
    ],
    ...(row.sections ? { sections: row.sections } : {}),
    ...(row.allowLists ? { allowLists: row.allowLists } : {}),
    ownSection: () => section,
    read(raw, scene): Reading {
      const skipped = row.skipped?.(raw);
      if (skipped !== undefined) return { skipped };
      const reading = readEntry({ ...raw, ...row.translated?.(raw) }, row.syntax, scene);
      const isSet = (key: string) => raw[key] !== undefined && raw[key] !== false && String(raw[key]) !== "";
      const lost = [...approvals, ...(row.lost ?? [])].filter(isSet);
      return reading.entry ? { ...reading, notes: [...reading.notes, ...lost.map(lostText)] } : reading;
    },
    ownEntry: ([command, ...args]) => ({ ...row.own, command, args }),
  };
}

function lostText(key: string): string {
  return approvals.includes(key)
    ? `its ${key} is not imported: the policy of claudikins decides which calls are asked about`
    : `its ${key} is not imported`;
}

const inHome = (...names: string[]): Agent["folder"] => {
  return ({ env }) => join(homeOf(env), ...names);
};

/** `timeout` is in seconds, for one call. */
const seconds = ({ timeout }: JsonObject): JsonObject =>
  typeof timeout === "number" ? { callTimeoutMs: timeout * 1_000 } : {};

/** The file of an extension in VS Code and VS Code Insiders. */
function extensionFiles(extension: string, name: string, around: AgentSurroundings): SettingsFile[] {
  return ["Code", "Code - Insiders"].map((product) =>
    userFile(
      join(applicationData(around), product, "User", "globalStorage", extension, "settings", name),
      "json",
      product,
    ),
  );
}

/**
 * docs.github.com/copilot/how-tos/copilot-cli/customize-copilot/add-mcp-servers and cli-config-dir-reference (2026-11-28). It also reads
 * `.mcp.json`, in the format of Claude Code.
 */
const copilot = agentOf({
  name: "copilot",
  title: "GitHub Copilot CLI",
  folder: ({ env }) => env["COPILOT_HOME"] || join(homeOf(env), ".copilot"),
  user: ["mcp-config.json"],
  project: [".mcp.json", join(".github", "mcp.json")],
  syntax: "none",
  // `*` stands for all tools.
  translated: ({ tools }) => (stringsIn(tools).includes("*") ? { tools: [] } : {}),
  lost: ["timeout"],
  own: { type: "local", tools: ["*"] },
});

/**
 * The pull requests WolframResearch/AgentTools#191 and speakeasy-api/gram#5732, which cite the documentation of Antigravity (2026-11-28).
 * Versions before 2.0 read the file in `antigravity`.
 */
const antigravity = agentOf({
  name: "antigravity",
  title: "Google Antigravity",
  folder: inHome(".gemini", "config"),
  user: ["mcp_config.json"],
  others: ({ env }) => [
    userFile(join(homeOf(env), ".gemini", "antigravity", "mcp_config.json"), "json", "before version 2"),
  ],
  project: [join(".agents", "mcp_config.json")],
  syntax: "none",
});

/** kiro.dev/docs/mcp/configuration and kiro.dev/docs/cli/mcp/configuration (2026-11-28). */
const kiro = agentOf({
  name: "kiro",
  title: "Kiro",
  folder: inHome(".kiro"),
  user: [join("settings", "mcp.json")],
  project: [join(".kiro", "settings", "mcp.json")],
  syntax: "shell",
  lost: ["timeout"],
});

/** README.md and internal/config of github.com/charmbracelet/crush (2026-11-28). */
const crush = agentOf({
  name: "crush",
  title: "Crush",
  folder({ env, platform }) {
    if (env["CRUSH_GLOBAL_CONFIG"]) return env["CRUSH_GLOBAL_CONFIG"];
    if (platform !== "win32") return join(configFolder(env), "crush");
    return join(env["LOCALAPPDATA"] || join(homeOf(env), "AppData", "Local"), "crush");
  },
  user: ["crush.json"],
  project: [".crush.json", "crush.json"],
  section: ["mcp"],
  syntax: "gemini",
  lost: ["timeout"],
  skipped: (raw) =>
    /\$\((?!\()/.test(JSON.stringify(raw)) ? "it contains a shell command that Crush runs for a value" : undefined,
  own: { type: "stdio" },
});

/**
 * developersdigest.tech/reference/amp/config-files and syllago.dev/using-syllago/providers/amp/mcp, which summarise Amp's own pages, and
 * ampcode.com/news/lazy-load-mcp-with-skills (2026-11-28). The key contains a dot.
 */
const amp = agentOf({
  name: "amp",
  title: "Amp",
  folder: inHome(".config", "amp"),
  user: ["settings.json", "settings.jsonc"],
  project: [join(".amp", "settings.json"), join(".amp", "settings.jsonc")],
  section: ["amp.mcpServers"],
  syntax: "shell",
});

/** docs/users/features/mcp.md of github.com/QwenLM/qwen-code, and the user guide of version 1 (2026-11-28). */
const qwen = agentOf({
  name: "qwen",
  title: "Qwen Code",
  folder: inHome(".qwen"),
  user: ["settings.json"],
  project: [join(".qwen", "settings.json"), join(".qwen", "settings.local.json")],
  sections(document) {
    const { allowed, excluded } = (valueAt(document, ["mcp"]) ?? {}) as JsonObject;
    const isIn = (list: unknown, name: string) => stringsIn(list).some((pattern) => matches(pattern, name));
    const names = Object.keys((document["mcpServers"] ?? {}) as JsonObject);
    const disabled = names.filter((name) => isIn(excluded, name) || (Array.isArray(allowed) && !isIn(allowed, name)));
    return [{ path: ["mcpServers"], disabled }];
  },
  allowLists: (document) => (Array.isArray(valueAt(document, ["mcp", "allowed"])) ? [["mcp", "allowed"]] : []),
  syntax: "gemini",
  translated: ({ timeout, discoveryTimeoutMs }) => ({ callTimeoutMs: timeout, startTimeoutMs: discoveryTimeoutMs }),
  lost: ["versionNegotiation"],
});

const rooExtension = "rooveterinaryinc.roo-cline";

/** docs.roocode.com/features/mcp/using-mcp-in-roo and src/services/mcp/McpHub.ts of github.com/RooCodeInc/Roo-Code (2026-11-28). */
const roo = agentOf({
  name: "roo",
  title: "Roo Code",
  folder: (around) => join(applicationData(around), "Code", "User", "globalStorage", rooExtension),
  user: [],
  others: (around) => extensionFiles(rooExtension, "mcp_settings.json", around),
  project: [join(".roo", "mcp.json")],
  syntax: "editor",
  translated: seconds,
  lost: ["watchPaths"],
});

/**
 * docs.cline.bot/getting-started/config, src/services/mcp/schemas.ts of github.com/cline/cline, and for `CLINE_MCP_SETTINGS_PATH`
 * developersdigest.tech/mcp-servers/clients/cline (2026-11-28). The CLI and newer extensions share one file; older extensions have their own.
 */
const cline = agentOf({
  name: "cline",
  title: "Cline",
  folder: inHome(".cline"),
  user: [join("data", "settings", "cline_mcp_settings.json")],
  others: (around) => [
    ...(around.env["CLINE_MCP_SETTINGS_PATH"]
      ? [userFile(around.env["CLINE_MCP_SETTINGS_PATH"], "json", "chosen")]
      : []),
    ...extensionFiles("saoudrizwan.claude-dev", "cline_mcp_settings.json", around),
  ],
  syntax: "editor",
  translated: (raw) => ({
    ...seconds(raw),
    // An older key for the type.
    ...(raw["type"] === undefined && raw["transportType"] !== undefined ? { type: raw["transportType"] } : {}),
  }),
});

export const moreAgents: readonly Agent[] = [copilot, antigravity, kiro, crush, amp, qwen, roo, cline];

const servers = ["mcpServers"] as const;

export const claudeCode: Agent = {
  name: "claude-code",
  title: "Claude Code",
  folder: ({ env }) => env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude"),
  memory: { project: "CLAUDE.md", user: "CLAUDE.md" },
  files: (around) => [userFile(userPath(around)), ...projectFiles([".mcp.json"], around)],
  sections(document, { folder }, around) {
    if (folder !== undefined) return [{ path: servers, disabled: rejected(folder, around) }];
    const projects = Object.entries(objectAt(document, ["projects"]));
    return [
      { path: servers },
      ...projects.flatMap(([name, project]): Section[] => {
        if (!isObject(project) || !isObject(project["mcpServers"])) return [];
        const path = ["projects", name, "mcpServers"];
        return [{ path, folder: name, disabled: stringsIn(project["disabledMcpServers"]) }];
      }),
    ];
  },
  ownSection: () => servers,
  read: (raw, scene) => readEntry({ ...raw, callTimeoutMs: raw["timeout"] ?? raw["callTimeoutMs"] }, "shell", scene),
  plugin: (around) => claudePlugin(claudeCode.folder(around)),
  ownEntry: ([command, ...args]) => ({ type: "stdio", command, args, env: {} }),
};

function userPath({ env }: AgentSurroundings): string {
  return join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), ".claude.json");
}

/** The servers of `.mcp.json` that the user has rejected, in any of the files that record it. */
function rejected(folder: string, around: AgentSurroundings): string[] {
  const settings = [
    join(claudeCode.folder(around), "settings.json"),
    join(folder, ".claude", "settings.json"),
    join(folder, ".claude", "settings.local.json"),
  ];
  const lists = settings.map((path) => settingsDocument(path)?.["disabledMcpjsonServers"]);
  const state = settingsDocument(userPath(around));
  for (let project = folder; ; project = dirname(project)) {
    lists.push(valueAt(state, ["projects", project, "disabledMcpjsonServers"]));
    if (project === dirname(project)) break;
  }
  return lists.flatMap(stringsIn);
}
