/** What can come next on a command line: commands, flags, their values, arguments. */
import type { Arg, Args, Command } from "../command.ts";
import type { Entry, Group } from "../command-table.ts";
import type { Io } from "../io.ts";
import { type Candidate, namesOf, type Place } from "./names.ts";

export interface Offer {
  candidates: Candidate[];
  /** What the shell knows best itself; behind `--flag=` where that stands before it. */
  paths?: "files" | "folders";
}

type Table = Readonly<Record<string, Entry | Group>>;

const nothing: Offer = { candidates: [] };

/** `words` are those before the one that is being typed, without `claudikins`. Throws what the config and the registry do. */
export async function offer(
  words: string[],
  current: string,
  table: Table,
  surroundings: Pick<Io, "env" | "cwd">,
): Promise<Offer> {
  const isHelp = words[0] === "help";
  let among = table;
  for (let at = isHelp ? 1 : 0; at < words.length; at++) {
    const word = words[at]!;
    const known = Object.hasOwn(among, word) ? among[word] : undefined;
    if (!known) return nothing;
    if ("commands" in known) among = known.commands;
    else if (isHelp) return nothing;
    else return ofCommand((await known.load()).default, words.slice(at + 1), current, surroundings);
  }
  const shown = Object.entries(among).filter(([, entry]) => !("hidden" in entry && entry.hidden));
  const commands = shown.map(([value, { summary }]) => ({ value, about: summary }));
  if (isHelp) return { candidates: commands };
  if (current.startsWith("-")) return { candidates: among === table ? [help, versionFlag] : [help] };
  return {
    candidates: among === table ? [...commands, { value: "help", about: "Show help for a command" }] : commands,
  };
}

const help: Candidate = { value: "--help", about: "Show help" };
const versionFlag: Candidate = { value: "--version", about: "Print the version" };

async function ofCommand(
  { args }: Command,
  words: string[],
  current: string,
  surroundings: Pick<Io, "env" | "cwd">,
): Promise<Offer> {
  const { positionals, flags, awaited, isTerminated } = readWords(words, args);
  const valuesFor = (arg: Arg, place: string) => valuesOf(arg, { positionals, flags, current: place }, surroundings);
  if (awaited) return valuesFor(awaited, current);
  const [, name = "", value = ""] = (!isTerminated && /^--([^=]+)=(.*)$/s.exec(current)) || [];
  if (name !== "") {
    const arg = flagNamed(name, args);
    if (!arg || arg.type === "boolean") return nothing;
    const { candidates, ...rest } = await valuesFor(arg, value);
    return { ...rest, candidates: candidates.map((each) => ({ ...each, value: `--${name}=${each.value}` })) };
  }
  if (!isTerminated && current.startsWith("-") && current !== "-") return { candidates: flagsOf(args, flags) };
  const places = Object.values(args).filter(({ type }) => type === "positional");
  const place = places[positionals.length] ?? (places.at(-1)?.several ? places.at(-1) : undefined);
  if (place) return valuesFor(place, current);
  return isTerminated ? nothing : { candidates: flagsOf(args, flags) };
}

function flagNamed(name: string, args: Args): Arg | undefined {
  const arg = Object.hasOwn(args, name) ? args[name] : undefined;
  return arg?.type === "positional" ? undefined : arg;
}

/** Without those that stand there already. */
function flagsOf(args: Args, given: ReadonlyMap<string, string>): Candidate[] {
  const flags = Object.entries(args)
    .filter(([name, arg]) => arg.type !== "positional" && (arg.repeatable || !given.has(name)))
    .map(([name, { description }]) => ({ value: `--${name}`, about: description }));
  return [...flags, help];
}

interface Read {
  positionals: string[];
  flags: Map<string, string>;
  /** The flag whose value comes next. */
  awaited: Arg | undefined;
  /** After `--` nothing is a flag. */
  isTerminated: boolean;
}

/** As the parser will read them; what is wrong is passed over. */
function readWords(words: string[], args: Args): Read {
  const read: Read = { positionals: [], flags: new Map(), awaited: undefined, isTerminated: false };
  const shorts = new Map<string, string>(
    Object.entries(args).flatMap(([name, arg]) =>
      "alias" in arg ? [arg.alias].flat().map((short) => [`-${short}`, name] as const) : [],
    ),
  );
  let waiting = "";
  for (const word of words) {
    const [, long = shorts.get(word.slice(0, 2)), value = word.length > 2 ? word.slice(2) : undefined] =
      /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (waiting !== "") {
      read.flags.set(waiting, word);
      waiting = "";
    } else if (read.isTerminated || word === "-" || !word.startsWith("-")) read.positionals.push(word);
    else if (word === "--") read.isTerminated = true;
    else if (long !== undefined) {
      const given = word.startsWith("--") && !word.includes("=") ? undefined : value;
      read.flags.set(long, given ?? "");
      const arg = flagNamed(long, args);
      if (given === undefined && arg && arg.type !== "boolean") waiting = long;
    }
  }
  read.awaited = waiting === "" ? undefined : args[waiting];
  return read;
}

async function valuesOf(arg: Arg, place: Place, surroundings: Pick<Io, "env" | "cwd">): Promise<Offer> {
  const { choices = [], complete } = arg;
  const candidates: Candidate[] = choices.map((value) => ({ value }));
  if (complete === undefined) return { candidates };
  if (complete === "file" || complete === "folder") return { candidates, paths: `${complete}s` };
  const named = await namesOf(complete, place, surroundings);
  // What stands there already is not meant a second time.
  const given = new Set(arg.several ? place.positionals : []);
  return { candidates: [...candidates, ...named.filter(({ value }) => !given.has(value))] };
}
