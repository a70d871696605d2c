/** Gemini CLI: `mcpServers` in the settings of the user and of a project, with lists of allowed and excluded servers. */
import { join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { objectAt, stringsIn, valueAt } from "../../json-object.ts";
import { parseJson } from "../../settings/edit/json.ts";
import { textOf } from "../../settings/file-text.ts";
import { readEntry } from "./entry.ts";
import type { Host } from "./model.ts";
import { projectFiles, userFile } from "./settings-files.ts";

const servers = ["mcpServers"] as const;
const fileName = join(".gemini", "settings.json");

export const gemini: Host = {
  name: "gemini",
  title: "Gemini CLI",
  files: (surroundings) => [
    userFile(join(homeOf(surroundings.env), fileName)),
    ...projectFiles([fileName], surroundings),
  ],
  sections(document, _, { env }) {
    const excluded = [valueAt(document, ["mcp", "excluded"]), document["excludeMCPServers"]].flatMap(stringsIn);
    const allowed = valueAt(document, ["mcp", "allowed"]) ?? document["allowMCPServers"];
    const names = Object.keys(objectAt(document, servers));
    const notAllowed = Array.isArray(allowed) ? names.filter((name) => !allowed.includes(name)) : [];
    return [{ path: servers, disabled: [...excluded, ...notAllowed, ...switchedOff(homeOf(env), names)] }];
  },
  ownSection: () => servers,
  read(raw, scene) {
    const { timeout } = raw;
    return readEntry(typeof timeout === "number" ? { ...raw, callTimeoutMs: timeout } : raw, "gemini", scene);
  },
  ownEntry: ([command, ...args]) => ({ command, args }),
  allowLists: (document) =>
    [["mcp", "allowed"], ["allowMCPServers"]].filter((path) => Array.isArray(valueAt(document, path))),
};

/** The servers that were disabled with `gemini mcp disable`. */
function switchedOff(home: string, names: string[]): string[] {
  try {
    const path = join(home, ".gemini", "mcp-server-enablement.json");
    const states = parseJson(textOf(path).text, path);
    return names.filter((name) => valueAt(states, [name.toLowerCase().trim(), "enabled"]) === false);
  } catch {
    return [];
  }
}
