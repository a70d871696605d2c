/** `--trace` and `--trace-file`: the messages to and from servers, of the commands that call them. */
import { resolve } from "node:path";
import type { Args } from "./command.ts";
import type { Io } from "./io.ts";
import type { OpenTrace } from "./open-trace.ts";

export const traceArgs = {
  trace: { type: "boolean", description: "Show on stderr every message to and from servers, without secrets" },
  "trace-file": {
    type: "string",
    valueHint: "file",
    description: "Write them there, whole, a JSON document a line",
    complete: "file",
  },
} as const satisfies Args;

interface TraceFlags {
  trace?: boolean | undefined;
  "trace-file"?: string | undefined;
}

/**
 * To be opened before the toolbox, so that it ends after it, and given to its pool before anything is called:
 * `toolbox.pool.trace = trace?.trace`. Nothing is loaded where nobody asked. Throws FILE_NOT_WRITABLE.
 */
export async function traceOf(args: TraceFlags, io: Io): Promise<OpenTrace | undefined> {
  const file = args["trace-file"];
  if (!args.trace && file === undefined) return undefined;
  const { OpenTrace } = await import("./open-trace.ts");
  return new OpenTrace({ isShown: args.trace === true, file: file && resolve(io.cwd, file) }, io);
}
