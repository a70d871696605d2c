/** Recognises the entry of claudikins in an agent's file, so that claudikins is never imported into itself. */
import { selfCommand } from "../../config/self.ts";

/** The key of the entry. */
export const ownName = "claudikins";

/** Programs that run the program in their first argument. */
const runners = new Set(["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "bun", "node", "cmd", "env", "deno"]);
const runnerWords = new Set(["dlx", "exec", "x", "run", "--"]);

/** Whether a command starts claudikins: by its name, through a package runner, or by the path of this executable. */
export function isOwnCommand(command: unknown, args: readonly unknown[]): boolean {
  if (typeof command !== "string") return false;
  const words = [command, ...args.filter((arg) => typeof arg === "string")];
  const self = selfCommand();
  if (self.every((word, place) => words[place] === word)) return true;
  if (isOwnProgram(command)) return true;
  if (!runners.has(programName(command))) return false;
  const place = words.findIndex(
    (word, at) => at > 0 && !/^[-/][-\w]*$/.test(word) && !runnerWords.has(word) && !isVariable(word),
  );
  const program = words[place];
  if (program === undefined) return false;
  return /[\\/]claudikins[\\/]src[\\/]main\.ts$/.test(program) || isOwnCommand(program, words.slice(place + 1));
}

function isOwnProgram(path: string): boolean {
  return programName(path).replace(/@[^@/]*$/, "") === ownName;
}

function programName(path: string): string {
  return (path.split(/[\\/]/).at(-1) ?? "").toLowerCase().replace(/\.(?:exe|cmd|ps1)$/, "");
}

/** Whether the word is a `NAME=value` before a program that `env` starts. */
function isVariable(word: string): boolean {
  return /^[A-Za-z_]\w*=/.test(word);
}
