/** Finds and repairs generated programs that have lost their executable bit, for example in an archive. */
import { join } from "node:path";
import { changeMode, readIfThere, statsOf } from "../files.ts";
import { isProgramText } from "./emit.ts";
import type { RegistryServer } from "./model.ts";
import { generatedIn, pathOf } from "./store.ts";

/** The paths of programs without the executable bit; none on Windows. */
export function notExecutable(folder: string, servers: readonly RegistryServer[]): string[] {
  if (process.platform === "win32") return [];
  return servers.flatMap((server) => {
    const target = pathOf(folder, server);
    return generatedIn(target, new Set())
      .map((name) => join(target, name))
      .filter((path) => ((statsOf(path)?.mode ?? 0o100) & 0o100) === 0 && isProgramText(readIfThere(path) ?? ""));
  });
}

/** Makes the file executable for everyone who can read it. */
export function makeExecutable(path: string): void {
  const { mode } = statsOf(path) ?? { mode: 0 };
  changeMode(path, mode | ((mode & 0o444) >> 2));
}
