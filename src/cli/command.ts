/** A subcommand: citty's definition, with examples for its help and an Io instead of the process. */
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from "citty";
import { valuesOf } from "./flags.ts";
import type { Io } from "./io.ts";

export interface Command {
  definition: CommandDef<ArgsDef>;
  /** Lines of `$ claudikins …` for the help text. */
  examples: string[];
}

/** `run` returns the exit code; what it throws becomes one by the table in errors.ts. `all` gives the values of a repeatable flag. */
export function command<const T extends ArgsDef>(options: {
  name: string;
  description: string;
  args: T;
  examples: string[];
  run(args: ParsedArgs<T>, io: Io, all: (flag: keyof T & string) => string[]): Promise<number>;
}): Command {
  const { name, description, args, examples, run } = options;
  const all = { ...args, ...everywhereArgs };
  const definition = defineCommand<ArgsDef>({
    meta: { name, description },
    args: all,
    run: ({ args: parsed, data, rawArgs }) =>
      run(parsed as unknown as ParsedArgs<T>, data as Io, (flag) => valuesOf(rawArgs, all, flag)),
  });
  return { definition, examples };
}

/** Flags that every command has. What they do, `run` does before it. */
export const everywhereArgs = {
  verbose: { type: "boolean", description: "Say on stderr what happens, as CLAUDIKINS_LOG=debug does" },
} as const satisfies ArgsDef;

/** Flags that several commands have, so that they are the same everywhere. */
export const commonArgs = {
  config: {
    type: "string",
    valueHint: "file",
    description: "Config file (default: the nearest claudikins.json, then the user's)",
  },
  json: { type: "boolean", description: "Print one JSON document and nothing else" },
} as const satisfies ArgsDef;
