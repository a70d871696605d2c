/** Recognises the entry of claudikins in an agent's file, so that claudikins is never imported into itself. */
import { selfCommand } from "../../config/self.ts";
import { isObject, type JsonObject, stringsIn } from "../../json-object.ts";

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

/** Whether a command starts claudikins: by its name, through a package runner, or by the path of this executable. */
export function isClaudikinsCommand(words: readonly string[]): boolean {
  if (selfCommand().every((word, place) => words[place] === word)) return true;
  const [command = "", ...args] = words;
  if (isOwnProgram(command)) return true;
  if (!runners.has(programName(command))) return false;
  const place = args.findIndex((word) => !/^[-/][-\w]*$/.test(word) && !runnerWords.has(word) && !isVariable(word));
  const program = args[place] ?? "";
  return (
    /[\\/]claudikins[\\/]src[\\/]main\.ts$/.test(program) || (place !== -1 && isClaudikinsCommand(args.slice(place)))
  );
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
