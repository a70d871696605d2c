/** `--record`, of the commands that run code: what is kept of it for `claudikins trace`. */
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

/** To be called before anything runs. Nothing is loaded where nothing is kept. */
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

/** For who has asked for it: how it is looked at. */
export function recordedLine({ recorder }: Toolbox, colours: boolean): string {
  return `${paint(`[recorded: claudikins trace ${recorder?.lastId}]`, dim, colours)}\n`;
}
