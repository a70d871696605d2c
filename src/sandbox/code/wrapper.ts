/** What code is wrapped in to be evaluated: a function on its first line, so that line numbers stay those of the code. */

/** The name that frames of the executed code have in stacks. */
export const codeFile = "main.ts";

const head = "(async(__exports)=>{";

/** Columns that the first line of the code is moved by. */
export const wrapperLength = head.length;

/** An expression that gives the code as a function, which takes the object for its exports. */
export function wrapped(code: string): string {
  return `${head}${code}\n})`;
}
