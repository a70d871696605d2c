/** Compares what a program does in a replay with its recording. */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/json-object.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { type Expectations, kindOf, type Path, placeText, problemWith } from "./expectations.ts";
import { calledName, type Recording } from "./format.ts";
import type { MadeCall, Replay } from "./replay.ts";
import type { ReplayableCall } from "./replayable.ts";

/** Differences that are listed for one recording. */
const maxDifferences = 50;

export type DifferenceKind =
  | "missing call"
  | "new call"
  | "order"
  | "missing"
  | "new"
  | "value"
  | "type"
  | "failure"
  | "no failure";

export interface Difference {
  kind: DifferenceKind;
  /** `output.total`, `calls[2]`, `calls[2].arguments.month`. */
  at: string;
  /** One sentence for people. */
  text: string;
  expected?: unknown;
  actual?: unknown;
}

/** Whether the arguments are those of a recorded call. Places with expectations are compared later. */
export function hasSameValue(expected: unknown, actual: unknown, path: Path, expectations: Expectations): boolean {
  return isDeepStrictEqual(expected, actual) || differencesAt(expected, actual, path, expectations).length === 0;
}

/** The differences between a recording and a replay of it. Empty if the program does the same. */
export async function differencesIn(
  recording: Recording,
  replay: Replay<ReplayableCall>,
  outcome: Outcome,
  expectations: Expectations,
): Promise<Difference[]> {
  const calls: Difference[] = [];
  const sent = new Set<ReplayableCall>();
  for (const made of replay.made) {
    calls.push(...(await differencesOfCall(made, sent, replay.made, expectations)));
    if (made.known) sent.add(made.known);
  }
  const missing = [...replay.left].map((call): Difference => {
    const text = `${calledName(call)} is not called any more`;
    return { kind: "missing call", at: `calls[${call.place}]`, text, expected: call.args };
  });
  const end = await differencesOfEnd(recording, outcome, expectations);
  return [...calls, ...missing, ...end].slice(0, maxDifferences);
}

async function differencesOfCall(
  made: MadeCall<ReplayableCall>,
  sent: ReadonlySet<ReplayableCall>,
  all: readonly MadeCall<ReplayableCall>[],
  expectations: Expectations,
): Promise<Difference[]> {
  const { known, args } = made;
  const name = calledName(made);
  if (!known) {
    return [
      {
        kind: "new call",
        at: `calls[${all.length}]`,
        text: `${name} is called, which the recording does not have`,
        actual: args,
      },
    ];
  }
  const before = all.find(({ known: other }) => other && !sent.has(other) && other.order <= known.after);
  const order: Difference[] = before?.known
    ? [
        {
          kind: "order",
          at: `calls[${known.place}]`,
          text: `${name} is called before ${calledName(before)}, whose answer came first in the recording`,
        },
      ]
    : [];
  const path = ["calls", known.place, "arguments"];
  return [...order, ...(await compared(known.args, args, path, expectations))];
}

async function differencesOfEnd(
  { failure, ...recording }: Recording,
  outcome: Outcome,
  expectations: Expectations,
): Promise<Difference[]> {
  if (!outcome.ok) {
    const { message, code, line } = outcome.error;
    if (failure && failure.message === message && failure.code === code) return [];
    const place = line === undefined ? "" : ` in line ${line}`;
    const text = failure
      ? `The program fails in another way${place}: ${message}`
      : `The program fails${place}: ${message}`;
    return [{ kind: "failure", at: "output", text, expected: failure?.message, actual: message }];
  }
  if (failure) {
    const text = `The program does not fail any more. The recording has: ${failure.message}`;
    return [{ kind: "no failure", at: "output", text, expected: failure.message }];
  }
  const { value, logs } = outcome;
  const found = await compared(recording.output, value, ["output"], expectations);
  if (!recording.logs) return found;
  const texts = logs.map(({ text }) => text);
  return [...found, ...(await compared(recording.logs, texts, ["logs"], expectations))];
}

function compared(expected: unknown, actual: unknown, path: Path, expectations: Expectations): Promise<Difference[]> {
  return checked(differencesAt(expected, actual, path, expectations), actual, path, expectations);
}

/** Adds what is not as expected in places whose exact value does not matter. */
async function checked(
  found: Difference[],
  value: unknown,
  path: Path,
  expectations: Expectations,
): Promise<Difference[]> {
  const all = [...found];
  for (const [at, each, schema] of expectedPlaces(value, path, expectations)) {
    const problem = await problemWith(each, schema);
    if (problem === undefined) continue;
    const text = `${placeText(at)} is ${shown(each)}, which is not as expected: ${problem}`;
    all.push({ kind: "value", at: placeText(at), text, actual: each });
  }
  return all;
}

type ExpectedPlace = [path: Path, value: unknown, schema: NonNullable<ReturnType<Expectations["at"]>>];

function expectedPlaces(value: unknown, path: Path, expectations: Expectations): ExpectedPlace[] {
  const schema = expectations.at(path);
  if (schema) return [[path, value, schema]];
  if (Array.isArray(value)) return value.flatMap((each, at) => expectedPlaces(each, [...path, at], expectations));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => expectedPlaces(each, [...path, key], expectations));
}

function differencesAt(expected: unknown, actual: unknown, path: Path, expectations: Expectations): Difference[] {
  if (expectations.at(path) || expected === actual) return [];
  if (Array.isArray(expected) && Array.isArray(actual)) return differencesOfLists(expected, actual, path, expectations);
  if (isObject(expected) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
    return keys.flatMap((key) => {
      const [one, other] = [expected, actual].map((each) => (Object.hasOwn(each, key) ? each[key] : undefined));
      return differencesAt(one, other, [...path, key], expectations);
    });
  }
  const at = placeText(path);
  if (actual === undefined)
    return [{ kind: "missing", at, text: `${at} is missing; it was ${shown(expected)}`, expected }];
  if (expected === undefined) return [{ kind: "new", at, text: `${at} is new: ${shown(actual)}`, actual }];
  if (kindOf(expected) !== kindOf(actual)) {
    const text = `${at} is ${typed(actual)}; it was ${typed(expected)}`;
    return [{ kind: "type", at, text, expected, actual }];
  }
  if (typeof expected === "string" && isMasked(expected, String(actual))) return [];
  const [is, was] = shownApart(actual, expected);
  return [{ kind: "value", at, text: `${at} is ${is}; it was ${was}`, expected, actual }];
}

function differencesOfLists(
  expected: readonly unknown[],
  actual: readonly unknown[],
  path: Path,
  expectations: Expectations,
): Difference[] {
  const at = placeText(path);
  const both = Math.min(expected.length, actual.length);
  const each = expected.slice(0, both).flatMap((one, index) => {
    return differencesAt(one, actual[index], [...path, index], expectations);
  });
  if (expected.length === actual.length) return each;
  const text = `${at} has ${actual.length} items; it had ${expected.length}`;
  return [{ kind: "value", at, text, expected: expected.length, actual: actual.length }, ...each];
}

/** Whether the text is the one in which secrets were replaced. */
function isMasked(expected: string, actual: string): boolean {
  const parts = expected.split(secretMark);
  if (parts.length === 1) return false;
  let from = 0;
  for (const [at, part] of parts.entries()) {
    const found = at === parts.length - 1 ? actual.lastIndexOf(part) : actual.indexOf(part, from);
    if (found < from || (at === 0 && found !== 0)) return false;
    from = found + part.length;
  }
  return from === actual.length;
}

/** What stands in a recording for a secret. */
const secretMark = /\*\*\*|\$\{\w+\}/;

/** Characters of a value in a text. */
const maxShownChars = 100;

/** Characters that are shown before the place where two long texts differ. */
const sameChars = 20;

/** `a number (350)` */
function typed(value: unknown): string {
  return value === null ? "null" : `${kindOf(value)} (${shown(value)})`;
}

/** Long texts that begin in the same way are shown from shortly before the place where they differ. */
function shownApart(actual: unknown, expected: unknown): [actual: string, expected: string] {
  if (typeof actual !== "string" || typeof expected !== "string") return [shown(actual), shown(expected)];
  let same = 0;
  while (same < actual.length && actual[same] === expected[same]) same += 1;
  const from = same - sameChars;
  if (same < maxShownChars / 2 || from <= 0) return [shown(actual), shown(expected)];
  return [`…${shown(actual.slice(from))}`, `…${shown(expected.slice(from))}`];
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? "undefined";
  return json.length > maxShownChars ? `${json.slice(0, maxShownChars)}…` : json;
}
