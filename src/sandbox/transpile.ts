/** TypeScript as agents write it → the body of an async function, with a way back from its positions to the original's. */
import { type CallExpression, type ExpressionStatement, type Node, type Program, parse } from "acorn";
import { full } from "acorn-walk";
import { CheckError } from "./check-error.ts";

export interface Transpiled {
  /** Lines are those of the original. */
  code: string;
  /** Lines and columns count from 1; undefined where the position is none of the original's. */
  originalPosition(line: number, column: number): Promise<{ line: number; column: number }>;
}

/** Throws CheckError when the code is not TypeScript. */
export async function transpile(source: string): Promise<Transpiled> {
  const { code, program, typed } = parseJavaScript(source) ?? (await parseTypeScript(source));
  const edits = new Edits();
  const last = program.body.at(-1);
  for (const statement of floatingStatements(program, code)) {
    if (statement !== last) edits.wrap(expressionOf(statement, code), "__watch(", ")");
  }
  for (const callback of floatingCallbacks(program)) edits.wrap(callback, "__watch.each(", ")");
  if (last?.type === "ExpressionStatement") edits.wrap(expressionOf(last, code), "return (", ")");
  const edited = edits.apply(code);
  return {
    code: edited,
    async originalPosition(line, column) {
      const at = positionOf(code, edits.undo(offsetOf(edited, line, column)));
      return typed ? ((await tracePosition(source, at)) ?? { line, column }) : at;
    },
  };
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
    return transform(source, {
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
  const loc = (error as { loc?: { line: number; column: number } }).loc;
  if (!(error instanceof SyntaxError) || !loc) return error;
  const line = source.split("\n")[loc.line - 1];
  return new CheckError({
    name: "SyntaxError",
    message: error.message.replace(/\s*\(\d+:\d+\)$/, "").replace(/^Error transforming main\.ts: /, ""),
    stack: "",
    line: loc.line,
    column: loc.column + 1 - firstColumn,
    ...(line === undefined ? {} : { source: line }),
  });
}

/** The expression of a statement with its parentheses, which are no part of the tree, and without the semicolon. */
function expressionOf({ start, end }: ExpressionStatement, code: string): Range {
  return { start, end: code[end - 1] === ";" ? end - 1 : end };
}

/** Calls of these give nothing that could be awaited; wrapping them in a hot loop would only cost time. */
const settledMethods = new Set([
  "push",
  "set",
  "add",
  "delete",
  "sort",
  "log",
  "warn",
  "error",
  "info",
  "debug",
  "unshift",
]);

/** Statements that call something and let go of what it returns: it may be a promise. */
function floatingStatements(program: Program, code: string): ExpressionStatement[] {
  const found: ExpressionStatement[] = [];
  full(program, (node: Node) => {
    if (node.type !== "ExpressionStatement") return;
    const statement = node as ExpressionStatement;
    const { expression } = statement;
    if (expression.type !== "CallExpression") return;
    const { callee } = expression as CallExpression;
    if (callee.type === "Super") return;
    const method = callee.type === "MemberExpression" ? code.slice(callee.property.start, callee.property.end) : "";
    if (!settledMethods.has(method)) found.push(statement);
  });
  return found;
}

/** Async functions given to `forEach`, which lets go of their promises. */
function floatingCallbacks(program: Program): Node[] {
  const found: Node[] = [];
  full(program, (node: Node) => {
    if (node.type !== "CallExpression") return;
    const { callee, arguments: given } = node as CallExpression;
    const [first] = given;
    const named =
      callee.type === "MemberExpression" && callee.property.type === "Identifier" && callee.property.name === "forEach";
    if (!named || !first) return;
    if ((first.type === "ArrowFunctionExpression" || first.type === "FunctionExpression") && first.async)
      found.push(first);
  });
  return found;
}

interface Range {
  start: number;
  end: number;
}

/** Insertions into a text, which can be undone for a position. None contains a line break. */
class Edits {
  readonly #insertions: { at: number; text: string; order: number }[] = [];

  wrap(node: Range, before: string, after: string): void {
    this.#insertions.push({ at: node.start, text: before, order: node.start - node.end });
    this.#insertions.push({ at: node.end, text: after, order: node.start - node.end });
    this.#insertions.sort((a, b) => a.at - b.at || a.order - b.order);
  }

  apply(text: string): string {
    let done = 0;
    let result = "";
    for (const { at, text: inserted } of this.#insertions) {
      result += text.slice(done, at) + inserted;
      done = at;
    }
    return result + text.slice(done);
  }

  /** The offset in the text before the insertions that belongs to one after them. */
  undo(offset: number): number {
    let shift = 0;
    for (const { at, text } of this.#insertions) {
      if (at + shift + text.length > offset) return at + shift > offset ? offset - shift : at;
      shift += text.length;
    }
    return offset - shift;
  }
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let current = 1; current < line; current++) {
    const next = text.indexOf("\n", start);
    if (next === -1) break;
    start = next + 1;
  }
  return start + column - 1;
}

function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}
