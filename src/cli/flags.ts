/** Refuses what a command does not know, before citty parses: unknown flags, missing values, words too many. */
import { type ParseArgsConfig, parseArgs } from "node:util";
import { ClaudikinsError } from "../errors.ts";
import { didYouMean } from "../near-names.ts";
import type { Args } from "./command.ts";

/** Marks a flag that may be given several times, each with a value: see `valuesOf`. */
export const repeatable = { repeatable: true } as const;

/** Marks a last argument that may be several words: see `valuesOf`. After `--` they may look like flags. */
export const several = { several: true } as const;

/** The same, of words that are `name=value`: what is no flag may be meant as one of them. */
export const pairs = { ...several, pairs: true } as const;

type Options = NonNullable<ParseArgsConfig["options"]>;

/** Throws USAGE naming the first thing that is wrong. `-` alone is a positional: standard input. */
export function checkFlags(rawArgs: string[], args: Args, commandName: string): void {
  const options = optionsOf(args);
  const hint = `For all flags and arguments: claudikins ${commandName} --help`;
  const tokens = tokensOf(rawArgs, options);
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    const known = options[token.name];
    if (!known) {
      const near = didYouMean(
        token.rawName,
        Object.keys(options).map((name) => `--${name}`),
      );
      const takesPairs = Object.values(args).some((each) => each.pairs);
      const pair = takesPairs ? `To pass it as an argument, leave out the dashes: ${token.name}=value.` : undefined;
      throw new ClaudikinsError("USAGE", `Unknown flag ${token.rawName}`, {
        hint: [near, pair, hint].filter(Boolean).join(" "),
      });
    }
    if (known.type === "string" && (token.value === undefined || token.value === "")) {
      throw new ClaudikinsError("USAGE", `${token.rawName} needs a value`, { hint });
    }
    if (token.value?.startsWith("--") && !token.inlineValue) {
      throw new ClaudikinsError("USAGE", `${token.rawName} needs a value, and ${token.value} looks like a flag`, {
        hint: `If that is the value, write --${token.name}=${token.value}`,
      });
    }
    if (known.type === "boolean" && token.value !== undefined) {
      throw new ClaudikinsError("USAGE", `${token.rawName} takes no value`, { hint });
    }
    if (seen.has(token.name) && !args[token.name]?.repeatable)
      throw new ClaudikinsError("USAGE", `${token.rawName} is given twice`, { hint });
    seen.add(token.name);
  }
  const words = tokens.filter((token) => token.kind === "positional");
  const places = Object.entries(args).filter(([, definition]) => definition.type === "positional");
  const [missing] = places.find(([, { required }], place) => required !== false && !words[place]) ?? [];
  if (missing !== undefined) throw new ClaudikinsError("USAGE", `Missing argument: ${missing}`, { hint });
  const extra = words[places.length];
  if (extra && !places.at(-1)?.[1].several) {
    throw new ClaudikinsError("USAGE", `Unexpected argument "${extra.value}"`, {
      hint: places.length > 0 ? `Quote arguments that contain spaces. ${hint}` : hint,
    });
  }
}

/** All that a repeatable flag was given, each once; of an argument all the words from its place on. */
export function valuesOf(rawArgs: string[], args: Args, flag: string): string[] {
  if (args[flag]?.type === "positional") {
    const words = tokensOf(rawArgs, optionsOf(args)).flatMap((token) =>
      token.kind === "positional" ? [token.value] : [],
    );
    const places = Object.keys(args).filter((name) => args[name]?.type === "positional");
    return words.slice(places.indexOf(flag));
  }
  const values = tokensOf(rawArgs, optionsOf(args)).flatMap((token) =>
    token.kind === "option" && token.name === flag && token.value !== undefined ? [token.value] : [],
  );
  return [...new Set(values)];
}

function optionsOf(args: Args): Options {
  const options: Options = {};
  for (const [name, definition] of Object.entries(args)) {
    if (definition.type === "positional") continue;
    const [short] = "alias" in definition ? [definition.alias].flat() : [];
    options[name] = {
      type: definition.type === "boolean" ? "boolean" : "string",
      ...(short?.length === 1 ? { short } : {}),
    };
  }
  return options;
}

function tokensOf(args: string[], options: Options) {
  return parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

/** `NAME=value` and the like, by their names. The values may be secrets: errors do not show them. Throws USAGE. */
export function parsePairs(
  values: readonly string[],
  flag: string,
  { form, shown }: { form: RegExp; shown: string },
): Map<string, string | undefined> {
  return new Map(
    values.map((value) => {
      const [, name, text] = form.exec(value) ?? [];
      if (name !== undefined) return [name, text];
      throw new ClaudikinsError("USAGE", `${flag} takes ${shown}`);
    }),
  );
}

/** `5000` and `5000ms` are milliseconds, `5s` seconds, `2m` minutes. Throws USAGE. */
export function parseDuration(text: string, flag: string, maxMs: number): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)?$/.exec(text);
  const unit = { ms: 1, s: 1_000, m: 60_000 }[match?.[2] ?? "ms"] ?? 1;
  const ms = Math.round(Number(match?.[1]) * unit);
  if (!match || ms < 1 || ms > maxMs) {
    throw new ClaudikinsError(
      "USAGE",
      `${flag} takes a time like 5000, 5s or 2m, at most ${maxMs / 60_000}m; got "${text}"`,
    );
  }
  return ms;
}

/** A whole number within limits. Throws USAGE. */
export function parseCount(text: string, flag: string, max: number): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new ClaudikinsError("USAGE", `${flag} takes a whole number from 1 to ${max}; got "${text}"`);
  }
  return value;
}

/** One of a few words. Throws USAGE. */
export function parseChoice<const T extends string>(text: string, flag: string, choices: readonly T[]): T {
  const chosen = choices.find((choice) => choice === text);
  if (chosen === undefined) {
    throw new ClaudikinsError("USAGE", `${flag} takes ${alternatives(choices)}; got "${text}"`, {
      hint: didYouMean(text, [...choices]),
    });
  }
  return chosen;
}

/** `names, signatures or full`. */
function alternatives(choices: readonly string[]): string {
  return choices.join(", ").replace(/, ([^,]+)$/, " or $1");
}

/** `4600`, `127.0.0.1:4600`, `[::1]:4600`, `host:4600`; without a host it is this machine's own. Throws USAGE. */
export function parseAddress(text: string, flag: string): { host: string; port: number } {
  const match = /^(?:(\[[\da-f:.]+\]|[^\s:/@[\]]+):)?(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65_535) {
    throw new ClaudikinsError("USAGE", `${flag} takes a port, or host:port; got "${text}"`, {
      hint: "Examples: 4600, 127.0.0.1:4600, [::1]:4600, 0.0.0.0:4600. Port 0 picks a free port.",
    });
  }
  return { host: match[1]?.replace(/^\[(.*)\]$/, "$1") ?? "127.0.0.1", port };
}
