/** What can follow on an unfinished command line: commands, flags, values and arguments. */
import type { Arg, Args, Command, CommandTable } from "../command.ts";
import { argumentPlaces, readCommandLine, readWords } from "../command-line.ts";
import { type Candidate, type CompletionContext, type CompletionIo, completedNames } from "./names.ts";

export interface Offer {
  candidates: Candidate[];
  /** The shell completes paths itself; for `--flag=`, what follows the equals sign. */
  paths?: "files" | "folders";
}

const nothing: Offer = { candidates: [] };

/** `words` are the words before the one that is being typed, without `claudikins`. Throws what the config and the registry do. */
export async function offer(
  words: string[],
  current: string,
  commands: CommandTable,
  surroundings: CompletionIo,
): Promise<Offer> {
  const { entry, table, unknown, rest, help } = readCommandLine(words, commands);
  if (unknown !== undefined) return nothing;
  if (entry) return help === "command" ? nothing : ofCommand((await entry.load()).default, rest, current, surroundings);
  const shown = Object.entries(table).filter(([, each]) => !("hidden" in each && each.hidden));
  const candidates = shown.map(([value, { summary }]) => ({ value, about: summary }));
  if (help) return help === "command" ? { candidates } : nothing;
  const isTop = table === commands;
  if (current.startsWith("-")) return { candidates: isTop ? [helpFlag, versionFlag] : [helpFlag] };
  return { candidates: isTop ? [...candidates, { value: "help", about: "Show help for a command" }] : candidates };
}

const helpFlag: Candidate = { value: "--help", about: "Show help" };
const versionFlag: Candidate = { value: "--version", about: "Print the version" };

async function ofCommand(
  { args }: Command,
  words: string[],
  current: string,
  surroundings: CompletionIo,
): Promise<Offer> {
  const { positionals, flags, awaited, isTerminated } = readWords(words, args);
  const given = new Map(flags.map(({ name, written, value = "" }) => [name ?? written, value]));
  const valuesFor = (arg: Arg, typed: string) =>
    valuesOf(arg, { positionals, flags: given, current: typed }, surroundings);
  if (awaited) return valuesFor(awaited, current);
  const isFlag = !isTerminated && current.startsWith("-") && current !== "-";
  if (isFlag && current.startsWith("--") && current.includes("=")) {
    const [typed] = readWords([current], args).flags;
    const arg = typed?.name === undefined ? undefined : args[typed.name];
    if (!typed || arg?.type !== "string") return nothing;
    const { candidates, ...rest } = await valuesFor(arg, typed.value ?? "");
    return { ...rest, candidates: candidates.map((each) => ({ ...each, value: `${typed.written}=${each.value}` })) };
  }
  if (isFlag) return { candidates: flagsOf(args, given) };
  const places = argumentPlaces(args).map(([, arg]) => arg);
  const place = places[positionals.length] ?? (places.at(-1)?.several ? places.at(-1) : undefined);
  if (place) return valuesFor(place, current);
  return isTerminated ? nothing : { candidates: flagsOf(args, given) };
}

/** Omits flags that are given already, unless they are repeatable. */
function flagsOf(args: Args, given: ReadonlyMap<string, string>): Candidate[] {
  const flags = Object.entries(args)
    .filter(([name, arg]) => arg.type !== "positional" && (arg.repeatable || !given.has(name)))
    .map(([name, { description }]) => ({ value: `--${name}`, about: description }));
  return [...flags, helpFlag];
}

async function valuesOf(arg: Arg, place: CompletionContext, surroundings: CompletionIo): Promise<Offer> {
  const { choices = [], complete } = arg;
  const candidates: Candidate[] = choices.map((value) => ({ value }));
  if (complete === undefined) return { candidates };
  if (complete === "file" || complete === "folder") return { candidates, paths: `${complete}s` };
  const named = await completedNames(complete, place, surroundings);
  // A list of names does not need the same name twice.
  const given = new Set(arg.several ? place.positionals : []);
  return { candidates: [...candidates, ...named.filter(({ value }) => !given.has(value))] };
}
