/** A temporary folder that is removed when its `using` block ends. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TemporaryFolder extends Disposable {
  path: string;
  /** Writes a file below the folder, and returns its path. Objects become JSON. */
  write(name: string, content: string | object): string;
}

/**
 * Where temporary files are when they are not in memory: see `memory-disk.ts`. Tests use it whose result depends on the path, because the
 * folder in memory is in /dev.
 */
export const diskFolder: string = tmpdir();

export function temporaryFolder(below = tmpdir()): TemporaryFolder {
  const path = realpathSync(mkdtempSync(join(below, "claudikins-test-")));
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
