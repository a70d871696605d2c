/** The parser of sucrase, whose package declares no types for this path. */
declare module "sucrase/dist/parser/index.js" {
  /** Throws a SyntaxError if the source is neither JavaScript nor TypeScript. */
  export function parse(
    source: string,
    jsx: boolean,
    typescript: boolean,
    flow: boolean,
  ): { tokens: { start: number; end: number }[] };
}
