/** `--wire` and `--wire-file`: show or write the messages between claudikins and servers. */
import { resolve } from "node:path";
import type { Args } from "./command.ts";
import type { Io, Output } from "./io.ts";
import type { WireOutput } from "./wire-output.ts";

export const wireArgs = {
  wire: {
    type: "boolean",
    alias: "trace",
    description: "Show every message to and from servers on stderr as it happens, without secrets",
  },
  "wire-file": {
    type: "string",
    alias: "trace-file",
    valueHint: "file",
    description: "Write these messages in full to this file, one JSON document per line",
    complete: "file",
  },
} as const satisfies Args;

export interface WireFlags {
  wire?: boolean | undefined;
  "wire-file"?: string | undefined;
}

/**
 * Opens what the flags ask for, or returns undefined without them. Open it before the toolbox, so that it is closed after the
 * toolbox, and set it before the first call: `toolbox.pool.trace = wire?.trace`. Throws FILE_NOT_WRITABLE.
 */
export async function openWire(args: WireFlags, io: Io): Promise<WireOutput | undefined> {
  if (!showsWire(args)) return undefined;
  const file = args["wire-file"];
  const { WireOutput } = await import("./wire-output.ts");
  return new WireOutput({ isShown: args.wire === true, file: file && resolve(io.cwd, file) }, io);
}

/** With `--wire`, an output without progress: a line that is redrawn would stand between the messages. */
export function besideWire({ wire }: WireFlags, output: Output): Output {
  return wire ? { ...output, isTerminal: false } : output;
}

export function showsWire(args: WireFlags): boolean {
  return args.wire === true || args["wire-file"] !== undefined;
}
