/** The one reader of command lines. Running a command, help, suggestions and completions all start from what it returns. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { ClaudikinsError } from "../base/errors.ts";
import { didYouMean } from "../base/near-names.ts";
import type { Arg, Args, ArgumentValues, CommandEntry, CommandTable, everywhereArgs, Group } from "./command.ts";

/** A command line up to the words that belong to the command itself. */
export interface CommandLine {
  /** The words that name the command, such as `auth login`. */
  path: string[];
  /** The named command. Undefined if the line ends before it, or names none. */
  entry: CommandEntry | undefined;
  /** The group that `path` names, if it names a group. */
  group: Group | undefined;
  /** The commands that can follow `path`. */
  table: CommandTable;
  /** The word after `path` that names no command. */
  unknown: string | undefined;
  /** The words after `path`, and after `unknown`. */
  rest: string[];
  version: boolean;
  /** Whether help is asked for, and how: `help exec` or `exec --help`. */
  help: "command" | "flag" | undefined;
  /** The help is about all commands, not only the first ones. */
  all: boolean;
  json: boolean;
  verbose: boolean;
}

const verboseFlag = `--${"verbose" satisfies keyof typeof everywhereArgs}`;
const isHelpFlag = (word: string | undefined) => word === "--help" || word === "-h";

/** Former names, and words that people try, with the words that they stand for. They are not shown. */
const otherWords: Readonly<Record<string, readonly string[]>> = {
  hooks: ["skill"],
  ls: ["list"],
  tools: ["list", "tools"],
  status: ["list"],
};

/** Finds the command that `argv` names. Never throws: `unknown` says what is wrong. */
export function readCommandLine(argv: readonly string[], commands: CommandTable): CommandLine {
  const end = argv.indexOf("--");
  const flags = end === -1 ? argv : argv.slice(0, end);
  const words = argv[0] === verboseFlag ? argv.slice(1) : [...argv];
  const [first = ""] = words;
  const isHelpCommand = first === "help";
  const named = isHelpCommand ? words.slice(1).filter((word) => !word.startsWith("-")) : words;
  const meant = Object.hasOwn(otherWords, named[0] ?? "") ? otherWords[named[0]!] : undefined;
  const line: CommandLine = {
    path: [],
    entry: undefined,
    group: undefined,
    table: commands,
    unknown: undefined,
    rest: meant ? [...meant, ...named.slice(1)] : named,
    version: ["--version", "-v", "version"].includes(first),
    help: isHelpCommand ? "command" : flags.some(isHelpFlag) ? "flag" : undefined,
    all: flags.includes("--all"),
    json: flags.includes("--json"),
    verbose: flags.includes(verboseFlag),
  };
  while (!line.entry && line.rest.length > 0 && !isHelpFlag(line.rest[0])) {
    if (line.group?.default !== undefined && line.rest[0]?.startsWith("-")) break;
    const word = line.rest.shift() ?? "";
    const found = Object.hasOwn(line.table, word) ? line.table[word] : undefined;
    if (!found) {
      line.unknown = word;
      break;
    }
    line.path.push(word);
    if ("commands" in found) {
      line.group = found;
      line.table = found.commands;
    } else line.entry = found;
  }
  return line;
}

/** The same line, with the default command of its group if it names none. */
export function withDefault(line: CommandLine): CommandLine {
  const { group, entry, unknown, help, path } = line;
  if (group?.default === undefined || entry || unknown !== undefined || help !== undefined) return line;
  return { ...line, path: [...path, group.default], entry: group.commands[group.default] };
}

/** A flag as it is written on the command line. */
interface WrittenFlag {
  /** The name in the command's definition. Undefined if the command has no such flag. */
  name: string | undefined;
  /** With its dashes: `--eval` or `-e`. */
  written: string;
  /** Undefined if nothing follows the flag. */
  value: string | undefined;
  /** The value is part of the same word, as in `--eval=code` or `-ecode`. */
  isInline: boolean;
}

/** The words that belong to a command itself. */
export interface CommandWords {
  flags: WrittenFlag[];
  positionals: string[];
  /** The definition of the last flag, if its value comes next. */
  awaited: Arg | undefined;
  /** The words contain `--`, after which nothing is a flag. */
  isTerminated: boolean;
}

/** Reads the words after the command's name. Never throws: unfinished and wrong lines can be read too. */
export function readWords(words: readonly string[], args: Args): CommandWords {
  const names = new Map<string, string>();
  const options: NonNullable<ParseArgsConfig["options"]> = {};
  for (const [name, { type, short, alias }] of flagsOf(args)) {
    for (const each of alias === undefined ? [name] : [name, alias]) {
      names.set(each, name);
      options[each] = { type, ...(short !== undefined && each === name ? { short } : {}) };
    }
  }
  const read: CommandWords = { flags: [], positionals: [], awaited: undefined, isTerminated: false };
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") read.positionals.push(token.value);
    else if (token.kind === "option-terminator") read.isTerminated = true;
    else {
      const { rawName: written, value, inlineValue: isInline = false } = token;
      read.flags.push({ name: names.get(token.name), written, value, isInline });
    }
  }
  const last = read.flags.at(-1);
  const lastArg = last?.name === undefined ? undefined : args[last.name];
  if (tokens.at(-1)?.kind === "option" && last?.value === undefined && lastArg?.type === "string") {
    read.awaited = lastArg;
  }
  return read;
}

/** Returns the values of the words after the command's name. Throws USAGE for the first mistake. */
export function commandValues<T extends Args>(
  words: readonly string[],
  args: T,
  commandName: string,
): ArgumentValues<T> {
  const read = readWords(words, args);
  check(read, args, `For all flags and arguments: claudikins ${commandName} --help`);
  const places = argumentPlaces(args).map(([name]) => name);
  const values = Object.entries(args).map(([name, { type, several, repeatable, parse = String }]) => {
    const given = read.flags.filter((flag) => flag.name === name);
    if (type === "boolean") return [name, given.length > 0 || undefined];
    const texts =
      type === "positional"
        ? read.positionals.slice(places.indexOf(name), several ? undefined : places.indexOf(name) + 1)
        : new Set(given.flatMap(({ value }) => value ?? []));
    const all = [...texts].map((text) => parse(text, type === "positional" ? commandName : `--${name}`));
    return [name, several || repeatable ? all : all[0]];
  });
  return Object.fromEntries(values);
}

/** The positional arguments in their order. */
export function argumentPlaces(args: Args): [string, Arg][] {
  return Object.entries(args).filter(([, { type }]) => type === "positional");
}

export function flagsOf(args: Args): [string, Flag][] {
  return Object.entries(args).filter((entry): entry is [string, Flag] => entry[1].type !== "positional");
}

type Flag = Arg & { type: "string" | "boolean" };

/** `-` alone is a positional argument: standard input. */
function check({ flags, positionals }: CommandWords, args: Args, hint: string): void {
  const refuse = (message: string, advice = hint) => new ClaudikinsError("USAGE", message, { hint: advice });
  const seen = new Set<string>();
  for (const { name, written, value, isInline } of flags) {
    const arg = name === undefined ? undefined : args[name];
    if (name === undefined || !arg) throw refuse(`Unknown flag ${written}`, unknownHint(written, args, hint));
    if (arg.type === "string" && !value) throw refuse(`${written} needs a value`);
    if (value?.startsWith("--") && !isInline) {
      const message = `${written} needs a value, and ${value} looks like a flag`;
      throw refuse(message, `If that is the value, write --${name}=${value}`);
    }
    if (arg.type === "boolean" && value !== undefined) throw refuse(`${written} takes no value`);
    if (seen.has(name) && !arg.repeatable) throw refuse(`${written} is given twice`);
    seen.add(name);
  }
  const places = argumentPlaces(args);
  const missing = places.find(([, { required }], place) => required !== false && place >= positionals.length);
  if (missing) throw refuse(`Missing argument: ${missing[0]}`);
  const extra = positionals[places.length];
  const last = places.at(-1)?.[1];
  if (extra !== undefined && !last?.several) {
    if (last?.unseen !== undefined) throw refuse(last.unseen);
    const quotes = places.length > 0 ? "Quote arguments that contain spaces. " : "";
    throw refuse(`Unexpected argument "${extra}"`, `${quotes}${hint}`);
  }
}

function unknownHint(written: string, args: Args, hint: string): string {
  const flags = flagsOf(args).map(([name]) => `--${name}`);
  const takesPairs = Object.values(args).some((arg) => arg.pairs);
  const name = written.replace(/^-+/, "");
  const pair = takesPairs ? `To pass it as an argument, leave out the dashes: ${name}=value.` : undefined;
  return [didYouMean(written, flags), pair, hint].filter(Boolean).join(" ");
}
