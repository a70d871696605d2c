/** Whether an outcome that is ok deserves a second look: asked after every execution, so that nothing is parsed for it. */
import { textOf } from "./binding-value.ts";
import type { LogEntry } from "./contract.ts";
import type { RecordedCalls } from "./seen-calls.ts";

export interface Ended {
  code: string;
  json: string | undefined;
  /** What the guest noticed. */
  notes: string | undefined;
  logs: readonly LogEntry[];
  calls: readonly RecordedCalls[];
}

const telling = ["undefined", "NaN", "[object "];
/** Every name is looked for in every result. */
const maxNames = 200;
const maxResults = 4_000_000;
/** Longer values are not searched for nothings. */
const shortValue = 10_000;
const nothing = /^(?:0|\[\]|\{\}|null|"")$|[:[,](?:0|\[\]|null|\{\})[,}\]]/;

export function isSuspicious({ code, json, notes, logs, calls }: Ended): boolean {
  if (notes !== undefined || calls.some(({ failures }) => failures > 0)) return true;
  if (json === undefined || (json.length < shortValue && nothing.test(json))) return true;
  if (telling.some((word) => json.includes(word))) return true;
  if (logs.some(({ text }) => telling.some((word) => text.includes(word)))) return true;
  return readsWhatIsNowhere(code, calls);
}

/** A property is read whose name is in no result, and that the program does not seem to make itself. */
function readsWhatIsNowhere(code: string, calls: readonly RecordedCalls[]): boolean {
  if (calls.length === 0) return false;
  const names = new Set<string>();
  for (const [, name = ""] of code.matchAll(/\.\s*([A-Za-z_$][\w$]*)\b(?!\s*\()/g)) names.add(name);
  const results = calls.flatMap((each) => each.results.map(textOf));
  if (results.reduce((sum, text) => sum + text.length, 0) > maxResults) return false;
  for (const name of [...names].slice(0, maxNames)) {
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
