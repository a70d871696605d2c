/** A subcommand: citty's definition, with what its help and completions say, and an Io instead of the process. */
import { type ArgDef, type CommandDef, defineCommand, type ParsedArgs } from "citty";
import { valuesOf } from "./flags.ts";
import type { Io } from "./io.ts";
import type { Shape } from "./shapes.ts";

/** What a shell offers for an argument or the value of a flag: see `completions/names.ts`. */
export type Completion =
  | "server"
  /** Of the config file, also where it is switched off. */
  | "entry"
  /** The same, and all tools that are known, also those that are denied. */
  | "switch"
  | "tool"
  /** `key=value` of the tool that the first argument names. */
  | "parameter"
  | "category"
  /** A server of the catalog. */
  | "catalog"
  /** Of the environment. */
  | "variable"
  /** One that was recorded. */
  | "execution"
  | "file"
  | "folder";

export type Arg = ArgDef & {
  /** The only values there are. */
  choices?: readonly string[];
  complete?: Completion;
  /** May be given several times, each with a value. */
  repeatable?: boolean;
  /** The last argument may be several words. */
  several?: boolean;
  /** Its words are `name=value`. */
  pairs?: boolean;
};

export type Args = Record<string, Arg>;

export interface Command {
  definition: CommandDef<Args>;
  args: Args;
  description: string;
  /** Lines of `$ claudikins …` for the help text. */
  examples: string[];
  json: Shape | undefined;
  jsonFailure: Readonly<Record<string, Shape>>;
}

/** `run` returns the exit code; what it throws becomes one by the table in errors.ts. `all` gives the values of a repeatable flag. */
export function command<const T extends Args>(options: {
  name: string;
  description: string;
  args: T;
  examples: string[];
  /** The document that `--json` prints, as JSON Schema. Undefined where stdout stays empty. */
  json?: Shape;
  /** What stands beside `error` in the line of a failure, where there is something to tell. */
  jsonFailure?: Readonly<Record<string, Shape>>;
  run(args: ParsedArgs<T>, io: Io, all: (flag: keyof T & string) => string[]): Promise<number>;
}): Command {
  const { name, description, args, examples, json, jsonFailure = {}, run } = options;
  const all = { ...args, ...everywhereArgs };
  const definition = defineCommand<Args>({
    meta: { name, description },
    args: all,
    run: ({ args: parsed, data, rawArgs }) =>
      run(parsed as unknown as ParsedArgs<T>, data as Io, (flag) => valuesOf(rawArgs, all, flag)),
  });
  return { definition, args: all, description, examples, json, jsonFailure };
}

/** Flags that every command has. What they do, `run` does before it. */
export const everywhereArgs = {
  verbose: { type: "boolean", description: "Log details to stderr, like CLAUDIKINS_LOG=debug" },
} as const satisfies Args;

/** Flags that several commands have, so that they are the same everywhere. */
export const commonArgs = {
  config: {
    type: "string",
    valueHint: "file",
    description: "Config file (default: CLAUDIKINS_CONFIG, the nearest claudikins.json, then your own)",
    complete: "file",
  },
  json: { type: "boolean", description: "Print one JSON document and nothing else" },
} as const satisfies Args;
