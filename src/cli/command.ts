/** The definition of a command: its arguments, flags and help, the shape of its JSON output, and the function that runs it. */
import { type ArgDef, defineCommand, type ParsedArgs } from "citty";
import type { Io } from "./io.ts";
import type { Shape } from "./shapes.ts";

/** The kind of names that a shell offers for an argument or for the value of a flag. See `completions/names.ts`. */
export type Completion =
  /** An enabled server of the config. */
  | "server"
  /** A server of the config file, enabled or not. */
  | "entry"
  /** A server of the config file or one of its known tools, including denied tools. */
  | "switch"
  | "tool"
  /** `key=value` for the tool that the first argument names. */
  | "parameter"
  | "category"
  /** A server of the catalog. */
  | "catalog"
  /** An environment variable. */
  | "variable"
  /** A recorded execution. */
  | "execution"
  | "file"
  | "folder";

/**
 * An argument or a flag: citty's definition, and what the reader of command lines, help and completions need beside it. The values
 * that it can take follow from the kind: see `Values`.
 */
export type Arg = ArgDef & {
  type: "positional" | "string" | "boolean";
  description: string;
  /** Placeholder for the value of a flag in the help; the default is the flag's name. */
  valueHint?: string;
  /** The one-letter form of a flag. */
  short?: string;
  /** A former name of a flag, which is still accepted but not shown. */
  alias?: string;
  /** Positional arguments are required unless this is false. */
  required?: boolean;
  /** All valid values, for completions and help. */
  choices?: readonly string[];
  /** Turns each given text into the value that the command gets. Throws USAGE, naming the flag, for a text that is not valid. */
  parse?: (text: string, flag: string) => unknown;
  complete?: Completion;
  /** The flag may be given more than once. */
  repeatable?: boolean;
  /** The last argument takes all remaining words; those after `--` may look like flags. */
  several?: boolean;
  /** The words of the argument are `name=value`, so an unknown flag may be one of them with dashes by mistake. */
  pairs?: boolean;
};

export type Args = Record<string, Arg>;

export const repeatable = { repeatable: true } as const;
export const several = { several: true } as const;
export const pairs = { several: true, pairs: true } as const;

type Parsed<A extends Arg> = A extends { parse: (text: string, flag: string) => infer V } ? V : string;

type Value<A extends Arg> = A extends { repeatable: true } | { several: true }
  ? Parsed<A>[]
  : A extends { type: "boolean" }
    ? boolean | undefined
    : A extends { required: true }
      ? Parsed<A>
      : Parsed<A> | undefined;

/** The values of a command line by argument and flag. A flag that is not given is undefined, or an empty list if repeatable. */
export type Values<T extends Args> = { [Name in keyof T]: Value<T[Name]> };

export interface Command {
  args: Args;
  description: string;
  /** Lines of `$ claudikins …` for the help text. */
  examples: string[];
  /** The document that `--json` prints, as JSON Schema. Undefined if the command prints none. */
  json: Shape | undefined;
  /** Properties beside `error` in the JSON of a failure. */
  jsonFailure: Readonly<Record<string, Shape>>;
  /** Returns the exit code. Errors become exit codes by the table in errors.ts. `commands` are all commands. */
  run(values: Values<Args>, io: Io, commands: CommandTable): Promise<number>;
}

/** A command in the table, loaded when it is needed. */
export interface Entry {
  summary: string;
  load: () => Promise<{ default: Command }>;
  /** Left out of help and suggestions. */
  hidden?: boolean;
}

/** Commands under one word, such as `auth`. */
export interface Group {
  summary: string;
  description: string;
  commands: Record<string, Entry>;
}

export type CommandTable = Readonly<Record<string, Entry | Group>>;

/** Defines a command of citty. `run` gets the values that its arguments declare. */
export function command<const T extends Args>(options: {
  description: string;
  args: T;
  examples: string[];
  json?: Shape;
  jsonFailure?: Readonly<Record<string, Shape>>;
  run(values: Values<T>, io: Io, commands: CommandTable): Promise<number>;
}): Command {
  const { args, json, jsonFailure = {}, run, ...texts } = options;
  const all: Args = { ...args, ...everywhereArgs };
  const definition = defineCommand<Args>({
    meta: { description: texts.description },
    args: all,
    run: ({ args: values, data }) => run(values as unknown as Values<T>, data.io, data.commands),
  });
  return {
    ...texts,
    args: all,
    json,
    jsonFailure,
    // The values come from our reader: citty's own parser accepts unknown flags and knows no repeated ones.
    run: async (values, io, commands) =>
      definition.run?.({
        rawArgs: [],
        args: { _: [], ...values } as unknown as ParsedArgs<Args>,
        cmd: definition,
        data: { io, commands },
      }),
  };
}

/** Flags of every command. `run.ts` applies them before the command starts. */
export const everywhereArgs = {
  verbose: { type: "boolean", description: "Log details to stderr, like CLAUDIKINS_LOG=debug" },
} as const satisfies Args;

/** Flags that several commands share. */
export const commonArgs = {
  config: {
    type: "string",
    valueHint: "file",
    description: "Config file (default: CLAUDIKINS_CONFIG, the nearest claudikins.json, then your own)",
    complete: "file",
  },
  json: { type: "boolean", description: "Print one JSON document and nothing else" },
} as const satisfies Args;
