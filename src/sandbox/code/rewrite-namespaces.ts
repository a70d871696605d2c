/** `namespace A { … }` with values in it → the function that TypeScript makes of it; sucrase takes it for types alone. */
import { Edits } from "./edits.ts";

interface Token {
  text: string;
  start: number;
  end: number;
}

const namespaceStart = /\b(?:namespace|module)\s+[\w$.]+\s*\{/;

/** Words between `export` and the name of what is exported. */
const declaring = /^(?:const|let|var|function|async|class|abstract|enum|namespace|module|\*)$/;

/** The text with the same lines. Loads sucrase only where there is something to do. */
export async function rewriteNamespaces(source: string): Promise<string> {
  let text = source;
  // From the outside in: what is nested is seen when its surroundings are a function.
  while (namespaceStart.test(text)) {
    const next = rewriteFirst(text, await tokensOf(text));
    if (next === undefined) break;
    text = next;
  }
  return text;
}

async function tokensOf(source: string): Promise<Token[]> {
  const { parse } = await import("sucrase/dist/parser/index.js");
  try {
    const { tokens } = parse(source, false, true, false);
    return tokens.map(({ start, end }) => ({ text: source.slice(start, end), start, end }));
  } catch {
    return []; // The transform says what is wrong with it.
  }
}

function rewriteFirst(source: string, tokens: Token[]): string | undefined {
  const at = tokens.findIndex((_, index) => isNamespace(tokens, index));
  const [keyword, name] = [tokens[at], tokens[at + 1]];
  if (!keyword || !name) return undefined;
  const edits = new Edits(source);
  if (tokens[at + 2]?.text === ".") {
    // `namespace A.B { … }` is `namespace A { export namespace B { … } }`.
    edits.replace({ start: name.end, end: (tokens[at + 3] as Token).start }, " { export namespace ");
    edits.insert((tokens[closing(tokens, bodyOf(tokens, at))] as Token).end, " }");
    return edits.apply();
  }
  const [open, close] = [at + 2, closing(tokens, at + 2)];
  const end = tokens[close];
  if (!end) return undefined;
  const exported = exportsOf(tokens, open, close);
  for (const { word } of exported) edits.replace(word, "");
  const names = [...new Set(exported.flatMap((each) => each.names))];
  const getters = names.map((each) => `${each}: { enumerable: true, configurable: true, get: () => ${each} }`);
  const declared = new RegExp(`\\bclass\\s+${RegExp.escape(name.text)}\\b`).test(source) ? "" : `var ${name.text}; `;
  edits.replace(
    { start: keyword.start, end: (tokens[open] as Token).end },
    `${declared}(function (${name.text}: any) { Object.defineProperties(${name.text}, { ${getters.join(", ")} });`,
  );
  edits.replace(end, `})(${name.text} || (${name.text} = {} as any));`);
  return edits.apply();
}

/** The word at the beginning of a statement, and no type alone. */
function isNamespace(tokens: Token[], at: number): boolean {
  const [before, word, name] = [tokens[at - 1]?.text, tokens[at]?.text, tokens[at + 1]?.text ?? ""];
  if ((word !== "namespace" && word !== "module") || !/^[\w$]+$/.test(name)) return false;
  if (before === "declare" || before === ".") return false;
  return tokens[bodyOf(tokens, at)]?.text === "{";
}

/** The token after the name: `A`, or `A.B.C`. */
function bodyOf(tokens: Token[], at: number): number {
  let body = at + 2;
  while (tokens[body]?.text === ".") body += 2;
  return body;
}

function closing(tokens: Token[], open: number): number {
  for (let at = open, depth = 0; at < tokens.length; at++) {
    depth += depthOf(tokens[at]);
    if (depth === 0) return at;
  }
  return -1;
}

const depthOf = (token: Token | undefined) =>
  /^(?:[([{]|\$\{)$/.test(token?.text ?? "") ? 1 : /^[)\]}]$/.test(token?.text ?? "") ? -1 : 0;

/** The exports in a body: the word `export`, and the names of values that follow it. */
function exportsOf(tokens: Token[], open: number, close: number): { word: Token; names: string[] }[] {
  const found: { word: Token; names: string[] }[] = [];
  for (let at = open + 1, depth = 0; at < close; at++) {
    const token = tokens[at] as Token;
    depth += depthOf(token);
    if (depth !== 0 || token.text !== "export") continue;
    found.push({ word: token, names: namesAfter(tokens, at, close) });
  }
  return found;
}

function namesAfter(tokens: Token[], at: number, close: number): string[] {
  let next = at + 1;
  while (declaring.test(tokens[next]?.text ?? "")) next++;
  // Neither an interface nor a type: these have no values.
  if (next === at + 1) return [];
  const names = [tokens[next]?.text ?? ""];
  if (!/^(?:const|let|var)$/.test(tokens[at + 1]?.text ?? "") || tokens[at + 2]?.text === "enum") return names;
  for (let depth = 0; next < close; next++) {
    const { text } = tokens[next] as Token;
    depth += depthOf(tokens[next]);
    if (depth === 0 && (text === ";" || text === "export" || declaring.test(text))) break;
    if (depth === 0 && text === ",") names.push(tokens[next + 1]?.text ?? "");
  }
  return names;
}
