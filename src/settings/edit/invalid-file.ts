/** The error for a settings file that cannot be read. */
import { ClaudikinsError } from "../../errors.ts";

/** CONFIG_INVALID with the file, the line of the offset, and what is wrong there. */
export function invalidFile(file: string, text: string, offset: number, why: string): ClaudikinsError {
  const line = text.slice(0, offset).split("\n").length;
  return new ClaudikinsError("CONFIG_INVALID", `${file}:${line}: ${why}`, {
    hint: "Fix the file and run the command again. The file was not changed.",
  });
}
