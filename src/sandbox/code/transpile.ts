/** Turns TypeScript into the body of an async function, and maps its positions back to the original. */
import { Parser, type Program, tokenizer } from "acorn";
import { Lines, type Position } from "../ast/lines.ts";
import { Tree } from "../ast/tree.ts";
import { CheckError } from "./check-error.ts";
import { Edits } from "./edits.ts";
import { rewriteModules, rewriteProgram } from "./rewrite-program.ts";
import { rewriteLongNumbers } from "./rewrite-silent-mistakes.ts";

/** Characters of a program. Parsers take more than a kilobyte of memory for each token. */
const maxProgramChars = 500_000;

/** Tokens of a program, for the same reason. Words in strings and comments count as well. */
const maxProgramTokens = 150_000;

/** Syntax errors in longer programs keep the message of the parser. */
const maxExplainedSyntaxChars = 20_000;

/** Characters at the beginning of a line that are searched for a Markdown fence. */
const maxFenceChars = 200;

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

/** Takes linear time, and lines keep their numbers. The code of a text that is one fence and nothing else; any other text unchanged. */
export function withoutFences(source: string): string {
  // A `#!` line is not code.
  if (source.startsWith("#!")) return source.replace(/^.*/, "");
  const [head, mark] = /^\s*(```|~~~)/.exec(source) ?? [];
  if (head === undefined || mark === undefined) return source;
  const start = source.indexOf("\n", head.length) + 1;
  const end = source.trimEnd().length - mark.length;
  if (start === 0 || end < start || !source.startsWith(mark, end)) return source;
  const body = source.slice(start, end);
  return onSameLines(source.slice(0, start), body.endsWith("\n") ? body.slice(0, -1) : body);
}

/** The code in the only fence of a text; undefined if there are several or none. */
export function onlyFence(text: string): { code: string } | undefined {
  let only: { start: number; end: number } | undefined;
  let open: number | undefined;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\n", at) + 1 || text.length + 1;
    const line = text.slice(at, Math.min(next - 1, at + maxFenceChars)).trimStart();
    if (open === undefined) {
      if (line.startsWith("```")) open = next;
    } else if (line.trimEnd() === "```") {
      if (only) return undefined;
      only = { start: open, end: at };
      open = undefined;
    }
    at = next;
  }
  return only && { code: onSameLines(text.slice(0, only.start), text.slice(only.start, only.end)) };
}

function onSameLines(before: string, code: string): string {
  return before.replace(/[^\n]/g, "") + code;
}

/** acorn's flag for the scope of the whole program. */
const topScope = 1;

interface Scoped {
  treatFunctionsAsVarInScope(scope: { flags: number }): boolean;
}

/** Unlike a module, a function body may declare the same function twice: the last declaration counts. */
const BodyParser = Parser.extend((Base) => {
  const Scopes = Base as unknown as new (...given: never[]) => Parser & Scoped;
  class Body extends Scopes {
    override treatFunctionsAsVarInScope(scope: { flags: number }): boolean {
      return (scope.flags & topScope) !== 0 || super.treatFunctionsAsVarInScope(scope);
    }
  }
  return Body as unknown as typeof Parser;
});

/** Throws a SyntaxError with the place as `loc`. */
export function parseProgram(code: string): Program {
  return BodyParser.parse(code, {
    ecmaVersion: "latest",
    sourceType: "module",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
  });
}

/**
 * Whether JavaScript may mean something else as TypeScript: `f<T>(x)` is a call in TypeScript and two comparisons in
 * JavaScript. The same holds for `f<T>` before a template or at the end of a line.
 */
function mayHaveTypeArguments(tree: Tree): boolean {
  return tree.all("BinaryExpression").some(({ operator, left, right }) => {
    if (!operator.startsWith(">") || operator.endsWith("=")) return false;
    return /[(`\n]/.test(tree.code.slice(left.end, right.start + 1));
  });
}

/**
 * Rewrites `using` and `await using`, which the engine does not support, to try and finally. `using x = open(); …` becomes `const held =
 * __using(); try { const x = held.add(open()); … } finally { held.end() }`.
 */
function rewriteUsing(tree: Tree, edits: Edits): void {
  const using = tree.all("VariableDeclaration").filter(({ kind }) => kind.endsWith("using"));
  for (const [block, held] of Map.groupBy(using, (each) => tree.parent(each))) {
    const [first] = held;
    if (!first || !block || !/^(?:Program|BlockStatement|StaticBlock)$/.test(block.type)) continue;
    const name = `__held${first.start}`;
    edits.insert(first.start, `const ${name} = __using(); try { `);
    for (const { start, kind, declarations } of held) {
      const keyword = /^(?:await\s+)?using/.exec(tree.code.slice(start))?.[0] ?? "";
      edits.replace({ start, end: start + keyword.length }, "const");
      const add = kind === "using" ? "add" : "addAsync";
      for (const { init } of declarations) if (init) edits.wrap(init, `${name}.${add}(`, ")");
    }
    const end = block.type === "Program" ? tree.code.length : block.end - 1;
    const last = held.every(({ kind }) => kind === "using") ? `${name}.end()` : `await ${name}.endAsync()`;
    edits.insertLast(end, ` } catch (error) { ${name}.failed(error); } finally { ${last}; }`);
  }
}

/** Rewrites forms of TypeScript that sucrase misreads: namespaces with values, and a `yield` without a value. */
interface Token {
  text: string;
  start: number;
  end: number;
  /** Index of the closing bracket of an opening one, else -1. */
  closing: number;
}

const bareYield = /\byield\s*[\]}),:]/;
const namespaceStart = /\b(?:namespace|module)\s+[\w$.]+\s*\{/;

/** Returns the text with the same lines. */
function rewriteTypeScript(source: string): string {
  if (!bareYield.test(source) && !namespaceStart.test(source)) return source;
  const edits = new Edits(source);
  try {
    const tokens = tokensOf(source);
    rewriteYields(tokens, edits);
    rewriteNamespaces(tokens, edits);
  } catch {
    return source; // sucrase reports the syntax error.
  }
  return edits.apply();
}

function tokensOf(source: string): Token[] {
  const all = tokenizer(source, { ecmaVersion: "latest", sourceType: "module" });
  const tokens = [...all].map(({ start, end }): Token => ({ text: source.slice(start, end), start, end, closing: -1 }));
  const open: Token[] = [];
  for (const [at, token] of tokens.entries()) {
    if (/^(?:[([{]|\$\{)$/.test(token.text)) open.push(token);
    const opened = /^[)\]}]$/.test(token.text) ? open.pop() : undefined;
    if (opened) opened.closing = at;
  }
  return tokens;
}

/** `[...yield]` becomes `[...yield void 0]`. sucrase cannot parse it before a bracket or a comma. */
function rewriteYields(tokens: readonly Token[], edits: Edits): void {
  let inEnum = false;
  for (const [at, { text, end }] of tokens.entries()) {
    const [before = "", after = ""] = [tokens[at - 1]?.text, tokens[at + 1]?.text];
    if (tokens[at - 2]?.text === "enum") inEnum = true;
    if (text === "}") inEnum = false;
    // Otherwise it is the name of a member, an export or a key.
    const isExpression = after === ":" ? before === "?" || before === "case" : /^[\]}),]$/.test(after);
    const isName = inEnum || /^(?:\??\.|as|get|set|static|async)$/.test(before);
    if (text === "yield" && isExpression && !isName) edits.insert(end, " void 0");
  }
}

/**
 * Turns `namespace A { … }` with values into a function, as TypeScript does. sucrase takes a namespace for types and
 * drops it.
 */
function rewriteNamespaces(tokens: readonly Token[], edits: Edits): void {
  const classes = new Set(tokens.flatMap(({ text }, at) => (text === "class" ? (tokens[at + 1]?.text ?? []) : [])));
  for (let at = 0; at < tokens.length; at++) {
    const names = namesAt(tokens, at);
    const open = at + 2 * names.length;
    const close = tokens[open]?.closing ?? -1;
    if (names.length === 0 || close === -1) continue;
    if (tokens[at - 1]?.text === "declare") {
      at = close;
      continue;
    }
    const exported = exportsOf(tokens, open, close);
    for (const { word } of exported) edits.replace(word, "");
    let [before, after] = ["", ""];
    for (const [index, name] of names.entries()) {
      const inner = names[index + 1];
      const values = inner === undefined ? new Set(exported.flatMap((each) => each.names)) : [inner];
      const getters = [...values].map(
        (each) => `${each}: { enumerable: true, configurable: true, get: () => ${each} }`,
      );
      const declared = classes.has(name) ? "" : `var ${name}; `;
      before += `${declared}(function (${name}: any) { Object.defineProperties(${name}, { ${getters.join(", ")} });`;
      after = `})(${name} || (${name} = {} as any));${after}`;
    }
    edits.replace({ start: tokens[at]!.start, end: tokens[open]!.end }, before);
    edits.replace(tokens[close]!, after);
  }
}

/** The names of the namespace that starts at an index: `namespace A.B {` is `namespace A { export namespace B {`. */
function namesAt(tokens: readonly Token[], at: number): string[] {
  if (!/^(?:namespace|module)$/.test(tokens[at]?.text ?? "") || tokens[at - 1]?.text === ".") return [];
  const names: string[] = [];
  let end = at;
  do {
    names.push(tokens[end + 1]?.text ?? "");
    end += 2;
  } while (tokens[end]?.text === ".");
  return names.every((name) => /^[\w$]+$/.test(name)) && tokens[end]?.text === "{" ? names : [];
}

/** The exports directly in a body: the word `export`, and the names of the values that it exports. */
function exportsOf(tokens: readonly Token[], open: number, close: number): { word: Token; names: string[] }[] {
  const found: { word: Token; names: string[] }[] = [];
  for (let at = open + 1; at < close; at++) {
    const token = tokens[at]!;
    if (token.text === "export") found.push({ word: token, names: namesAfter(tokens, at, close) });
    else if (token.closing > at) at = token.closing;
  }
  return found;
}

/** Words between `export` and the exported name. */
const declaring = /^(?:const|let|var|function|async|class|abstract|enum|namespace|module|\*)$/;

function namesAfter(tokens: readonly Token[], at: number, close: number): string[] {
  let next = at + 1;
  while (declaring.test(tokens[next]?.text ?? "")) next++;
  // An interface or a type has no value.
  if (next === at + 1) return [];
  const names = [tokens[next]?.text ?? ""];
  if (!/^(?:const|let|var)$/.test(tokens[at + 1]?.text ?? "") || tokens[at + 2]?.text === "enum") return names;
  for (; next < close; next++) {
    const { text, closing } = tokens[next]!;
    if (text === ";" || text === "export" || declaring.test(text)) break;
    if (text === ",") names.push(tokens[next + 1]?.text ?? "");
    else if (closing > next) next = closing;
  }
  return names;
}
