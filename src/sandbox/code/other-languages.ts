/** Recognises text that is not TypeScript: a tool call, Python, a shell command, prose. */
import { isObject, parsedJson } from "../../base/json-object.ts";
import { literalText } from "../ast/arguments.ts";

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
