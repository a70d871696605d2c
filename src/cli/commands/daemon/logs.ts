/** `claudikins daemon logs`: the log of a config's daemon. */

import { closeSync, openSync, readSync, statSync } from "node:fs";
import { discoverConfig } from "../../../config/discover.ts";
import { placeOf } from "../../../daemon/place.ts";
import { readIfThere } from "../../../files.ts";
import { pause } from "../../../logs/follow.ts";
import { command, commonArgs } from "../../command.ts";
import { defaultLines, logFlags } from "../../flags.ts";
import type { Io } from "../../io.ts";
import { about, either, record, text, texts } from "../../shapes.ts";

export default command({
  description: "Show the log of this config's daemon: when it started and stopped, and which servers it started.",
  args: {
    ...logFlags,
    path: { type: "boolean", description: "Print the path of the log" },
    config: commonArgs.config,
    json: { type: "boolean", description: "Print one JSON document and nothing else; with --follow, one per line" },
  },
  examples: ["claudikins daemon logs", "claudikins daemon logs --follow"],
  json: either(
    record({ path: text, lines: texts }),
    about("With --path", record({ path: text })),
    about("With --follow: one line of the log", text),
  ),
  async run(args, io) {
    const most = args.lines ?? defaultLines;
    const origin = discoverConfig({ flag: args.config, cwd: io.cwd, env: io.env });
    const path = placeOf(origin.kind === "demo" ? undefined : origin.file, io.env).log;
    if (args.path) {
      await io.stdout.write(args.json ? `${JSON.stringify({ path })}\n` : `${path}\n`);
      return 0;
    }
    const text = readIfThere(path) ?? "";
    const lines = text.split("\n").filter(Boolean).slice(-most);
    if (args.follow) return followLog(path, lines, Buffer.byteLength(text), args.json === true, io);
    if (args.json) await io.stdout.write(`${JSON.stringify({ path, lines })}\n`);
    else if (lines.length === 0) await io.stderr.write("The log is empty: the daemon starts when a tool is called.\n");
    else await io.stdout.write(lines.map((line) => `${line}\n`).join(""));
    return 0;
  },
});

/** Follows the log from byte `from`. A log that was emptied is read from its beginning. */
async function followLog(path: string, first: string[], from: number, json: boolean, io: Io): Promise<number> {
  const show = (lines: string[]) =>
    io.stdout.write(lines.map((line) => `${json ? JSON.stringify(line) : line}\n`).join(""));
  await show(first);
  let offset = from;
  while (!io.interrupted.aborted && !io.stdout.isClosed) {
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size < offset) offset = 0;
    const added = size > offset ? bytesOf(path, offset, size) : Buffer.alloc(0);
    const end = added.lastIndexOf("\n") + 1;
    offset += end;
    if (end > 0) await show(added.toString("utf8", 0, end - 1).split("\n"));
    else await pause(io.interrupted);
  }
  return 0;
}

function bytesOf(path: string, from: number, to: number): Buffer {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
