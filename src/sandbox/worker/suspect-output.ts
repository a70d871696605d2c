/**
 * Whether the output of a program that succeeded may be wrong. Asked after every execution, so no result is parsed
 * for it.
 */

import type { LogEntry } from "../contract.ts";
import { textOf } from "./binding-value.ts";
import type { RecordedCalls } from "./seen-calls.ts";

/** Characters of a program that is looked through once more after it succeeded, for signs that its output is wrong. */
const maxSuspectedCodeChars = 20_000;

/** Names of a program that are searched for in the results. */
const maxSuspectedNames = 200;

/** Characters of results that are searched for these names. */
const maxSuspectedResultChars = 4_000_000;

/** Characters of a value that is searched for empty parts for this. */
const maxEmptySearchChars = 10_000;

/** What a program that succeeded gave. */
export interface ProgramOutput {
  /** The value as JSON; undefined if there is none. */
  json: string | undefined;
  notes: Notes | undefined;
  /** The first lines of the log. */
  logs: readonly LogEntry[];
  /** Whether something was displayed. */
  displayed: boolean;
  calls: readonly RecordedCalls[];
}

/** What the guest noticed, see guest/oddities.ts. */
export interface Notes {
  /** A promise that was not awaited still ran when the program had its value. */
  late: boolean;
  /** Properties that were read from promises of tools. */
  unawaited: { tool: string; key: string }[];
  odd: { kind: string; path: string; count: number }[];
}

const telling = ["undefined", "NaN"];
const empty = /^(?:0|\[\]|\{\}|null|"")$|[:[,](?:0|\[\]|null|\{\})[,}\]]/;

export function isSuspicious(code: string, { json, notes, logs, displayed, calls }: ProgramOutput): boolean {
  if (code.length > maxSuspectedCodeChars) return false;
  const isSilent = json === undefined && logs.length === 0 && !displayed;
  // Without a call, only functions that never ran are worth a word.
  if (calls.length === 0) return isSilent || (notes?.odd.some(({ kind }) => kind === "function") ?? false);
  if (notes !== undefined || isSilent || calls.some(({ failures }) => failures > 0)) return true;
  if (json !== undefined && json.length < maxEmptySearchChars && empty.test(json)) return true;
  if (telling.some((word) => json?.includes(word) || logs.some(({ text }) => text.includes(word)))) return true;
  return readsUnknownProperty(code, calls);
}

/** Whether the code reads a property that is in no result, and that it does not seem to set itself. */
function readsUnknownProperty(code: string, calls: readonly RecordedCalls[]): boolean {
  const names = new Set<string>();
  for (const [, name = ""] of code.matchAll(/\.\s*([A-Za-z_$][\w$]*)\b(?!\s*\()/g)) names.add(name);
  const results = calls.flatMap((each) => each.results.map(textOf));
  if (results.reduce((sum, text) => sum + text.length, 0) > maxSuspectedResultChars) return false;
  for (const name of [...names].slice(0, maxSuspectedNames)) {
    if (known.has(name) || new RegExp(`\\b${name.replaceAll("$", "\\$")}\\s*[:=,}(]`).test(code)) continue;
    if (!results.some((text) => text.includes(`"${name}"`))) return true;
  }
  return false;
}

const known = new Set(
  [Array, String, Object, Promise, Map, Number, Date, RegExp, Error]
    .flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype))
    .concat("size", "env", "raw", "stdout", "groups", "index", "value", "done", "cause", "stack", "code", "hint"),
);
