/** TypeScript as agents write it → the body of an async function, with a way back from its positions to the original's. */
import { type Program, parse } from "acorn";
import { checkCalls, type Finding, type Known } from "./check.ts";
import { CheckError } from "./check-error.ts";
import { Edits, offsetOf, positionOf } from "./edits.ts";
import { rewriteModules } from "./rewrite-modules.ts";
import { rewriteNamespaces } from "./rewrite-namespaces.ts";
import { rewriteProgram } from "./rewrite-program.ts";
import { rewriteUsing } from "./rewrite-using.ts";

export interface Transpiled {
  /** Lines are those of the original. */
  code: string;
  /** What was done about the form it was sent in. */
  notes: readonly string[];
  /** What it was made of: the program without its types, for explaining what happened to it. */
  plain: { program: Program; code: string };
  /** Calls in it that are certainly wrong, by the original's positions. */
  check(known: Known): Promise<(Finding & { line: number; column: number })[]>;
  /** Where a place of the transpiled code is in `plain`. Lines and columns count from 1. */
  plainOffset(line: number, column: number): number;
  originalPosition(plainOffset: number): Promise<{ line: number; column: number }>;
}

/** It is read on the thread that answers the host, which must not be busy with it for long. */
const maxCharacters = 500_000;

/**
 * A program, whose value is wanted, or a module, whose exports are: then with its path. Throws CheckError when the code
 * is not TypeScript.
 */
export async function transpile(written: string, module?: string): Promise<Transpiled> {
  if (written.length > maxCharacters) throw tooLong(written.length);
  try {
    return await transpileProgram(written, module);
  } catch (error) {
    throw readable(error);
  }
}

async function transpileProgram(written: string, module: string | undefined): Promise<Transpiled> {
  const { source, code, program, typed, notes } = await parseWritten(written);
  const edits = new Edits(code);
  rewriteUsing(program, code, edits);
  const form = rewriteModules(program, code, edits, module);
  if (module === undefined) rewriteProgram(program, code, edits, form);
  const edited = edits.apply();
  const inSource = async (at: { line: number; column: number }) =>
    typed ? ((await tracePosition(source, at)) ?? at) : at;
  return {
    code: edited,
    notes,
    plain: { program, code },
    async check(known) {
      const findings = findingsIn(program, code, known);
      return Promise.all(findings.map(async (each) => ({ ...each, ...(await inSource(positionOf(code, each.at))) })));
    },
    plainOffset: (line, column) => edits.undo(offsetOf(edited, line, column)),
    originalPosition: async (offset) => inSource(positionOf(code, offset)),
  };
}

/** Code as it was written, else what stands in its only fence, with words around it. */
async function parseWritten(written: string): Promise<Parsed & { source: string; notes: string[] }> {
  const parseSource = async (source: string) => {
    return { source, notes: [] as string[], ...(parseJavaScript(source) ?? (await parseTypeScript(source))) };
  };
  const unfenced = withoutFences(written);
  try {
    // As JavaScript a fence is an empty text, called with what stands in it.
    if (/^[ \t]*```\w*[ \t]*$/m.test(unfenced))
      throw new CheckError({ name: "SyntaxError", message: "A Markdown fence", stack: "" });
    return await parseSource(unfenced);
  } catch (error) {
    if (!(error instanceof CheckError)) throw error;
    const fences = [...written.matchAll(/^[ \t]*```[^\n]*\n([\s\S]*?)^[ \t]*```[ \t]*$/gm)];
    const [only] = fences.length === 1 ? fences : [];
    const start = only ? only.index + only[0].indexOf("\n") + 1 : 0;
    const inner = only ? written.slice(0, start).replace(/[^\n]/g, "") + (only[1] ?? "") : written;
    const parsed = only && (await parseSource(inner).catch(() => undefined));
    if (parsed && unfenced === written) {
      const line = positionOf(written, written.search(/\S/)).line;
      return { ...parsed, notes: [`line ${line}: only the code between the fences was run, not the words around it.`] };
    }
    const { explainSyntax } = await import("../advice/syntax.ts");
    throw new CheckError(explainSyntax(error.error, inner));
  }
}

/** Code in a Markdown fence, as models answer; its lines stay where they were. */
function withoutFences(source: string): string {
  // The line that starts a script is no code.
  if (source.startsWith("#!")) return source.replace(/^.*/, "");
  const fenced = /^\s*(```|~~~)[^\n]*\n([\s\S]*?)\n?\1\s*$/.exec(source);
  if (!fenced) return source;
  const body = fenced[2] ?? "";
  const before = source.slice(0, source.indexOf(body, source.indexOf("\n")));
  return before.replace(/[^\n]/g, "") + body;
}

interface Parsed {
  /** JavaScript. */
  code: string;
  program: Program;
  /** Whether types were taken out of it. */
  typed: boolean;
}

/**
 * What is JavaScript already needs no sucrase, which takes longer to load than most programs to run. Undefined where it
 * is not, or where a `<` may mean something else in TypeScript: `f<T>(x)`.
 */
function parseJavaScript(source: string): Parsed | undefined {
  if (source.includes("<")) return undefined;
  try {
    return { code: source, program: parseProgram(source), typed: false };
  } catch {
    return undefined;
  }
}

async function parseTypeScript(source: string): Promise<Parsed> {
  const { code } = await stripTypes(source);
  try {
    return { code, program: parseProgram(code), typed: true };
  } catch (error) {
    throw syntaxError(error, source, 0);
  }
}

function parseProgram(code: string): Program {
  return parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
}

async function stripTypes(source: string, mapped = false) {
  const { transform } = await import("sucrase");
  try {
    return transform(await rewriteNamespaces(source), {
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

/** The map is made only when an error needs it. */
async function tracePosition(source: string, at: { line: number; column: number }) {
  const { originalPositionFor, TraceMap } = await import("@jridgewell/trace-mapping");
  const { sourceMap } = await stripTypes(source, true);
  if (!sourceMap) return undefined;
  const map = new TraceMap({ ...sourceMap, version: 3, names: [...sourceMap.names], sources: [...sourceMap.sources] });
  const found = originalPositionFor(map, { line: at.line, column: at.column - 1 });
  return found.line === null ? undefined : { line: found.line, column: found.column + 1 };
}

function syntaxError(error: unknown, source: string, firstColumn: 0 | 1): unknown {
  const { loc, message } = error as Error & { loc?: { line: number; column: number } };
  // Sucrase has errors of its own where it loses its way.
  if (!loc) return error instanceof RangeError ? error : unreadable("The code cannot be read as TypeScript");
  const line = source.split("\n")[loc.line - 1];
  return new CheckError({
    name: "SyntaxError",
    message: message.replace(/\s*\(\d+:\d+\)$/, "").replace(/^Error transforming main\.ts: /, ""),
    stack: "",
    line: loc.line,
    column: loc.column + 1 - firstColumn,
    ...(line === undefined ? {} : { source: line }),
  });
}

/** Looking through a program that could just be read may need more stack than that: then nothing is found. */
function findingsIn(program: Program, code: string, known: Known): Finding[] {
  try {
    return checkCalls(program, code, known);
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** Parsers and walks go down into what is nested until their stack ends. */
function readable(error: unknown): unknown {
  if (!(error instanceof RangeError)) return error;
  return unreadable("The code is nested too deeply, or has an expression that is too long");
}

function tooLong(characters: number): CheckError {
  return new CheckError({
    name: "SyntaxError",
    code: "CODE_TOO_LONG",
    message: `The code has ${characters} characters, the limit is ${maxCharacters}`,
    hint: "Data does not belong into the code: let a tool give it, or write it to ./workspace in parts and read it from there.",
    stack: "",
  });
}

function unreadable(message: string): CheckError {
  return new CheckError({ name: "SyntaxError", message, stack: "" });
}
