/** `--wire` and `--wire-file`: show or write the messages between claudikins and servers. */
import { resolve } from "node:path";
import { type Args, flag, option } from "../command.ts";
import type { Io, Output } from "../io.ts";
import type { WireOutput } from "../output/wire-output.ts";

export const wireArgs = {
  wire: flag("Show every message to and from servers on stderr as it happens, without secrets", { alias: "trace" }),
  "wire-file": option("Write these messages in full to this file, one JSON document per line", {
    alias: "trace-file",
    valueHint: "file",
    complete: "file",
  }),
} as const satisfies Args;

export interface WireFlags {
  wire?: boolean | undefined;
  "wire-file"?: string | undefined;
}

/**
 * Opens what the flags ask for, or returns undefined without them. Open it before the app, so that it is closed after the
 * app, which gets `wire?.trace`. Throws FILE_NOT_WRITABLE.
 */
export async function openWire(args: WireFlags, io: Io): Promise<WireOutput | undefined> {
  if (!showsWire(args)) return undefined;
  const file = args["wire-file"];
  const { WireOutput } = await import("../output/wire-output.ts");
  return new WireOutput({ isShown: args.wire === true, file: file && resolve(io.cwd, file) }, io);
}

/** The output for progress. With `--wire` there is none: a line that is redrawn would stand between the messages. */
export function besideWire({ wire }: WireFlags, { stderr }: Io): Output | undefined {
  return wire ? undefined : stderr;
}

export function showsWire(args: WireFlags): boolean {
  return args.wire === true || args["wire-file"] !== undefined;
}
