/**
 * Turns `namespace A { … }` with values into a function, as TypeScript does. sucrase takes a namespace for types and
 * drops it.
 */
import { Edits } from "./edits.ts";

interface Token {
  text: string;
  start: number;
  end: number;
  /** Index of the closing bracket of an opening one, else -1. */
  closing: number;
}

const namespaceStart = /\b(?:namespace|module)\s+[\w$.]+\s*\{/;

/** Words between `export` and the exported name. */
const declaring = /^(?:const|let|var|function|async|class|abstract|enum|namespace|module|\*)$/;

/** Returns the text with the same lines. Loads sucrase only if the text has a namespace. */
export async function rewriteNamespaces(source: string): Promise<string> {
  if (!namespaceStart.test(source)) return source;
  const tokens = await tokensOf(source);
  const classes = new Set(tokens.flatMap(({ text }, at) => (text === "class" ? (tokens[at + 1]?.text ?? []) : [])));
  const edits = new Edits(source);
  for (let at = 0; at < tokens.length; at++) {
    if (!isNamespace(tokens, at)) continue;
    const open = bodyOf(tokens, at);
    const close = tokens[open]?.closing ?? -1;
    if (close === -1) break;
    if (tokens[at - 1]?.text === "declare") at = close;
    else rewrite(tokens, { at, open, close }, classes, edits);
  }
  return edits.apply();
}

async function tokensOf(source: string): Promise<Token[]> {
  const { parse } = await import("sucrase/dist/parser/index.js");
  try {
    const { tokens } = parse(source, false, true, false);
    return withClosings(tokens.map(({ start, end }) => ({ text: source.slice(start, end), start, end, closing: -1 })));
  } catch {
    return []; // The transform reports the syntax error.
  }
}

function withClosings(tokens: Token[]): Token[] {
  const open: Token[] = [];
  for (const [at, token] of tokens.entries()) {
    const depth = depthOf(token);
    if (depth === 1) open.push(token);
    const opened = depth === -1 ? open.pop() : undefined;
    if (opened) opened.closing = at;
  }
  return tokens;
}

/** `namespace A.B { … }` is `namespace A { export namespace B { … } }`. */
function rewrite(
  tokens: readonly Token[],
  { at, open, close }: { at: number; open: number; close: number },
  classes: ReadonlySet<string>,
  edits: Edits,
): void {
  const [keyword, brace, end] = [tokens[at], tokens[open], tokens[close]];
  if (!keyword || !brace || !end) return;
  const exported = exportsOf(tokens, open, close);
  for (const { word } of exported) edits.replace(word, "");
  const names: string[] = [];
  for (let next = at + 1; next < open; next += 2) names.push(tokens[next]?.text ?? "");
  let [before, after] = ["", ""];
  for (const [index, name] of names.entries()) {
    const inner = names[index + 1];
    const values = inner === undefined ? new Set(exported.flatMap((each) => each.names)) : [inner];
    const getters = [...values].map((each) => `${each}: { enumerable: true, configurable: true, get: () => ${each} }`);
    const declared = classes.has(name) ? "" : `var ${name}; `;
    before += `${declared}(function (${name}: any) { Object.defineProperties(${name}, { ${getters.join(", ")} });`;
    after = `})(${name} || (${name} = {} as any));${after}`;
  }
  edits.replace({ start: keyword.start, end: brace.end }, before);
  edits.replace(end, after);
}

/** Whether the word at an index starts a namespace. */
function isNamespace(tokens: readonly Token[], at: number): boolean {
  const [before, word, name] = [tokens[at - 1]?.text, tokens[at]?.text, tokens[at + 1]?.text ?? ""];
  if ((word !== "namespace" && word !== "module") || !/^[\w$]+$/.test(name) || before === ".") return false;
  return tokens[bodyOf(tokens, at)]?.text === "{";
}

/** The index of the token after the name: `A`, or `A.B.C`. */
function bodyOf(tokens: readonly Token[], at: number): number {
  let body = at + 2;
  while (tokens[body]?.text === ".") body += 2;
  return body;
}

const depthOf = (token: Token | undefined) =>
  /^(?:[([{]|\$\{)$/.test(token?.text ?? "") ? 1 : /^[)\]}]$/.test(token?.text ?? "") ? -1 : 0;

/** The exports directly in a body: the word `export`, and the names of the values that it exports. */
function exportsOf(tokens: readonly Token[], open: number, close: number): { word: Token; names: string[] }[] {
  const found: { word: Token; names: string[] }[] = [];
  for (let at = open + 1; at < close; at++) {
    const token = tokens[at] as Token;
    if (token.text === "export") found.push({ word: token, names: namesAfter(tokens, at, close) });
    else if (token.closing > at) at = token.closing;
  }
  return found;
}

function namesAfter(tokens: readonly Token[], at: number, close: number): string[] {
  let next = at + 1;
  while (declaring.test(tokens[next]?.text ?? "")) next++;
  // An interface or a type has no value.
  if (next === at + 1) return [];
  const names = [tokens[next]?.text ?? ""];
  if (!/^(?:const|let|var)$/.test(tokens[at + 1]?.text ?? "") || tokens[at + 2]?.text === "enum") return names;
  for (; next < close; next++) {
    const { text, closing } = tokens[next] as Token;
    if (text === ";" || text === "export" || declaring.test(text)) break;
    if (text === ",") names.push(tokens[next + 1]?.text ?? "");
    else if (closing > next) next = closing;
  }
  return names;
}
