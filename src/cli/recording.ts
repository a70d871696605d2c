/** Records the executions of a command for `claudikins trace`, and counts them in the ledger. */

import type { Toolbox } from "../app/toolbox.ts";
import { openLog } from "../base/log.ts";
import { executionsFolder } from "../config/locations.ts";
import { configOwner } from "../servers/logs/place.ts";
import { hookIn, hookKey } from "../tools/registry/hooks.ts";
import { type Args, flag } from "./command.ts";
import type { Io } from "./io.ts";

export const recordArgs = {
  record: flag("Also record code, arguments, results and logs, without secrets, for claudikins trace"),
} as const satisfies Args;

/** Starts recording. Call it before the first execution. Loads nothing if the config turns records off. */
export async function recordTo(toolbox: Toolbox, args: { record?: boolean | undefined }, { env }: Io): Promise<void> {
  const { record, origin } = toolbox.config;
  const mode = args.record ? "contents" : record;
  if (mode === false) return;
  const { ExecutionRecorder } = await import("../programs/recording.ts");
  const log = await openLog(env["CLAUDIKINS_LOG"]);
  toolbox.recorder = new ExecutionRecorder({
    folder: executionsFolder(env),
    mode,
    config: configOwner(origin),
    log,
  });
}

/** Counts a mark of a hook text. A shell has no sessions, so each command with a mark counts. */
export function countMark(toolbox: Toolbox, text: string): void {
  const hook = hookIn(text);
  if (hook && toolbox.config.hooks) toolbox.ledger.found(hookKey("shell", hook));
}
