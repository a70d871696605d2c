/** The package that a program on disk belongs to, wherever it is installed: the name in the nearest `package.json` or `pyproject.toml`. */
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

/** Folders above the program that are looked at. */
const maxLevels = 6;
const maxBytes = 262_144;

/** Undefined where the path leads to no file, or to one of no package. */
export function packageOf(path: string, cwd: string | undefined): string | undefined {
  if (!/[\\/]/.test(path) || !(isAbsolute(path) || cwd !== undefined)) return undefined;
  try {
    const file = realpathSync(resolve(cwd ?? "/", path));
    let folder = statSync(file).isDirectory() ? file : dirname(file);
    for (let level = 0; level < maxLevels; level++) {
      const name = nameIn(folder);
      if (name !== undefined) return name.toLowerCase();
      const above = dirname(folder);
      if (above === folder) return undefined;
      folder = above;
    }
  } catch {
    // It is not there, or may not be read: then nothing is known of it.
  }
  return undefined;
}

function nameIn(folder: string): string | undefined {
  const manifest = textOf(join(folder, "package.json"));
  if (manifest !== undefined) {
    // One without a name only says how the files beside it are read.
    const { name } = JSON.parse(manifest) as { name?: unknown };
    if (typeof name === "string" && name !== "") return name;
  }
  return /^\s*name\s*=\s*["']([^"']+)["']/m.exec(textOf(join(folder, "pyproject.toml")) ?? "")?.[1];
}

/** Undefined where there is no such file, or one that is too large for what it should be. */
function textOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= maxBytes ? readFileSync(path, "utf8") : undefined;
}
