/** `--record`: records executions for `claudikins trace`. */
import { executionsFolder } from "../config/locations.ts";
import { openLog } from "../log.ts";
import { configOwner } from "../logs/place.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import type { Door } from "../trace/record.ts";
import { dim, paint } from "./colours.ts";
import type { Args } from "./command.ts";
import type { Io } from "./io.ts";

export const recordArgs = {
  record: {
    type: "boolean",
    description: "Also record code, arguments, results and logs, without secrets, for claudikins trace",
  },
} as const satisfies Args;

/** Starts recording. Call it before the first execution. Loads nothing if the config turns records off. */
export async function recordTo(
  toolbox: Toolbox,
  door: Door,
  args: { record?: boolean | undefined },
  io: Io,
): Promise<void> {
  const { record, origin } = toolbox.config;
  const mode = args.record ? "contents" : record;
  if (mode === false) return;
  const { ExecutionRecorder } = await import("../execution/recording.ts");
  const log = await openLog(io.env["CLAUDIKINS_LOG"]);
  const options = { folder: executionsFolder(io.env), mode, door, config: configOwner(origin), log };
  toolbox.recorder = new ExecutionRecorder(options);
}

/** Tells how to show the recorded execution. */
export function recordedLine({ recorder }: Toolbox, colours: boolean): string {
  return `${paint(`[recorded: claudikins trace ${recorder?.lastId}]`, dim, colours)}\n`;
}
