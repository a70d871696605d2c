/** How to start this very program again: the compiled executable, or Bun with the source when developing. */
import { join } from "node:path";

/** Command and arguments that run `claudikins <args>`. */
export function selfCommand(...args: string[]): [string, ...string[]] {
  if (Bun.isStandaloneExecutable) return [process.execPath, ...args];
  return [process.execPath, join(import.meta.dir, "..", "main.ts"), ...args];
}
