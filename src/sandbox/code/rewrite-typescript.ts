/** Rewrites forms of TypeScript that sucrase misreads: namespaces with values, and a `yield` without a value. */
import { tokenizer } from "acorn";
import { Edits } from "./edits.ts";

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
export function rewriteTypeScript(source: string): string {
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
