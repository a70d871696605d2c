/** Recognises the plugins and extensions of agents that start claudikins. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../../../base/files.ts";
import { type JsonObject, objectAt, stringsIn, valueAt } from "../../../base/json-object.ts";
import { parseFile } from "../../../config/edit/editor.ts";
import { textOf } from "../../../config/file-text.ts";
import { homeOf } from "../../../config/locations.ts";
import { claudikinsName } from "./claudikins-entry.ts";
import type { AgentSurroundings, InstalledPlugin, SettingsFile } from "./model.ts";
import { settingsDocument } from "./settings-files.ts";

/** `folder` is the agent's own. The plugin may come from any marketplace. */
export function claudePlugin(folder: string): InstalledPlugin | undefined {
  const enabled = objectAt(settingsDocument(join(folder, "settings.json")), ["enabledPlugins"]);
  const [name] = Object.keys(enabled).filter((key) => isOurs(key) && enabled[key] !== false);
  if (name === undefined) return undefined;
  return { kind: "plugin", givesWay: false, removal: `claude plugin disable ${name}` };
}

export function codexPlugin(settings: SettingsFile): InstalledPlugin | undefined {
  const plugins = objectAt(tomlOf(settings), ["plugins"]);
  const [name] = Object.keys(plugins).filter((key) => isOurs(key) && valueAt(plugins, [key, "enabled"]) !== false);
  if (name === undefined) return undefined;
  return { kind: "plugin", givesWay: true, removal: `codex plugin remove ${name}` };
}

export function geminiExtension(folder: string, { env }: AgentSurroundings): InstalledPlugin | undefined {
  const extensions = join(folder, "extensions");
  if (!existsSync(join(extensions, claudikinsName, "gemini-extension.json"))) return undefined;
  const rules = valueAt(settingsDocument(join(extensions, "extension-enablement.json")), [claudikinsName, "overrides"]);
  if (stringsIn(rules).includes(`!${homeOf(env)}/*`)) return undefined;
  return { kind: "extension", givesWay: true, removal: `gemini extensions disable ${claudikinsName}` };
}

/** An installed MCP bundle. */
export function desktopExtension(folder: string): InstalledPlugin | undefined {
  const extensions = join(folder, "Claude Extensions");
  const isEnabled = (id: string) =>
    settingsDocument(join(extensions, id, "manifest.json"))?.["name"] === claudikinsName &&
    settingsDocument(join(folder, "Claude Extensions Settings", `${id}.json`))?.["isEnabled"] !== false;
  if (!namesIn(extensions).some(isEnabled)) return undefined;
  return {
    kind: "extension",
    givesWay: false,
    removal: "Settings > Extensions in Claude Desktop",
  };
}

function isOurs(key: string): boolean {
  return key.startsWith(`${claudikinsName}@`);
}

function tomlOf(file: SettingsFile): JsonObject | undefined {
  try {
    return parseFile(textOf(file.path).text, file);
  } catch {
    return undefined;
  }
}
