/** Explains code that cannot be parsed: names the language if it is not TypeScript, or the mistake in the line. */

import { isObject, parsedJson } from "../../base/json-object.ts";
import { literalText } from "../ast/arguments.ts";
import { endWithSemicolon, Lines } from "../ast/lines.ts";
import type { OutcomeError } from "../contract.ts";

/** The same error, with a hint if one is certain. */
export function explainSyntax(error: OutcomeError, source: string): OutcomeError {
  const hint = otherLanguage(source, error.line ?? 1) ?? wrongLine(error, source);
  return hint === undefined ? error : { ...error, hint };
}

function wrongLine(
  { message, line = 1, column = 1, source: text = "" }: OutcomeError,
  source: string,
): string | undefined {
  const python = pythonOperators(text, line, column);
  if (python !== undefined) return python;
  const redeclared = /Identifier '(.+)' has already been declared/.exec(message)?.[1];
  if (redeclared !== undefined) return declaredTwice(redeclared, line, source);
  if (/[“”‘’]/.test(text)) return `Line ${line} has typographic quotes: write " or '.`;
  if (/^'import' and 'export'/.test(message)) {
    return "import and export belong at the top level. Elsewhere, write await import(…) with the module in quotes.";
  }
  if (/^Unexpected character '@'/.test(message)) {
    return "Decorators are not supported: call the decorator's function yourself, around the method or the class.";
  }
  if (/^Assigning to rvalue/.test(message)) return continued(line, source);
  if (/=>\s*\{\s*[\w$"']+\s*:/.test(text)) return "An object after => needs parentheses: (o) => ({ … }).";
  return awaitInCallback(line, source) ?? unclosed(message, text, line) ?? unbalanced(source, line);
}

/** `await f()` and `[a, b] = [b, a]` on the next line, which is an assignment to a property. */
function continued(line: number, source: string): string | undefined {
  const lines = source.split("\n");
  const next = lines.findIndex((text, at) => at >= line && /^\s*\[/.test(text) && text.includes("="));
  const before = lines.slice(0, Math.max(0, next)).findLastIndex((text) => /^\s*[^\s/]/.test(text));
  return next === -1 || before < line - 1 ? undefined : endWithSemicolon(before + 1, "[", next + 1);
}

/** `a and not b`, at the place of the error. */
function pythonOperators(text: string, line: number, column: number): string | undefined {
  const isHere = /^(?:and|or|not)\b/.test(text.slice(column - 1)) || /\bnot\s+$/.test(text.slice(0, column - 1));
  if (!isHere) return undefined;
  const written = text
    // In Python, not binds less tightly than a comparison.
    .replace(/\bnot\s+([^()"'`]*?[<>=][^()"'`]*?)(?=\s+(?:and|or)\b|\)|$)/g, "not ($1)")
    .replace(stringsAndOperators, (found) => operators[found.trimEnd()] ?? found)
    .replace(/^(\s*(?:if|while))\s+([^(\s].*?)\s*\{\s*$/, "$1 ($2) {")
    .trim();
  const write = written.length > 160 ? "" : `: ${written}`;
  return `This is Python; TypeScript is expected. On line ${line}, write && for and, || for or, ! for not${write}`;
}

const operators: Record<string, string> = { __proto__: null as never, and: "&&", or: "||", not: "!" };

const stringsAndOperators = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/.*|\b(?:and|or)\b|\bnot\s+/g;

function declaredTwice(name: string, line: number, source: string): string {
  const declares = new RegExp(
    `\\b(?:const|let|var|function|class|import)\\b[^=;]*\\b${name.replaceAll("$", "\\$")}\\b`,
  );
  const first = source.split("\n").findIndex((text) => declares.test(text)) + 1;
  const where =
    first > 0 && first < line ? `${name} is already declared on line ${first}` : `${name} is declared twice`;
  return `${where}: choose another name, or rename it when destructuring: { ${name}: other }.`;
}

/** `orders.map((o) => await …)`. */
function awaitInCallback(line: number, source: string): string | undefined {
  const lines = source.split("\n");
  const text = lines[line - 1] ?? "";
  if (!/\bawait\b/.test(text)) return undefined;
  for (let at = line; at > 0 && at > line - 30; at--) {
    const before = at === line ? text.slice(0, text.lastIndexOf("await")) : (lines[at - 1] ?? "");
    const arrow = [...before.matchAll(/(async\s+)?(\([^()]*\)|[\w$]+)\s*=>/g)].at(-1);
    const named = /(async\s+)?function\s*\w*\s*\(/.exec(before);
    if (arrow?.[1] || named?.[1]) return undefined;
    const method = arrow && /\.(\w+)\(\s*$/.exec(before.slice(0, arrow.index))?.[1];
    if (arrow && method && /^(?:map|flatMap)$/.test(method)) {
      return `await needs an async callback (line ${at}): await Promise.all(list.${method}(async ${arrow[2]} => …)).`;
    }
    if (arrow && method)
      return `await cannot be used in the callback of ${method}: write for (const … of …) { … await … }.`;
    if (arrow) return `await needs an async function (line ${at}): async ${arrow[2]} => …`;
    if (named) return `await needs an async function: write async before function on line ${at}.`;
  }
  return undefined;
}

/** A string or a template that ends too early or not at all, or JSX. */
function unclosed(message: string, text: string, line: number): string | undefined {
  if (/'[^'"`]*\w'\w[^'"`]*'/.test(text))
    return `On line ${line}, a ' ends the string that started with ': write it in "…" or \`…\`.`;
  if (/Unterminated string/.test(message)) return "A string over several lines needs backticks, `…`, or \\n in it.";
  if (/Unterminated template/.test(message)) return "A string in backticks is not closed, or a ${ in it has no }.";
  const isJsx = /(?:return|\(|=)\s*<[A-Za-z][\w.]*[\s>/]/.test(text);
  return isJsx ? "JSX is not supported: build strings with `…${value}…`." : undefined;
}

const closing: Record<string, string> = { "(": ")", "[": "]", "{": "}" };

/** The bracket that is not closed, or undefined if all brackets match. */
function unbalanced(source: string, errorLine: number): string | undefined {
  const open: { bracket: string; line: number }[] = [];
  const lines = new Lines(source);
  for (const token of source.matchAll(tokens)) {
    const { line } = lines.at(token.index);
    const [text] = token;
    const last = open.at(-1);
    if (text in closing) open.push({ bracket: text, line });
    else if (/^[)\]}]$/.test(text)) {
      if (!last) return `The ${text} on line ${line} has no opening bracket.`;
      if (closing[last.bracket] !== text) {
        return `The ${last.bracket} on line ${last.line} is not closed: line ${line} has ${text} where ${closing[last.bracket]} is missing.`;
      }
      open.pop();
    }
  }
  const left = open.at(-1);
  if (!left || errorLine < left.line) return undefined;
  return `The ${left.bracket} on line ${left.line} is never closed: ${closing[left.bracket]} is missing.`;
}

/** Comments, strings and regular expressions are skipped, and so are the expressions within templates. */
const tokens =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|\/(?![*/\s])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=\s*[.,;)\]])|[()[\]{}]/g;

/** A hint that names the language, or undefined if the text may be TypeScript with a mistake in it. */
export function otherLanguage(source: string, line: number): string | undefined {
  return toolCall(source) ?? markup(source) ?? fence(source) ?? python(source) ?? shell(source) ?? prose(source, line);
}

/** A tool call as JSON, which some models send instead of code. */
function toolCall(source: string): string | undefined {
  const parsed = parsedJson(source.replace(/^\s*```\w*\n|\n\s*```\s*$/g, ""));
  if (parsed === undefined) return undefined;
  const calls = callsIn(parsed);
  if (calls.length === 0)
    return "This is JSON, not TypeScript: write code that calls tools, return await server.tool({ … }).";
  const texts = calls.map(({ name, args }) => `await ${name}(${literalText(args)})`);
  const write = texts.length === 1 ? `return ${texts[0]}` : `return [${texts.join(", ")}]`;
  return `This is a tool call as JSON, not TypeScript. Write: ${write}`;
}

function callsIn(value: unknown): { name: string; args: unknown }[] {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (!isObject(value)) return [];
  const { tool_calls, function: inner, params, name, server } = value;
  if (tool_calls !== undefined) return callsIn(tool_calls);
  if (isObject(inner)) return callsIn(inner);
  if (isObject(params) && name === undefined) return callsIn(params);
  const called = name ?? value["tool"] ?? value["tool_name"] ?? inner;
  if (typeof called !== "string") return [];
  const keys = ["arguments", "parameters", "input", "args", "params"];
  const args = keys.map((key) => value[key]).find((each) => each !== undefined && each !== null) ?? {};
  const path = `${typeof server === "string" ? `${server}.` : ""}${called}`.replace(/^mcp__/, "").replace("__", ".");
  return [{ name: path, args: typeof args === "string" ? (parsedJson(args) ?? args) : args }];
}

function markup(source: string): string | undefined {
  const isMarkup = /^\s*<(?:tool_call|function_calls?|invoke|function=|use_mcp_tool|\w+:invoke)\b/.test(source);
  return isMarkup ? "This is a tool call as markup, not TypeScript. Write: return await server.tool({ … })" : undefined;
}

function fence(source: string): string | undefined {
  const line = source.split("\n").findIndex((text) => /^\s*(?:```|~~~)/.test(text)) + 1;
  const what = "is a Markdown fence: send only the TypeScript, without ``` and without text around it.";
  return line === 0 ? undefined : `Line ${line} ${what}`;
}

const pythonForms: [RegExp, string][] = [
  [/^\s*(?:async )?def \w+\s*\(.*\).*:\s*(?:#.*)?$/, "async function name(…) { … }"],
  [/^\s*for \w+(?:, *\w+)* in .+:\s*(?:#.*)?$/, "for (const each of list) { … }"],
  [/^\s*elif .+:\s*$|\}\s*elif\b/, "else if (…) { … }"],
  [/^\s*(?:if|while) [^(].*:\s*(?:#.*)?$/, "if (…) { … }"],
  [/^\s*(?:try|else|finally)\s*:\s*$/, "try { … } catch (error) { … }"],
  [/^\s*except\b.*:\s*$/, "catch (error) { … }"],
  [/^\s*from [\w.]+ import /, "no import: every server is a global"],
  [/^\s*import [\w.]+(?: as \w+)?\s*$/, "no import: every server is a global"],
  [/^\s*with .+ as \w+\s*:\s*$/, "const value = await …"],
  [/\[[^\]]*\bfor \w+(?:, *\w+)* in [^\]]*\]/, "list.filter((each) => …).map((each) => …)"],
  [/(?:^|[\s(=,+])f(["'])(?:(?!\1).)*\1/, "`…${value}…`"],
  [/\(\s*\*\*?\w+\s*\)/, "...list or { ...object }"],
  [/=\s*[^?:;{}]+\bif\b [^({]+\belse\b /, "condition ? a : b"],
  [/\w\[-?\d*:-?\d*\]/, "list.slice(from, to)"],
  [/\blambda \w*\s*:/, "(each) => …"],
  [/^\s*print [^(=]/, "console.log …"],
  [/^\s*#(?!!)/, "// for a comment"],
  [/"""/, "/* … */ for a comment, `…` for a string"],
  [/\bis (?:not )?None\b|\bnot in\b|\)\s+(?:and|or)\s+\w/, "=== null, !list.includes(…), && and ||"],
];

function python(source: string): string | undefined {
  const lines = source.split("\n");
  const found = pythonForms
    .map(([pattern, write]) => ({ line: lines.findIndex((text) => pattern.test(text)) + 1, write }))
    .filter(({ line }) => line > 0)
    .sort((a, b) => a.line - b.line);
  const shown = found.slice(0, 4).map(({ line, write }) => `line ${line}: ${write}`);
  return shown.length === 0 ? undefined : `This is Python; TypeScript is expected. Write on ${shown.join("; ")}.`;
}

function shell(source: string): string | undefined {
  const command =
    /^\s*(?:\$ )?(curl|wget|npm|npx|pip|python3?|node|bun|cat|ls|cd|echo|git|grep|jq|claudikins) [^=(]/.exec(
      source,
    )?.[1];
  return (
    command && `This is a shell command (${command}), not TypeScript. The sandbox has no shell: call a server's tool.`
  );
}

/** A line of words without any punctuation of code. */
function prose(source: string, line: number): string | undefined {
  const text = source.split("\n")[line - 1] ?? "";
  const isWords = /^\s*[A-Z][\p{L}']*(?:[ ,]+[\p{L}\d'’-]+){3,}[^=(){}[\];]*[.:!?]?\s*$/u.test(text);
  return isWords ? `Line ${line} is prose, not TypeScript: send only the code.` : undefined;
}
