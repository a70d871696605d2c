/** Names of servers and tools → names that code and files can use, without ever making two things one. */

const reserved = new Set(
  (
    "abstract any arguments as asserts async await bigint boolean break case catch class const constructor continue debugger " +
    "declare default delete do else enum eval export extends false finally for from function get if implements import in " +
    "infer instanceof interface is keyof let module namespace never new null number object of package private protected " +
    "prototype public readonly require return set static string super switch symbol this throw true try type typeof " +
    "undefined unique unknown using var void while with yield"
  ).split(" "),
);

/** Whether no variable or function can have the name. */
export function isReserved(name: string): boolean {
  return reserved.has(name);
}

/** Words that may be property names but not identifiers stay usable as `server.word`. */
export function isIdentifier(text: string): boolean {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u.test(text);
}

/**
 * `get-sum` → `get_sum`, `2fa` → `_2fa`. A name that is an identifier stays as it is, reserved words included; in others
 * the invisible joiners of emoji go with them.
 */
export function toIdentifier(name: string): string {
  if (isIdentifier(name)) return name;
  const cleaned = name.replace(/(?:[^\p{ID_Continue}$]|[\u200c\u200d])+/gu, "_");
  return isIdentifier(cleaned) ? cleaned : `_${cleaned}`;
}

export interface Named {
  name: string;
  /** Undefined where another name has it: then only the original name reaches the thing. */
  jsName: string | undefined;
}

export interface NamingResult {
  names: Named[];
  /** Groups of names that would become the same identifier. */
  collisions: { jsName: string; names: string[] }[];
}

/**
 * JS names for a set of names. A name that is an identifier already keeps it; others that would become the same get
 * none, and are reported together. `taken` are names that must not be hidden.
 */
export function assignNames(names: readonly string[], taken: ReadonlySet<string> = new Set()): NamingResult {
  const wanting = new Map<string, string[]>();
  for (const name of names) {
    const jsName = toIdentifier(name);
    wanting.set(jsName, [...(wanting.get(jsName) ?? []), name]);
  }
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

/** Globals of the sandbox that a server's name must not hide. A server called `fetch` or `memory` hides nothing. */
export const sandboxGlobals: ReadonlySet<string> = new Set([
  ...(
    "servers tools callTool __mcp_call __watch __notice __using __import __meta fs console display skills process require module exports __filename __dirname " +
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
 * Names for files, one for each: only letters, digits, dash and underscore, no two that differ only in case, and none
 * that is `index` or another name of the files beside them.
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

/** A folder name for a server: like the config key, where that is safe. */
export function toFolderName(name: string): string {
  const cleaned = name.replace(/[^A-Za-z0-9_.-]+/g, "_").replace(/^\.+/, "_");
  return cleaned.slice(0, 100) || "_";
}
