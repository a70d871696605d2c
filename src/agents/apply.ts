/** Writes the planned changes to the agents' files, one after the other. Each file is read again right before it is written. */
import { existsSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { textOrNothing } from "../settings/file-text.ts";
import { writeThrough } from "../settings/write-through.ts";
import { Journal, removeLeftOvers } from "./journal.ts";
import { type Plan, type RewireOptions, replan } from "./rewire.ts";
import type { Surroundings } from "./supported/model.ts";

export interface Applied {
  host: string;
  file: string;
  /** Set if the file was not written. */
  error?: ClaudikinsError;
}

/** Attempts for a file that its agent keeps changing. */
const attempts = 5;

/** A file that cannot be written is reported and does not stop the others. After an abort, no further file is written. */
export async function apply(
  plans: readonly Plan[],
  options: RewireOptions & { surroundings: Surroundings; env: Environment; signal: AbortSignal },
): Promise<Applied[]> {
  const journal = new Journal(options.env);
  return journal.alone(async () => {
    const applied: Applied[] = [];
    for (const plan of plans) {
      if (options.signal.aborted) break;
      const { host, file } = plan.found;
      const about = { host: host.name, file: file.path };
      try {
        await applyOne(plan, journal, options);
        applied.push(about);
      } catch (thrown) {
        applied.push({ ...about, error: toClaudikinsError(thrown) });
      }
    }
    return applied;
  });
}

async function applyOne(
  first: Plan,
  journal: Journal,
  options: RewireOptions & { surroundings: Surroundings },
): Promise<void> {
  let plan = first;
  const { host, file } = first.found;
  for (let attempt = 0; attempt < attempts; attempt++) {
    const now = textOrNothing(file.path);
    removeLeftOvers(now.path);
    if (!now.bytes.equals(plan.before.bytes)) plan = await replan(plan, now, options.surroundings, options);
    const { before, after } = plan;
    const isNew = !existsSync(file.path);
    const { path, mode } = before;
    journal.add({ host: host.name, file: file.path, path, mode, ...(isNew ? { isNew } : {}) }, before.bytes, after);
    if (!textOrNothing(file.path).bytes.equals(before.bytes)) {
      journal.remove(journal.changes.at(-1)!.id);
      continue;
    }
    writeThrough(path, after, before.mode);
    return;
  }
  throw new ClaudikinsError("FILE_NOT_WRITABLE", `${host.title} keeps writing to ${file.path}`, {
    hint: `Quit ${host.title} and run the command again. The file was not changed.`,
  });
}
