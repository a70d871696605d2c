/** Makes JS names and file names for servers and tools. Different things never get the same name. */

/** Words that cannot be the name of a function in a module. */
const keywords =
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false " +
  "finally for function if implements import in instanceof interface let new null package private protected public return " +
  "static super switch this throw true try typeof undefined var void while with yield";

const keywordSet: ReadonlySet<string> = new Set(keywords.split(" "));

const reserved = new Set(
  (
    `${keywords} abstract any as asserts async bigint boolean constructor declare from get infer is keyof module namespace ` +
    "never number object of prototype readonly require set string symbol type unique unknown using"
  ).split(" "),
);

/** These words, and the other names in generated files. */
const notForFunctions = new Set([...keywordSet, "tool", "example", "notes", "call", "program", "Promise"]);

/** The name of a tool's function in its generated file: `delete` → `delete_`. */
export function functionName(tool: string): string {
  const name = toIdentifier(tool);
  return notForFunctions.has(name) ? `${name}_` : name;
}

/** Whether the word cannot name a variable or a function. */
export function isKeyword(word: string): boolean {
  return keywordSet.has(word);
}

/** Whether the text is an identifier. Reserved words count, because `server.delete` is valid. */
export function isIdentifier(text: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(text);
}

/** `get-sum` → `get_sum`, `2fa` → `_2fa`. A name that is an identifier stays, reserved words included. */
export function toIdentifier(name: string): string {
  if (isIdentifier(name)) return name;
  const cleaned = name.replace(/(?:[^\p{ID_Continue}$]|[\u200c\u200d])+/gu, "_");
  return isIdentifier(cleaned) ? cleaned : `_${cleaned}`;
}

export interface JsNamed {
  name: string;
  /** Undefined if another name has it: then only the original name can be used. */
  jsName: string | undefined;
}

interface NamingResult {
  names: JsNamed[];
  /** Groups of names that would get the same identifier. */
  collisions: { jsName: string; names: string[] }[];
}

/**
 * Assigns JS names. A name that is an identifier stays. Others that would get the same identifier get none and are reported
 * together. `taken` are names that must not be hidden.
 */
export function assignNames(names: readonly string[], taken: ReadonlySet<string> = new Set()): NamingResult {
  const wanting = Map.groupBy(names, toIdentifier);
  const owner = (name: string): string | undefined => {
    const jsName = toIdentifier(name);
    if (taken.has(jsName)) return undefined;
    const rivals = wanting.get(jsName) ?? [];
    return rivals.length === 1 || name === jsName ? jsName : undefined;
  };
  return {
    names: names.map((name) => ({ name, jsName: owner(name) })),
    collisions: [...wanting]
      .filter(([, rivals]) => rivals.length > 1)
      .map(([jsName, rivals]) => ({ jsName, names: rivals })),
  };
}

/** Globals of the sandbox that a server's name must not hide. `fetch` and `memory` are not globals. */
export const sandboxGlobals: ReadonlySet<string> = new Set([
  ...(
    "servers tools callTool __mcp_call __watch __notice __using __import __meta fs console display sleep skills process require module exports __filename __dirname " +
    "Object Array String Number Boolean Symbol BigInt Math JSON Date RegExp Map Set WeakMap WeakSet WeakRef Promise Proxy Reflect " +
    "Error ToolError AggregateError TypeError RangeError SyntaxError ReferenceError EvalError URIError ArrayBuffer DataView Function " +
    "Intl URL URLSearchParams TextEncoder TextDecoder Buffer AbortController AbortSignal Iterator Infinity NaN undefined globalThis " +
    "eval isNaN isFinite parseInt parseFloat encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape " +
    "setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask structuredClone atob btoa " +
    "crypto performance Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float32Array Float64Array " +
    "Float16Array BigInt64Array BigUint64Array Uint8ClampedArray SharedArrayBuffer FinalizationRegistry InternalError " +
    "global self Event EventTarget CustomEvent DOMException"
  ).split(" "),
  ...reserved,
]);

/**
 * Assigns file names: only letters, digits, dashes and underscores, not differing only in case, and not `index` or another
 * generated file's name.
 */
export function assignFileNames(names: readonly string[]): Map<string, string> {
  const used = new Set(["index", "client", "example"]);
  const result = new Map<string, string>();
  for (const name of [...names].sort()) {
    const base =
      toIdentifier(name)
        .replace(/[^A-Za-z0-9_-]/g, "_")
        .slice(0, 100) || "_";
    let file = base;
    for (let count = 2; used.has(file.toLowerCase()); count++) file = `${base}_${count}`;
    used.add(file.toLowerCase());
    result.set(name, file);
  }
  return result;
}

/** The folder name of a server: its config key, if that is safe. Windows ignores dots at the end of a name. */
export function toFolderName(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_.-]+/g, "_").replace(/^\.+/, "_");
  return cleaned.slice(0, 100).replace(/\.+$/, "_") || "_";
}
