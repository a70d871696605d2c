/** Generated programs that have lost the right to be started: by a copy, an archive, a git that keeps no such rights. */
import { join } from "node:path";
import { changeMode, readIfThere, statsOf } from "../files.ts";
import { isProgramText } from "./emit.ts";
import type { RegistryServer } from "./model.ts";
import { generatedIn, pathOf } from "./store.ts";

/** Their paths; none on a system that has no such rights. */
export function notExecutable(folder: string, servers: readonly RegistryServer[]): string[] {
  if (process.platform === "win32") return [];
  return servers.flatMap((server) => {
    const target = pathOf(folder, server);
    return generatedIn(target, new Set())
      .map((name) => join(target, name))
      .filter((path) => ((statsOf(path)?.mode ?? 0o100) & 0o100) === 0 && isProgramText(readIfThere(path) ?? ""));
  });
}

/** Who may read one may start it. */
export function makeExecutable(path: string): void {
  const { mode } = statsOf(path) ?? { mode: 0 };
  changeMode(path, mode | ((mode & 0o444) >> 2));
}
