/** Writes the planned changes to the agents' files, one after the other. Each file is read again right before it is written. */
import { existsSync } from "node:fs";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { bytesOf, textOrNothing, writeThrough } from "../../config/file-text.ts";
import { Journal, removeAbandoned } from "./journal.ts";
import { type Plan, replan, type StartCommand } from "./rewire.ts";
import type { AgentSurroundings } from "./supported/model.ts";

/** Attempts for a file that its agent keeps changing. */
const maxApplyAttempts = 5;

export interface Applied {
  host: string;
  file: string;
  /** Set if the file was not written. */
  error?: ClaudikinsError;
}

export interface ApplyOptions {
  command: StartCommand;
  surroundings: AgentSurroundings;
  signal: AbortSignal;
}

/** A file that cannot be written is reported and does not stop the others. After an abort, no further file is written. */
export async function apply(plans: readonly Plan[], options: ApplyOptions): Promise<Applied[]> {
  const journal = new Journal(options.surroundings.env);
  return journal.alone(async () => {
    const applied: Applied[] = [];
    for (const plan of plans) {
      if (options.signal.aborted) break;
      const { agent, file } = plan.found;
      const about = { host: agent.name, file: file.path };
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

async function applyOne(first: Plan, journal: Journal, { command, surroundings }: ApplyOptions): Promise<void> {
  let plan = first;
  const { agent, file } = first.found;
  for (let attempt = 0; attempt < maxApplyAttempts; attempt++) {
    const now = textOrNothing(file.path);
    removeAbandoned(now.path);
    if (!now.bytes.equals(plan.found.content.bytes)) plan = await replan(plan, now, surroundings, command);
    const before = plan.found.content;
    const after = bytesOf(plan.after, before);
    const isNew = !existsSync(file.path);
    const { path, mode } = before;
    journal.add({ host: agent.name, file: file.path, path, mode, ...(isNew ? { isNew } : {}) }, before.bytes, after);
    if (!textOrNothing(file.path).bytes.equals(before.bytes)) {
      journal.remove(journal.changes.at(-1)!.id);
      continue;
    }
    writeThrough(path, after, before.mode);
    return;
  }
  throw new ClaudikinsError("FILE_NOT_WRITABLE", `${agent.title} keeps writing to ${file.path}`, {
    hint: `Quit ${agent.title} and run the command again. The file was not changed.`,
  });
}
