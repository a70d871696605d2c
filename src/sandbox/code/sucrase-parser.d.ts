/** The parser within sucrase, of which its package declares no types at this path. */
declare module "sucrase/dist/parser/index.js" {
  /** Throws SyntaxError for what is neither. */
  export function parse(
    source: string,
    jsx: boolean,
    typescript: boolean,
    flow: boolean,
  ): { tokens: { start: number; end: number }[] };
}
