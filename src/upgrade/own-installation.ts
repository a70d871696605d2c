/** The installation of this process. */
import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { builtIn } from "../built-in.ts";
import { type Installation, installationOf } from "./installation.ts";

/** Found at the start: once the executable is replaced, the system may give its path another ending. */
const path = (() => {
  try {
    return realpathSync.native(process.execPath);
  } catch {
    return process.execPath;
  }
})();

const stampAtStart = stamp();

function stamp(): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** A path with the bytes of this executable. Undefined if it was replaced since the start, and the system does not have the old one. */
export function ownBytes(): string | undefined {
  if (stampAtStart !== undefined && stamp() === stampAtStart) return path;
  return process.platform === "linux" ? "/proc/self/exe" : undefined;
}

export function ownInstallation(): Installation {
  const source = Bun.isStandaloneExecutable ? undefined : join(import.meta.dir, "..", "..");
  return installationOf(path, builtIn, source);
}
