/** A temporary folder for each test of a file, or one for all of them. Most tests use it as the home and as the working directory. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "bun:test";
import { processesLeft } from "./process.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary.ts";

export interface OwnFolderOptions {
  /** All tests of the file, or of the `describe` block, use the same folder. */
  isShared?: true;
  /** A process with the folder on its command line is left after a test, which is a failure. */
  endsProcesses?: true;
}

/**
 * Call it once at the top of a file, or of a `describe` block. The folder exists before the file's own `beforeEach`. Do not use it in a
 * file whose own `afterEach` needs the folder: that one would find it removed.
 */
export function ownFolder({ isShared, endsProcesses }: OwnFolderOptions = {}): TemporaryFolder {
  let folder: TemporaryFolder | undefined;
  const begin = () => {
    folder = temporaryFolder();
  };
  const end = async () => {
    const { path, [Symbol.dispose]: remove } = opened();
    if (endsProcesses) expect(await processesLeft(path)).toEqual([]);
    remove();
  };
  function opened(): TemporaryFolder {
    if (!folder) throw new Error("there is no folder before the first test");
    return folder;
  }
  if (isShared) {
    beforeAll(begin);
    afterAll(end);
  } else {
    beforeEach(begin);
    afterEach(end);
  }
  return {
    get path() {
      return opened().path;
    },
    write: (name, content) => opened().write(name, content),
    [Symbol.dispose]: () => opened()[Symbol.dispose](),
  };
}
