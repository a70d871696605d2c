/** Turns TypeScript into the body of an async function, and maps its positions back to the original. */
import { Lines, type Position } from "../ast/lines.ts";
import { Tree } from "../ast/tree.ts";
import { maxExplainedSyntaxChars, maxProgramChars, maxProgramTokens } from "../limits.ts";
import { CheckError } from "./check-error.ts";
import { Edits } from "./edits.ts";
import { onlyFence, withoutFences } from "./fences.ts";
import { mayHaveTypeArguments, parseProgram } from "./parse-program.ts";
import { rewriteModules } from "./rewrite-modules.ts";
import { rewriteProgram } from "./rewrite-program.ts";
import { rewriteLongNumbers } from "./rewrite-silent-mistakes.ts";
import { rewriteTypeScript } from "./rewrite-typescript.ts";
import { rewriteUsing } from "./rewrite-using.ts";

export interface Transpiled {
  /** Has the same lines as the original. */
  code: string;
  /** Notes about parts of the text that were left out. */
  notes: readonly string[];
  /** The program without its types and otherwise as it was written, for the check and for explanations. */
  plain: Tree;
  /** The offset in `plain` for a place of the transpiled code, as the engine tells it. */
  plainOffset(at: Position): number;
  originalPosition(plainOffset: number): Promise<Position>;
}

/**
 * Transpiles a program, or a module if its path is given. A program has a value, a module has exports. Throws a
 * CheckError if the code is not TypeScript.
 */
export async function transpile(written: string, module?: string): Promise<Transpiled> {
  if (written.length > maxProgramChars) throw tooLong(written.length, "characters", maxProgramChars);
  const tokens = tokensIn(written);
  if (tokens > maxProgramTokens) throw tooLong(tokens, "tokens", maxProgramTokens);
  try {
    return await transpileProgram(written, module);
  } catch (error) {
    // Code that is nested too deeply overflows the stack of a parser.
    if (!(error instanceof RangeError)) throw error;
    throw unreadable("The code is nested too deeply, or has an expression that is too long");
  }
}

async function transpileProgram(written: string, module: string | undefined): Promise<Transpiled> {
  const { source, plain, typed, notes } = await parseWritten(written);
  const edits = new Edits(plain.code);
  rewriteUsing(plain, edits);
  rewriteLongNumbers(plain, edits);
  const exportsDefault = rewriteModules(plain, edits, module);
  if (module === undefined) rewriteProgram(plain, edits, exportsDefault);
  const code = edits.apply();
  let trace: Promise<Trace> | undefined;
  const originalPosition = async (offset: number) => {
    const at = plain.lines.at(offset);
    if (!typed) return at;
    // Only an error needs the map.
    trace ??= traceOf(source);
    return (await trace)(at) ?? at;
  };
  const plainOffset = (at: Position) => edits.undo(engineOffset(code, at));
  return { code, notes, plain, plainOffset, originalPosition };
}

/** The offset of a position of the engine, which counts a character outside the basic plane as one column. */
function engineOffset(code: string, { line, column }: Position): number {
  let offset = new Lines(code).offset({ line, column: 1 });
  for (let left = column - 1; left > 0; left--) offset += (code.codePointAt(offset) ?? 0) > 0xff_ff ? 2 : 1;
  return offset;
}

/** Parses the text as code, or the code in its only fence. */
async function parseWritten(written: string): Promise<Parsed & { source: string; notes: string[] }> {
  const parseSource = async (source: string) => {
    return { source, notes: [] as string[], ...(parseJavaScript(source) ?? (await parseTypeScript(source))) };
  };
  const unfenced = withoutFences(written);
  try {
    // In JavaScript, a fence is a valid expression: a tagged template.
    if (/^[ \t]*```\w*[ \t]*$/m.test(unfenced))
      throw new CheckError({ name: "SyntaxError", message: "A Markdown fence", stack: "" });
    return await parseSource(unfenced);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    const only = onlyFence(written);
    const inner = only?.code ?? written;
    const parsed = only && (await parseSource(inner).catch(() => undefined));
    if (parsed && unfenced === written) {
      const { line } = new Lines(written).at(written.search(/\S/));
      return { ...parsed, notes: [`line ${line}: only the code between the fences was run, not the text around it.`] };
    }
    if (inner.length > maxExplainedSyntaxChars) throw error;
    const { explainSyntax } = await import("./unreadable.ts");
    throw new CheckError(explainSyntax(error.error, inner));
  }
}

interface Parsed {
  /** JavaScript. */
  plain: Tree;
  /** Whether types were removed. */
  typed: boolean;
}

/**
 * Parses JavaScript without sucrase, which takes longer to load than most programs take to run, and misreads some code.
 * Undefined if the code is not JavaScript, or may mean something else in TypeScript.
 */
function parseJavaScript(source: string): Parsed | undefined {
  try {
    const plain = new Tree(parseProgram(source), source);
    return mayHaveTypeArguments(plain) ? undefined : { plain, typed: false };
  } catch {
    return undefined;
  }
}

async function parseTypeScript(source: string): Promise<Parsed> {
  const { code } = await stripTypes(source);
  try {
    return { plain: new Tree(parseProgram(code), code), typed: true };
  } catch (error) {
    throw syntaxError(error, source, 0);
  }
}

async function stripTypes(source: string, mapped = false) {
  const { transform } = await import("sucrase");
  try {
    return transform(rewriteTypeScript(source), {
      transforms: ["typescript"],
      disableESTransforms: true,
      keepUnusedImports: false,
      filePath: "main.ts",
      ...(mapped ? { sourceMapOptions: { compiledFilename: "main.js" } } : {}),
    });
  } catch (error) {
    throw syntaxError(error, source, 1);
  }
}

/** Maps a position of the program without types to the TypeScript. */
type Trace = (at: Position) => Position | undefined;

async function traceOf(source: string): Promise<Trace> {
  const { originalPositionFor, TraceMap } = await import("@jridgewell/trace-mapping");
  const { sourceMap } = await stripTypes(source, true);
  if (!sourceMap) return () => undefined;
  const map = new TraceMap({ ...sourceMap, version: 3, names: [...sourceMap.names], sources: [...sourceMap.sources] });
  return ({ line, column }) => {
    const found = originalPositionFor(map, { line, column: column - 1 });
    return found.line === null ? undefined : { line: found.line, column: found.column + 1 };
  };
}

function syntaxError(error: unknown, source: string, firstColumn: 0 | 1): unknown {
  const { loc, message } = error as Error & { loc?: { line: number; column: number } };
  // sucrase may fail with an internal error instead of a syntax error.
  if (!loc) return error instanceof RangeError ? error : unreadable("The code cannot be parsed as TypeScript");
  return new CheckError({
    name: "SyntaxError",
    message: message.replace(/\s*\(\d+:\d+\)$/, "").replace(/^Error transforming main\.ts: /, ""),
    stack: "",
    line: loc.line,
    column: loc.column + 1 - firstColumn,
    source: source.split("\n")[loc.line - 1],
  });
}

/** Counts words and signs quickly, including those in strings and comments. */
function tokensIn(source: string): number {
  let count = 0;
  let inWord = false;
  for (let at = 0; at < source.length; at++) {
    const code = source.charCodeAt(at);
    const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
    const isWord = isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36 || code > 127;
    if (isWord ? !inWord : code > 32) count += 1;
    inWord = isWord;
  }
  return count;
}

function tooLong(count: number, what: string, most: number): CheckError {
  return new CheckError({
    name: "SyntaxError",
    code: "CODE_TOO_LONG",
    message: `The code has ${count} ${what}; the limit is ${most}`,
    hint: "Keep data out of the code: get it from a tool, or write it to ./workspace in parts and read it from there.",
    stack: "",
  });
}

function unreadable(message: string): CheckError {
  return new CheckError({ name: "SyntaxError", message, stack: "" });
}
