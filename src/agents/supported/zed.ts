/** Zed: `context_servers` in the settings of the user and of a project. Servers of Zed extensions are not imported. */
import { join } from "node:path";
import { homeOf } from "../../config/locations.ts";
import { isObject } from "../../json-object.ts";
import { readEntry } from "./entry.ts";
import type { Host, Surroundings } from "./model.ts";
import { applicationData, configFolder, projectFiles, userFile } from "./settings-files.ts";

const servers = ["context_servers"] as const;

export const zed: Host = {
  name: "zed",
  title: "Zed",
  files: (surroundings) => [
    userFile(userPath(surroundings)),
    ...projectFiles([join(".zed", "settings.json")], surroundings),
  ],
  sections: () => [{ path: servers }],
  ownSection: () => servers,
  read(raw, scene) {
    const { command } = raw;
    if (raw["source"] === "extension" || (command === undefined && raw["url"] === undefined)) {
      return { skipped: "it comes with a Zed extension" };
    }
    // In the older format, `command` is an object with the path, the arguments and the variables.
    const inner = isObject(command)
      ? { ...raw, command: command["path"], args: command["args"], env: command["env"] }
      : raw;
    const { timeout } = raw;
    // `timeout` is in seconds, for one call.
    const times = typeof timeout === "number" ? { callTimeoutMs: timeout * 1_000 } : {};
    return readEntry({ ...inner, ...times }, "none", scene);
  },
  ownEntry: ([command, ...args]) => ({ command, args, env: {} }),
};

function userPath(surroundings: Surroundings): string {
  const { env, platform } = surroundings;
  if (platform === "win32") return join(applicationData(surroundings), "Zed", "settings.json");
  const folder = platform === "darwin" ? join(homeOf(env), ".config") : configFolder(env);
  return join(folder, "zed", "settings.json");
}
