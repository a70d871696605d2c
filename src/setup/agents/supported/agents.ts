/** All supported agents. Agents whose entries need the most translation have files of their own. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError } from "../../../base/errors.ts";
import { namesIn } from "../../../base/files.ts";
import { isObject, objectAt, stringsIn, valueAt } from "../../../base/json-object.ts";
import { didYouMean } from "../../../base/near-names.ts";
import { homeOf } from "../../../config/locations.ts";
import { codex } from "./codex.ts";
import { readEntry } from "./entry.ts";
import type { Agent, AgentSurroundings, SettingsFile } from "./model.ts";
import { claudeCode, moreAgents } from "./more-agents.ts";
import { opencode } from "./opencode.ts";
import { desktopExtension, geminiExtension } from "./plugins.ts";
import { applicationData, configFolder, projectFiles, settingsDocument, userFile } from "./settings-files.ts";

const mcpServers = ["mcpServers"] as const;

/** Local programs only. */
const claudeDesktop: Agent = {
  name: "claude-desktop",
  title: "Claude Desktop",
  folder: (around) => join(applicationData(around), "Claude"),
  files: (around) => [userFile(join(claudeDesktop.folder(around), "claude_desktop_config.json"))],
  ownSection: () => mcpServers,
  read: (raw, scene) => readEntry(raw, "none", scene),
  plugin: (around) => desktopExtension(claudeDesktop.folder(around)),
  ownEntry: ([command, ...args]) => ({ command, args }),
};

export const cursor: Agent = {
  name: "cursor",
  title: "Cursor",
  folder: ({ env }) => join(homeOf(env), ".cursor"),
  memory: { project: "AGENTS.md" },
  files: (around) => [
    userFile(join(cursor.folder(around), "mcp.json")),
    ...projectFiles([join(".cursor", "mcp.json")], around),
  ],
  ownSection: () => mcpServers,
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ command, args }),
};

/** `mcp.json` of the user, of each profile and of a project; `mcp` in the settings of older versions. */
export const vscode: Agent = {
  name: "vscode",
  title: "VS Code",
  folder: (around) => join(applicationData(around), "Code"),
  memory: { project: "AGENTS.md" },
  files: (around) => [
    ...["Code", "Code - Insiders"].flatMap((product) => vscodeFiles(product, around)),
    ...projectFiles([join(".vscode", "mcp.json"), join(".vscode", "settings.json")], around),
  ],
  ownSection: (_, { path }) => (path.endsWith("settings.json") ? ["mcp", "servers"] : ["servers"]),
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ type: "stdio", command, args }),
};

function vscodeFiles(product: string, around: AgentSurroundings): SettingsFile[] {
  const user = join(applicationData(around), product, "User");
  const folders = [user, ...namesIn(join(user, "profiles")).map((name) => join(user, "profiles", name))];
  return folders.flatMap((folder) =>
    ["mcp.json", "settings.json"].map((name) => userFile(join(folder, name), "json", folder)),
  );
}

const windsurf: Agent = {
  name: "windsurf",
  title: "Windsurf",
  folder: ({ env }) => join(homeOf(env), ".codeium", "windsurf"),
  memory: { project: "AGENTS.md", user: join("memories", "global_rules.md") },
  files: (around) => [
    userFile(join(windsurf.folder(around), "mcp_config.json")),
    // Windsurf's plugins for other editors use this file.
    userFile(join(homeOf(around.env), ".codeium", "mcp_config.json"), "json", "plugins"),
  ],
  ownSection: () => mcpServers,
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ command, args }),
};

/** `mcpServers` in the settings of the user and of a project, with lists of allowed and excluded servers. */
export const gemini: Agent = {
  name: "gemini",
  title: "Gemini CLI",
  folder: ({ env }) => join(homeOf(env), ".gemini"),
  memory: { project: "GEMINI.md", user: "GEMINI.md" },
  files: (around) => [
    userFile(join(gemini.folder(around), "settings.json")),
    ...projectFiles([join(".gemini", "settings.json")], around),
  ],
  sections(document, _, around) {
    const excluded = [valueAt(document, ["mcp", "excluded"]), document["excludeMCPServers"]].flatMap(stringsIn);
    const allowed = valueAt(document, ["mcp", "allowed"]) ?? document["allowMCPServers"];
    const names = Object.keys(objectAt(document, mcpServers));
    const notAllowed = Array.isArray(allowed) ? names.filter((name) => !allowed.includes(name)) : [];
    // The servers that were disabled with `gemini mcp disable`.
    const states = settingsDocument(join(gemini.folder(around), "mcp-server-enablement.json"));
    const off = names.filter((name) => valueAt(states, [name.toLowerCase().trim(), "enabled"]) === false);
    return [{ path: mcpServers, disabled: [...excluded, ...notAllowed, ...off] }];
  },
  ownSection: () => mcpServers,
  read: (raw, scene) => readEntry({ ...raw, callTimeoutMs: raw["timeout"] ?? raw["callTimeoutMs"] }, "gemini", scene),
  plugin: (around) => geminiExtension(gemini.folder(around), around),
  ownEntry: ([command, ...args]) => ({ command, args }),
  allowLists: (document) =>
    [["mcp", "allowed"], ["allowMCPServers"]].filter((path) => Array.isArray(valueAt(document, path))),
};

/** `context_servers` in the settings of the user and of a project. Servers of Zed extensions are not imported. */
export const zed: Agent = {
  name: "zed",
  title: "Zed",
  folder(around) {
    if (around.platform === "win32") return join(applicationData(around), "Zed");
    const isMac = around.platform === "darwin";
    return join(isMac ? join(homeOf(around.env), ".config") : configFolder(around.env), "zed");
  },
  memory: { project: "AGENTS.md", user: "AGENTS.md" },
  files: (around) => [
    userFile(join(zed.folder(around), "settings.json")),
    ...projectFiles([join(".zed", "settings.json")], around),
  ],
  ownSection: () => ["context_servers"],
  read(raw, scene) {
    const { command, timeout } = raw;
    if (raw["source"] === "extension" || (command === undefined && raw["url"] === undefined)) {
      return { skipped: "it comes with a Zed extension" };
    }
    // In the older format, `command` is an object with the path, the arguments and the variables.
    const inner = isObject(command) ? { command: command["path"], args: command["args"], env: command["env"] } : {};
    // `timeout` is in seconds, for one call.
    const times = typeof timeout === "number" ? { callTimeoutMs: timeout * 1_000 } : {};
    return readEntry({ ...raw, ...inner, ...times }, "none", scene);
  },
  ownEntry: ([command, ...args]) => ({ command, args, env: {} }),
};

/** In the order in which they are shown. */
export const agents: readonly Agent[] = [
  claudeCode,
  claudeDesktop,
  cursor,
  vscode,
  windsurf,
  codex,
  gemini,
  opencode,
  zed,
  ...moreAgents,
];

export const agentNames = agents.map(({ name }) => name);

/** The agents with these names; all if there are no names. Throws USAGE for an unknown name. */
export function chosenAgents(names: readonly string[]): readonly Agent[] {
  for (const name of names) {
    if (!agentNames.some((each) => each === name)) throw unknownAgent(name, agentNames);
  }
  return names.length === 0 ? agents : agents.filter(({ name }) => names.includes(name));
}

/** The error for an unknown agent. `known` are the possible names. */
export function unknownAgent(name: string, known: readonly string[]): ClaudikinsError {
  return new ClaudikinsError("USAGE", `Unknown agent "${name}"`, {
    hint: [didYouMean(name, agentNames), `Known agents: ${known.join(", ")}.`].filter(Boolean).join(" "),
  });
}

/** The agents installed here, which have a settings file or a folder. */
export function agentsHere(around: AgentSurroundings): Agent[] {
  return agents.filter(
    (agent) =>
      agent.files(around).some(({ path, folder }) => folder === undefined && existsSync(path)) ||
      existsSync(agent.folder(around)),
  );
}
