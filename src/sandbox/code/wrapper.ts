/**
 * Wraps code in a function for evaluation. The function starts on the first line of the code, so that lines keep
 * their numbers.
 */

/** The file name of the executed code in stacks. */
export const codeFile = "main.ts";

const head = "(async(__exports)=>{";

/** Columns that the wrapper adds before the first line. */
export const wrapperLength = head.length;

/** An expression whose value is the code as a function. It takes the object for the exports. */
export function wrapped(code: string): string {
  return `${head}${code}\n})`;
}
