/** The definition of a command: its arguments, flags and help, the shape of its JSON output, and the function that runs it. */
import { type ArgDef, defineCommand, type ParsedArgs } from "citty";
import type { ClaudikinsError } from "../base/errors.ts";
import type { Shape } from "../base/json-shape.ts";
import type { Io } from "./io.ts";

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
  /** A door of the config. */
  | "door"
  /** A server of the catalog. */
  | "catalog"
  /** A saved program. */
  | "program"
  /** A schedule of a saved program. */
  | "schedule"
  /** A trigger of a saved program. */
  | "trigger"
  /** `key=` for the input of the saved program that the first argument names. */
  | "input"
  /** An environment variable. */
  | "variable"
  /** A recorded execution. */
  | "execution"
  /** An execution that runs or waits, or whose outcome is kept. */
  | "kept"
  /** A call that waits for approval. */
  | "approval"
  /** A token of `serve --http`, by its id or its name. */
  | "token"
  | "person"
  /** A secret of the user that is set, or that a config names. */
  | "secret"
  | "file"
  | "folder";

/** What the reader of command lines, help and completions need to know of an argument or a flag, beside citty's definition. */
interface More {
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
  /** What follows the argument by mistake may be a secret, so the error does not show it, and says this instead. */
  unseen?: string;
  /** The words of the argument are `name=value`, so an unknown flag may be one of them with dashes by mistake. */
  pairs?: boolean;
}

/** An argument or a flag. The values that it can take follow from the kind: see `Values`. */
export type Arg = ArgDef & More & { type: "positional" | "string" | "boolean"; description: string };

export type Args = Record<string, Arg>;

/** A flag without a value. */
export function flag<const T extends More = object>(description: string, more?: T) {
  return { type: "boolean" as const, description, ...(more as T) };
}

/** A flag with a value. `more` is often the kind of the value: see `flags.ts`. */
export function option<const T extends More = object>(description: string, more?: T) {
  return { type: "string" as const, description, ...(more as T) };
}

/** A positional argument. */
export function place<const T extends More = object>(description: string, more?: T) {
  return { type: "positional" as const, description, ...(more as T) };
}

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
export type ArgumentValues<T extends Args> = { [Name in keyof T]: Value<T[Name]> };

/** How a command ended. The runner writes it, so commands know neither `--json` nor exit codes. */
export interface CommandAnswer {
  /** The document that `--json` prints. */
  json?: unknown;
  /** For people, on stdout. */
  text?: string;
  /** For people, on stderr, after the text. It says what failed, if something did. */
  note?: string;
  /** With `--json`, the error is one line on stderr, and nothing else is printed. */
  failure?: ClaudikinsError | undefined;
  /** Properties beside `error` in that line. */
  beside?: object;
  /** Default: the failure's, or 0. */
  exitCode?: number;
}

export interface Command {
  args: Args;
  description: string;
  /** Lines of `$ claudikins …` for the help text. */
  examples: string[];
  /** The document that `--json` prints, as JSON Schema. Undefined if the command prints none. */
  json: Shape | undefined;
  /** Properties beside `error` in the JSON of a failure. */
  jsonFailure: Readonly<Record<string, Shape>>;
  /** The help for what the words after the command name. Undefined: the general help of the command. */
  helpFor?: ((words: readonly string[], io: Io) => Promise<string | undefined>) | undefined;
  /** Errors become exit codes by the table in errors.ts. `commands` are all commands. */
  run(values: ArgumentValues<Args>, io: Io, commands: CommandTable): Promise<CommandAnswer>;
}

/** A command in the table, loaded when it is needed. */
export interface CommandEntry {
  summary: string;
  load: () => Promise<{ default: Command }>;
  /** Left out of help and suggestions. */
  hidden?: boolean;
}

/** Commands under one word, such as `auth`. */
export interface Group {
  summary: string;
  description: string;
  commands: Record<string, CommandEntry>;
  /** The command that runs if none is named. */
  default?: string;
}

export type CommandTable = Readonly<Record<string, CommandEntry | Group>>;

/** Flags of every command. `run.ts` applies them. */
export const everywhereArgs = {
  verbose: flag("Log details to stderr, like CLAUDIKINS_LOG=debug"),
} as const satisfies Args;

const jsonArgs = {
  json: flag("Print one JSON document and nothing else"),
} as const satisfies Args;

/** Defines a command of citty. `run` gets the values that its arguments declare. A command with `json` has the flag `--json`. */
export function command<const T extends Args>(options: {
  description: string;
  args: T;
  examples: string[];
  json?: Shape;
  jsonFailure?: Readonly<Record<string, Shape>>;
  helpFor?: Command["helpFor"];
  run(
    values: ArgumentValues<T> & ArgumentValues<typeof jsonArgs>,
    io: Io,
    commands: CommandTable,
  ): Promise<CommandAnswer>;
}): Command {
  const { json, jsonFailure = {}, run, ...texts } = options;
  const own: Args = options.args;
  const args: Args = { ...own, ...(json && !own["json"] ? jsonArgs : {}), ...everywhereArgs };
  const definition = defineCommand<Args>({
    meta: { description: texts.description },
    args,
    run: ({ args: values, data }) => run(values as unknown as Parameters<typeof run>[0], data.io, data.commands),
  });
  return {
    ...texts,
    args,
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
