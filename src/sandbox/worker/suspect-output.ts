/**
 * Decides whether the output of a program that succeeded may be wrong. It runs after every execution, and compares the text of the program
 * with its results. A correct program should not look suspicious, because its answer would wait for the advice.
 */

import { isObject } from "../../base/json-object.ts";
import { parsedValue, textOf } from "../binding-value.ts";
import type { LogEntry } from "../contract.ts";
import type { SeenCalls } from "../seen-calls.ts";

/** Characters of a program that is looked through once more after it succeeded, for signs that its output is wrong. */
const maxSuspectedCodeChars = 20_000;

/** Names and texts of a program that are searched for in the results. */
const maxSuspectedNames = 200;

/** Characters of results that are searched for them. */
const maxSuspectedResultChars = 4_000_000;

/** Characters of one result that are parsed, or searched for other spellings. */
const maxReadResultChars = 500_000;

/** Characters of a value that is searched for empty parts. */
const maxEmptySearchChars = 10_000;

/** The output of a program that succeeded. */
export interface ProgramOutput {
  /** The value as JSON; undefined if there is none. */
  json: string | undefined;
  notes: Notes | undefined;
  /** The first lines of the log. */
  logs: readonly LogEntry[];
  /** Whether something was displayed. */
  displayed: boolean;
  calls: readonly SeenCalls[];
}

/** What the guest noticed, see guest/oddities.ts. */
export interface Notes {
  /** A promise that was not awaited still ran when the program had its value. */
  late: boolean;
  /** Properties that were read from promises of tools. */
  unawaited: { tool: string; key: string }[];
  odd: { kind: string; path: string; count: number }[];
}

const nothing = /^(?:|0|\[\]|\{\}|null|""|\{"\w+":(?:0|\[\])\})$/;
const emptyPart = /[:[,](?:0|\[\]|null|\{\})[,}\]]/;
const notANumber = /(?<![\w"'`])NaN(?![\w"'`])/;

/** `list.map((o) => { id: o.id })`. */
const labelForKey = /=>\s*\{\s*[\w$]+\s*:(?!\s*(?:for|while|do)\b)/;

/** `count = async () => …` or `function count() { … }` at the beginning of a line. */
const declaredFunction =
  /^(?:async\s+)?function\b|^(?:const|let|var)\s+[\w$]+\s*=\s*(?:async\b|function\b|\([^)\n]*\)\s*=>|[\w$]+\s*=>)/m;

/** `counts[country] = 1`, after a Map was made. */
const indexedMap = /\bnew Map\(\)[\s\S]*?\]\s*(?:[-+*/]|\?\?|\|\|)?=[^=>]/;

/** `servers` are the names of the servers in the code. */
export function isSuspicious(code: string, output: ProgramOutput, servers: readonly string[]): boolean {
  if (code.length > maxSuspectedCodeChars) return false;
  const { json = "", notes, logs, displayed, calls } = output;
  const odd = (kind: string) => notes?.odd.find((each) => each.kind === kind);
  const isSilent = logs.length === 0 && !displayed;
  if (calls.length === 0)
    return odd("function")?.path === "" || (isSilent && json === "" && declaresWork(code, servers));
  const isRefused = calls.some((each) => each.failures === each.calls && each.failure?.code === "INVALID_ARGUMENTS");
  if (isRefused || odd("circular") || (notes !== undefined && notes.unawaited.length > 0)) return true;
  // A list of undefined comes from a callback without a return.
  if (odd("undefined")?.path.endsWith("]") || labelForKey.test(code)) return true;
  if ((notes?.late && changesLate(code)) || (json.includes("{}") && indexedMap.test(code))) return true;
  return readsWrongly(code, output, servers);
}

/** The program declares a function that uses a server; asked if nothing ran. */
function declaresWork(code: string, servers: readonly string[]): boolean {
  return declaredFunction.test(code) && servers.some((name) => code.includes(name));
}

/** `list.forEach(async (each) => { total += … })`, or `add(each);` with an async function: work that nothing waits for, and that changes something. */
function changesLate(code: string): boolean {
  if (!/\+\+|--|[-+*/%&|?]=|^\s*[\w$.[\]]+\s*=[^=>]|\.(?:push|set|add|unshift)\(/m.test(code)) return false;
  if (/\.(?:forEach|map)\(\s*async\b/.test(code)) return true;
  const called = code.matchAll(/^\s*([\w$]+)\([^()]*\);?\s*$/gm);
  return called.some(([, name = ""]) =>
    new RegExp(`\\basync function ${RegExp.escape(name)}\\b|\\b${RegExp.escape(name)}\\s*=\\s*async\\b`).test(code),
  );
}

/**
 * The program reads a name or compares a text that is in no result. The results have another spelling of it, or the output shows that it
 * was missing.
 */
function readsWrongly(
  code: string,
  { json = "", notes, logs, displayed, calls }: ProgramOutput,
  servers: readonly string[],
) {
  const results = calls.flatMap((each) => each.results.map(textOf));
  if (results.reduce((sum, text) => sum + text.length, 0) > maxSuspectedResultChars) return false;
  const areAbsent = (names: string[]) => names.filter((name) => !results.some((text) => text.includes(`"${name}"`)));
  const names = areAbsent([...namesRead(code), ...namesTaken(code)]);
  const texts = areAbsent(textsCompared(code));
  const showsUndefined = [json, ...logs.map(({ text }) => text)].some((text) => text.includes("undefined"));
  const isNothing = logs.length === 0 && !displayed && nothing.test(json);
  if (isNothing && names.length + texts.length > 0) return true;
  const hasNaN =
    !/\bNaN\b/.test(code) &&
    (notes?.odd.some(({ kind }) => kind === "NaN") || logs.some(({ text }) => notANumber.test(text)));
  const lost = notes?.odd.find(({ kind }) => kind === "undefined");
  const [, key] = /\.([\w$]+)$/.exec(lost?.path ?? "") ?? [];
  const isKept = (name: string) =>
    new RegExp(`\\b${RegExp.escape(key ?? "")}\\s*:\\s*[\\w$.]+\\.${RegExp.escape(name)}\\s*[,}]`).test(code);
  // `{ id: order.order_id }`
  if (key !== undefined && names.some(isKept)) return true;
  if ((showsUndefined || hasNaN) && names.length > 0) return true;
  const folded =
    names.length + texts.length > 0 ? results.map((text) => fold(text.slice(0, maxReadResultChars))).join("\n") : "";
  if ([...names, ...texts].some((name) => folded.includes(`"${fold(name)}"`))) return true;
  const isEmpty = isNothing || showsUndefined || lost !== undefined;
  const hasEmptyPart = json.length < maxEmptySearchChars && emptyPart.test(json);
  return (isEmpty || hasEmptyPart) && (isOneLevelBelow(code, calls) || asksForLength(code, results, servers));
}

/** The properties that the code reads, without the ones that it seems to set itself. */
function namesRead(code: string): string[] {
  const names = new Set<string>();
  for (const [, name = ""] of code.matchAll(/(?<!\benv)\.\s*([A-Za-z_$][\w$]*)\b(?!\s*\()/g))
    if (!known.has(name)) names.add(name);
  const isSet = (name: string) =>
    new RegExp(`(?<!\\.)\\b${RegExp.escape(name)}\\s*[:,}(]|\\b${RegExp.escape(name)}\\s*=(?!=)`).test(code);
  return [...names].slice(0, maxSuspectedNames).filter((name) => !isSet(name));
}

/** The names in `const { orders, nextCursor } = await …`, without the ones that have a default. */
function namesTaken(code: string): string[] {
  const names: string[] = [];
  for (const [, inside = ""] of code.matchAll(/\b(?:const|let|var)\s*\{([^{}]*)\}\s*=\s*await\b/g)) {
    for (const each of inside.split(",")) {
      const [, name] = /^\s*([A-Za-z_$][\w$]*)\s*(?::[^=]*)?$/.exec(each) ?? [];
      if (name !== undefined) names.push(name);
    }
  }
  return names.slice(0, maxSuspectedNames);
}

/** The strings that the code compares something with. */
function textsCompared(code: string): string[] {
  const compared = code.matchAll(/(?:[!=]==?|\bcase)\s*(["'])(\w[^"'\n]{0,60})\1|(["'])(\w[^"'\n]{0,60})\3\s*[!=]==?/g);
  const listed = [...code.matchAll(/\[([^[\]\n]*)\]\.includes\(/g)].flatMap(([, list = ""]) =>
    list.matchAll(/(["'])(\w[^"'\n]{0,60})\1/g).toArray(),
  );
  const all = [...compared, ...listed].map((match) => match[2] ?? match[4] ?? "");
  return [...new Set(all)].filter((text) => !states.has(text)).slice(0, maxSuspectedNames);
}

/** Case, dashes, underscores and spaces do not count. */
function fold(text: string): string {
  return text.toLowerCase().replace(/[-_ ]/g, "");
}

/** The code uses `orders`, results are `{ result: { orders } }`, and `result` is not in the code. */
function isOneLevelBelow(code: string, calls: readonly SeenCalls[]): boolean {
  const words = new Set(code.match(/[\w$]+/g));
  return calls.some(({ results: [first] }) => {
    const value = first && textOf(first).length <= maxReadResultChars ? parsedValue(first) : undefined;
    const parts = isObject(value) ? Object.entries(value).filter(([key]) => !words.has(key)) : [];
    return parts.some(([, part]) => isObject(part) && Object.keys(part).some((key) => words.has(key)));
  });
}

/** `const found = await demo.list_orders()`, which is an object, and `found.length`. */
function asksForLength(code: string, results: readonly string[], servers: readonly string[]): boolean {
  if (!results.some((text) => text.startsWith("{"))) return false;
  const made = code.matchAll(/\b(?:const|let|var)\s+([\w$]+)\s*=\s*await\s+([\w$]+)\b/g);
  return made.some(
    ([, name, server = ""]) =>
      servers.includes(server) && (code.includes(`${name}.length`) || code.includes(`${name}?.length`)),
  );
}

/** Texts that programs compare with something other than a result: the type of a value, or the state of a promise. */
const states = new Set(["string", "number", "boolean", "object", "function", "undefined", "fulfilled", "rejected"]);

/** Properties that do not come from results. */
const known = new Set(
  [Array, String, Object, Promise, Map, Number, Date, RegExp, Error]
    .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
    .concat("size", "env", "raw", "stdout", "groups", "index", "value", "done", "cause", "stack", "code", "hint"),
);
