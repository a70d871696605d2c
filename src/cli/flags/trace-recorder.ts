/** Records the executions of a command for `claudikins executions`. */

import { openLog } from "../../base/log.ts";
import type { Config } from "../../config/load.ts";
import type { TraceRecorder } from "../../programs/execution/recording.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { type Args, flag } from "../command.ts";
import type { Io } from "../io.ts";

export const recordArgs = {
  record: flag("Also record code, arguments, results and logs, without secrets, for claudikins executions"),
} as const satisfies Args;

/** The recorder of the executions. Undefined if the config turns records off: then nothing is loaded. */
export async function recorderOf(
  { record, origin }: Config,
  args: { record?: boolean | undefined },
  { env }: Io,
): Promise<TraceRecorder | undefined> {
  const mode = args.record ? "contents" : record;
  if (mode === false) return undefined;
  const { TraceRecorder } = await import("../../programs/execution/recording.ts");
  const log = await openLog(env["CLAUDIKINS_LOG"]);
  return new TraceRecorder({ mode, config: configOwner(origin), log });
}
