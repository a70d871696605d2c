/** `node:assert` and `node:assert/strict`. */
import { inspect } from "../inspect.ts";
import { deepEqual, loosely } from "./deep-equal.ts";

type Message = string | Error | undefined;

interface Details {
  message: string;
  operator: string;
  actual?: unknown;
  expected?: unknown;
  generatedMessage?: boolean;
}

class AssertionError extends Error {
  override name = "AssertionError";
  readonly code = "ERR_ASSERTION";
  constructor({ message, ...details }: Details) {
    super(message);
    Object.assign(this, { generatedMessage: false, actual: undefined, expected: undefined }, details);
  }
}

const show = (value: unknown) => inspect(value, { depth: 10, breakLength: 80 });

/** Throws the message if it is an error, or an AssertionError with the message or with `text`. */
function refuse(message: Message, text: string, details: Omit<Details, "message">): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message: message ?? text, generatedMessage: message === undefined, ...details });
}

function ok(value?: unknown, message?: Message): void {
  if (value) return;
  const text = `The expression evaluated to a falsy value: ${show(value)}`;
  refuse(message, text, { actual: value, expected: true, operator: "==" });
}

type Equality = (actual: unknown, expected: unknown) => boolean;
type Comparison = (actual: unknown, expected: unknown, message?: Message) => void;

/** Makes an assertion. `sign` is written between the two values if it fails. */
function comparison(operator: string, expectation: string, sign: string, holds: Equality): Comparison {
  return (actual, expected, message) => {
    if (holds(actual, expected)) return;
    const text = `${expectation}:\n\n${show(actual)} ${sign} ${show(expected)}`;
    refuse(message, text, { actual, expected, operator });
  };
}

const not =
  (holds: Equality): Equality =>
  (actual, expected) =>
    !holds(actual, expected);
const deeply: Equality = (actual, expected) => deepEqual(actual, expected, true);
const looselyDeeply: Equality = (actual, expected) => deepEqual(actual, expected, false);
const matches: Equality = (text, pattern) => typeof text === "string" && (pattern as RegExp).test(text);

const equal = "Expected values to be";
const unequal = "Expected values not to be";
const matched = "The input did not match the regular expression";
const unmatched = "The input was expected not to match the regular expression";

const strict = {
  strictEqual: comparison("strictEqual", `${equal} strictly equal`, "!==", Object.is),
  notStrictEqual: comparison("notStrictEqual", `${unequal} strictly equal`, "===", not(Object.is)),
  deepStrictEqual: comparison("deepStrictEqual", `${equal} strictly deep-equal`, "should equal", deeply),
  notDeepStrictEqual: comparison(
    "notDeepStrictEqual",
    `${unequal} strictly deep-equal`,
    "should not equal",
    not(deeply),
  ),
  match: comparison("match", matched, "should match", matches),
  doesNotMatch: comparison("doesNotMatch", unmatched, "should not match", not(matches)),
};

const loose = {
  equal: comparison("==", `${equal} loosely equal`, "!=", loosely),
  notEqual: comparison("!=", `${unequal} loosely equal`, "==", not(loosely)),
  deepEqual: comparison("deepEqual", `${equal} loosely deep-equal`, "should equal", looselyDeeply),
  notDeepEqual: comparison("notDeepEqual", `${unequal} loosely deep-equal`, "should not equal", not(looselyDeeply)),
};

/** Something that was thrown, which can be any value. */
type Thrown = { error: unknown } | undefined;

function thrownBy(block: () => unknown): Thrown {
  try {
    block();
    return undefined;
  } catch (error) {
    return { error };
  }
}

async function rejectionOf(given: PromiseLike<unknown> | (() => PromiseLike<unknown>)): Promise<Thrown> {
  try {
    await (typeof given === "function" ? given() : given);
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** `expected` is a class, a pattern for the text, a predicate, or an object with properties. */
function checkThrown(operator: string, what: string, thrown: Thrown, expected: unknown, message?: Message): void {
  const given = typeof expected === "string" ? expected : message;
  if (!thrown) {
    const name = typeof expected === "function" && expected.name ? ` (${expected.name})` : "";
    const end = given === undefined ? "." : `: ${given}`;
    throw new AssertionError({ message: `Missing expected ${what}${name}${end}`, expected, operator });
  }
  const { error } = thrown;
  if (expected === undefined || typeof expected === "string" || isExpected(error, expected)) return;
  const text = `The error is not the expected one:\n\n${inspect(error)}\n\nexpected ${inspect(expected)}`;
  refuse(given, text, { actual: error, expected, operator });
}

function isExpected(error: unknown, expected: unknown): boolean {
  if (expected instanceof RegExp) return expected.test(String(error));
  if (typeof expected !== "function") return hasProperties(error, expected as object);
  const { prototype } = expected;
  if (prototype !== undefined && error instanceof expected) return true;
  const isErrorClass = expected === Error || prototype instanceof Error;
  return !isErrorClass && expected(error) === true;
}

function hasProperties(error: unknown, expected: object): boolean {
  if (typeof error !== "object" || error === null) return false;
  const names = expected instanceof Error ? ["name", "message", ...Object.keys(expected)] : Object.keys(expected);
  return names.every((name) => {
    const wanted = (expected as Record<string, unknown>)[name];
    const found = (error as Record<string, unknown>)[name];
    return wanted instanceof RegExp && typeof found === "string" ? wanted.test(found) : deeply(found, wanted);
  });
}

function checkNotThrown(operator: string, what: string, thrown: Thrown, message: unknown): void {
  if (!thrown) return;
  const { error } = thrown;
  const text = `Got unwanted ${what}: ${(error as Error | undefined)?.message}`;
  refuse(typeof message === "string" ? message : undefined, text, { actual: error, operator });
}

type Block = Parameters<typeof thrownBy>[0];
type Async = Parameters<typeof rejectionOf>[0];

const shared = {
  AssertionError,
  ok,
  fail: (message: Message = "Failed") => refuse(message, "", { operator: "fail" }),
  ...strict,
  throws: (block: Block, expected?: unknown, message?: Message) =>
    checkThrown("throws", "exception", thrownBy(block), expected, message),
  doesNotThrow: (block: Block, message?: unknown) =>
    checkNotThrown("doesNotThrow", "exception", thrownBy(block), message),
  rejects: async (given: Async, expected?: unknown, message?: Message) =>
    checkThrown("rejects", "rejection", await rejectionOf(given), expected, message),
  doesNotReject: async (given: Async, message?: unknown) =>
    checkNotThrown("doesNotReject", "rejection", await rejectionOf(given), message),
  ifError: (value: unknown) => {
    if (value !== null && value !== undefined) throw value;
  },
};

const make = (): typeof ok => (value, message) => ok(value, message);

export const assertStrict = Object.assign(make(), shared, {
  equal: strict.strictEqual,
  notEqual: strict.notStrictEqual,
  deepEqual: strict.deepStrictEqual,
  notDeepEqual: strict.notDeepStrictEqual,
});

export const assert = Object.assign(make(), shared, loose, { strict: assertStrict });
Object.assign(assertStrict, { strict: assertStrict });
