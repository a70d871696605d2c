/** Limits the size of the workspace. */

import { maxFileBytes, maxWorkspaceBytes, maxWorkspaceEntries } from "../../limits.ts";
import { megabytes } from "./content.ts";
import { FileRefusal } from "./fault.ts";
import { type Amount, nothing } from "./tree.ts";

/** The workspace is measured again after this time. Until then, changes of other executions are not noticed. */
const quotaCountedForMs = 2_000;

export interface Quotas {
  fileBytes: number;
  workspaceBytes: number;
  /** Files and folders together. */
  workspaceEntries: number;
}

export const defaultQuotas: Quotas = {
  fileBytes: maxFileBytes,
  workspaceBytes: maxWorkspaceBytes,
  workspaceEntries: maxWorkspaceEntries,
};

const hint = "Remove files that you no longer need with fs.rm.";

/**
 * Counts the usage for one execution. Concurrent executions do not see each other's changes of the last two seconds, so together
 * they can exceed the quota by what they write in that time.
 */
export class Quota {
  readonly #quotas: Quotas;
  readonly #count: (enough: Amount) => Amount;
  #used = nothing();
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(quotas: Quotas, count: (enough: Amount) => Amount) {
    this.#quotas = quotas;
    this.#count = count;
  }

  /** Makes a change and counts it. Throws EDQUOT before, if the workspace would become too large. */
  charge(more: Amount, make: () => void): void {
    const { workspaceBytes, workspaceEntries } = this.#quotas;
    if (performance.now() - this.#countedAt > quotaCountedForMs) {
      this.#used = this.#count({ entries: workspaceEntries, bytes: workspaceBytes });
      this.#countedAt = performance.now();
    }
    if (more.entries > 0 && this.#used.entries + more.entries > workspaceEntries)
      throw new FileRefusal("EDQUOT", `./workspace holds at most ${workspaceEntries} files and folders`, hint);
    if (more.bytes > 0 && this.#used.bytes + more.bytes > workspaceBytes)
      throw new FileRefusal("EDQUOT", `./workspace holds at most ${megabytes(workspaceBytes)}`, hint);
    make();
    this.#used.entries += more.entries;
    this.#used.bytes += more.bytes;
  }

  /** Counts what was removed. */
  release({ entries, bytes }: Amount): void {
    this.#used.entries -= entries;
    this.#used.bytes -= bytes;
  }
}
