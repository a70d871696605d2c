/** `--trace` and `--trace-file`: the messages to and from servers, of the commands that call them. */
import { resolve } from "node:path";
import type { Args } from "./command.ts";
import type { Io, Output } from "./io.ts";
import type { OpenTrace } from "./open-trace.ts";

export const traceArgs = {
  trace: {
    type: "boolean",
    description: "Show every message to and from servers on stderr as it happens, without secrets",
  },
  "trace-file": {
    type: "string",
    valueHint: "file",
    description: "Write these messages in full to this file, one JSON document per line",
    complete: "file",
  },
} as const satisfies Args;

export interface TraceFlags {
  trace?: boolean | undefined;
  "trace-file"?: string | undefined;
}

/**
 * To be opened before the toolbox, so that it ends after it, and given to its pool before anything is called:
 * `toolbox.pool.trace = trace?.trace`. Nothing is loaded where nobody asked. Throws FILE_NOT_WRITABLE.
 */
export async function traceOf(args: TraceFlags, io: Io): Promise<OpenTrace | undefined> {
  const file = args["trace-file"];
  if (!isTraced(args)) return undefined;
  const { OpenTrace } = await import("./open-trace.ts");
  return new OpenTrace({ isShown: args.trace === true, file: file && resolve(io.cwd, file) }, io);
}

/** For what is drawn and taken away again: it would stand between the lines of a trace. */
export function besideTrace({ trace }: TraceFlags, output: Output): Output {
  return trace ? { ...output, isTerminal: false } : output;
}

export function isTraced(args: TraceFlags): boolean {
  return args.trace === true || args["trace-file"] !== undefined;
}
