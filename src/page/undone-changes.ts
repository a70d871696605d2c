/** The latest changes of config files that the page can undo. */

import { randomUUID } from "node:crypto";
import { undoChange } from "../setup/settings/change-policy.ts";
import type { ChangedText } from "../setup/settings/policy-changes.ts";
import { RefusedRequest } from "./guard.ts";
import type { PageParts } from "./parts.ts";

/** Number of changes that can be undone: the latest ones. */
const maxUndoneChanges = 20;

export class UndoneChanges {
  readonly #options: PageParts;
  /** By their ids, the oldest first. */
  readonly #changes = new Map<string, ChangedText[]>();

  constructor(options: PageParts) {
    this.#options = options;
  }

  /** The id with which the changes are undone. Undefined if nothing has changed. */
  keep(...written: (ChangedText | undefined)[]): string | undefined {
    const changed = written.filter((each) => each !== undefined && each.before !== each.after) as ChangedText[];
    if (changed.length === 0) return undefined;
    const undo = randomUUID();
    this.#changes.set(undo, changed);
    const [oldest] = this.#changes.keys();
    if (this.#changes.size > maxUndoneChanges && oldest !== undefined) this.#changes.delete(oldest);
    return undo;
  }

  /** Writes the files as they were. Throws RefusedRequest if the change is not known, and what `undoChange` throws. */
  async undo(id: string): Promise<void> {
    const { app, env, isAnswered } = this.#options;
    const changed = this.#changes.get(id);
    if (!changed) throw new RefusedRequest(404, "This change can no longer be undone");
    for (const each of changed.toReversed()) await undoChange(each, env, { isAnswered, place: "page" });
    this.#changes.delete(id);
    await app.reload?.refresh();
  }
}
