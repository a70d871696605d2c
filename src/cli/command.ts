/** A subcommand: citty's definition, with examples for its help and an Io instead of the process. */
import { type ArgsDef, type CommandDef, defineCommand, type ParsedArgs } from "citty";
import type { Io } from "./io.ts";

export interface Command {
  definition: CommandDef<ArgsDef>;
  /** Lines of `$ claudikins …` for the help text. */
  examples: string[];
}

/** `run` returns the exit code; what it throws becomes one by the table in errors.ts. */
export function command<const T extends ArgsDef>(options: {
  name: string;
  description: string;
  args: T;
  examples: string[];
  run(args: ParsedArgs<T>, io: Io): Promise<number>;
}): Command {
  const { name, description, args, examples, run } = options;
  const definition = defineCommand<T>({
    meta: { name, description },
    args,
    run: ({ args: parsed, data }) => run(parsed, data as Io),
  });
  return { definition: definition as unknown as CommandDef<ArgsDef>, examples };
}

/** Flags that several commands have, so that they are the same everywhere. */
export const commonArgs = {
  config: {
    type: "string",
    valueHint: "file",
    description: "Config file (default: the nearest claudikins.json, then the user's)",
  },
  json: { type: "boolean", description: "Print one JSON document and nothing else" },
} as const satisfies ArgsDef;
