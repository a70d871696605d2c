/** Opens a file in the person's editor, and waits until they are done. */
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Io } from "./io.ts";

/** Words of a command, and no shell between. Throws USAGE where none is named and there is no terminal for the usual one. */
export function editorOf(env: Environment, isTerminal: boolean): string[] {
  const words = (env["VISUAL"] || env["EDITOR"] || "").split(/\s+/).filter(Boolean);
  if (words.length > 0) return words;
  if (!isTerminal) {
    throw new ClaudikinsError("USAGE", "There is no terminal to open an editor in", {
      hint: "Set an editor that needs no terminal, such as EDITOR='code --wait'. To print the path of the file: claudikins config path",
    });
  }
  return [process.platform === "win32" ? "notepad" : "vi"];
}

/** Throws USAGE where the editor does not start or fails. */
export async function openEditor([program = "", ...args]: string[], file: string, { cwd, env }: Io): Promise<void> {
  let code: number;
  try {
    code = await Bun.spawn([program, ...args, file], { cwd, env, stdio: ["inherit", "inherit", "inherit"] }).exited;
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `The editor ${program} cannot be started: ${messageOf(cause)}`, {
      hint: "Set EDITOR to another editor.",
    });
  }
  if (code === 0) return;
  throw new ClaudikinsError("USAGE", `The editor ${program} ended with exit code ${code}`, {
    hint: `The file was left as the editor saved it: ${file}`,
  });
}
