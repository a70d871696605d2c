/** The installation of this process. */
import { realpathSync } from "node:fs";
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

export function ownInstallation(): Installation {
  const source = Bun.isStandaloneExecutable ? undefined : join(import.meta.dir, "..", "..");
  return installationOf(path, builtIn, source);
}
