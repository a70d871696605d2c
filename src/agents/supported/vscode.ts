/** VS Code: `mcp.json` of the user, of each profile and of a project; `mcp` in the settings of older versions. */
import { join } from "node:path";
import { namesIn } from "../../files.ts";
import { readEntry } from "./entry.ts";
import type { Host, HostFile, Surroundings } from "./model.ts";
import { applicationData, projectFiles, userFile } from "./settings-files.ts";

const inMcpFile = ["servers"] as const;
const inSettings = ["mcp", "servers"] as const;

export const vscode: Host = {
  name: "vscode",
  title: "VS Code",
  files(surroundings) {
    const names = [join(".vscode", "mcp.json"), join(".vscode", "settings.json")];
    return [
      ...["Code", "Code - Insiders"].flatMap((product) => filesOf(product, surroundings)),
      ...projectFiles(names, surroundings),
    ];
  },
  sections: (_, { path }) => [{ path: isSettings(path) ? inSettings : inMcpFile }],
  ownSection: (_, { path }) => (isSettings(path) ? inSettings : inMcpFile),
  read: (raw, scene) => readEntry(raw, "editor", scene),
  ownEntry: ([command, ...args]) => ({ type: "stdio", command, args }),
};

function filesOf(product: string, surroundings: Surroundings): HostFile[] {
  const user = join(applicationData(surroundings), product, "User");
  const folders = [user, ...namesIn(join(user, "profiles")).map((name) => join(user, "profiles", name))];
  return folders.flatMap((folder) =>
    ["mcp.json", "settings.json"].map((name) => userFile(join(folder, name), "json", folder)),
  );
}

function isSettings(path: string): boolean {
  return /[\\/]settings\.json$/.test(path);
}
