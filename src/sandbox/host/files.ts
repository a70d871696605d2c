/** The files that code may reach: `./workspace`, read and write, and `./registry`, read only. Nothing else exists. */
import type { Mounts } from "../contract.ts";

export class Files {
  readonly mounts: Mounts;

  constructor(mounts: Mounts) {
    this.mounts = mounts;
  }

  /** Arguments and answer are JSON. Throws an Error with `code` (ENOENT …) and a message in the code's own paths. */
  run(operation: string, _argsJson: string): string {
    throw new Error(`there is no operation ${operation}`);
  }
}
