/** How to start this program again: the compiled executable, or Bun with the source during development. */
import { join } from "node:path";

/** Returns the command and the arguments that run `claudikins <args>`. */
export function selfCommand(...args: string[]): [string, ...string[]] {
  if (Bun.isStandaloneExecutable) return [process.execPath, ...args];
  return [process.execPath, join(import.meta.dir, "..", "main.ts"), ...args];
}
