/** Recognises the entry of claudikins in an agent's file, so that claudikins is never imported into itself. */

import { isObject, type JsonObject, stringsIn } from "../../../base/json-object.ts";
import { selfCommand } from "../../../config/self.ts";

/** The key of the entry. */
export const claudikinsName = "claudikins";

/** Programs that run the program in their first argument. */
const runners = new Set(["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "node", "cmd", "env", "deno"]);
const runnerWords = new Set(["dlx", "exec", "x", "run", "--"]);

/** Whether the entry starts claudikins. */
export function startsClaudikins(entry: JsonObject): boolean {
  return isClaudikinsCommand(commandLineOf(entry));
}

/** The command with its arguments. `command` may be a string, a list with the arguments, or an object. */
export function commandLineOf({ command, args }: JsonObject): string[] {
  if (isObject(command)) return [String(command["path"]), ...stringsIn(command["args"])];
  return Array.isArray(command) ? stringsIn(command) : [String(command), ...stringsIn(args)];
}

/** The door behind which the command starts claudikins. */
export function doorOf(words: readonly string[]): string | undefined {
  const place = words.findIndex(isDoorFlag);
  if (place === -1) return undefined;
  const [, inline] = words[place]!.split("=", 2);
  return inline ?? words[place + 1];
}

const isDoorFlag = (word: string) => /^--door(?:=|$)/.test(word);

/** The entry with its command behind the door. Everything else in it stays as it is. */
export function withDoor(entry: JsonObject, door: string): JsonObject {
  const moved = (words: readonly string[]) => {
    const place = words.findIndex(isDoorFlag);
    const kept = place === -1 ? words : words.toSpliced(place, words[place] === "--door" ? 2 : 1);
    return [...kept, "--door", door];
  };
  const { command, args } = entry;
  if (isObject(command)) return { ...entry, command: { ...command, args: moved(stringsIn(command["args"])) } };
  if (Array.isArray(command)) return { ...entry, command: moved(stringsIn(command)) };
  return { ...entry, args: moved(stringsIn(args)) };
}

/**
 * Whether a command starts claudikins: by its name, through a package runner, or by the path of this executable. `claudikins demo` is
 * a server like any other.
 */
export function isClaudikinsCommand(words: readonly string[]): boolean {
  const args = argumentsOfClaudikins(words);
  return args !== undefined && args.find((word) => word !== "--") !== "demo";
}

/** The words after claudikins; undefined if the command starts another program. */
function argumentsOfClaudikins(words: readonly string[]): readonly string[] | undefined {
  const self = selfCommand();
  if (self.every((word, place) => words[place] === word)) return words.slice(self.length);
  const [command = "", ...args] = words;
  if (isOwnProgram(command)) return args;
  if (!runners.has(programName(command))) return undefined;
  const place = args.findIndex((word) => !/^[-/][-\w]*$/.test(word) && !runnerWords.has(word) && !isVariable(word));
  if (place === -1) return undefined;
  const [program = "", ...rest] = args.slice(place);
  return /[\\/]claudikins[\\/]src[\\/]main\.ts$/.test(program) ? rest : argumentsOfClaudikins([program, ...rest]);
}

function isOwnProgram(path: string): boolean {
  return programName(path).replace(/@[^@/]*$/, "") === claudikinsName;
}

function programName(path: string): string {
  return (path.split(/[\\/]/).at(-1) ?? "").toLowerCase().replace(/\.(?:exe|cmd|ps1)$/, "");
}

/** Whether the word is a `NAME=value` before a program that `env` starts. */
function isVariable(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}
