/** The assertions that compare two values. */
import { inspect } from "../inspect.ts";
import { AssertionError } from "./assertion-error.ts";
import { deepEqual } from "./deep-equal.ts";

export type Message = string | Error | undefined;

type Comparison = (actual: unknown, expected: unknown, message?: Message) => void;

export const show = (value: unknown) => inspect(value, { depth: 10, breakLength: 80 });

/** Makes an assertion. `says` is the expectation, and `sign` is written between the two values if it fails. */
function comparison(
  operator: string,
  says: string,
  sign: string,
  holds: (actual: unknown, expected: unknown) => boolean,
): Comparison {
  return (actual, expected, message) => {
    if (holds(actual, expected)) return;
    if (message instanceof Error) throw message;
    const text = message ?? `${says}\n\n${show(actual)} ${sign} ${show(expected)}`;
    throw new AssertionError({ message: text, actual, expected, operator, generatedMessage: message === undefined });
  };
}

const not =
  (holds: (actual: unknown, expected: unknown) => boolean) =>
  (actual: unknown, expected: unknown): boolean =>
    !holds(actual, expected);

// biome-ignore lint/suspicious/noDoubleEquals: that is what loose equality is.
const loosely = (a: unknown, b: unknown) => a == b || (Number.isNaN(a) && Number.isNaN(b));
const deeply = (a: unknown, b: unknown) => deepEqual(a, b, true);
const looselyDeeply = (a: unknown, b: unknown) => deepEqual(a, b, false);
const matches = (text: unknown, pattern: unknown) => typeof text === "string" && (pattern as RegExp).test(text);

const equal = "Expected values to be";
const unequal = "Expected values not to be";

export const strictComparisons = {
  strictEqual: comparison("strictEqual", `${equal} strictly equal:`, "!==", Object.is),
  notStrictEqual: comparison("notStrictEqual", `${unequal} strictly equal:`, "===", not(Object.is)),
  deepStrictEqual: comparison("deepStrictEqual", `${equal} strictly deep-equal:`, "should equal", deeply),
  notDeepStrictEqual: comparison(
    "notDeepStrictEqual",
    `${unequal} strictly deep-equal:`,
    "should not equal",
    not(deeply),
  ),
  match: comparison("match", "The input did not match the regular expression:", "should match", matches),
  doesNotMatch: comparison(
    "doesNotMatch",
    "The input was expected not to match the regular expression:",
    "should not match",
    not(matches),
  ),
};

export const looseComparisons = {
  equal: comparison("==", `${equal} loosely equal:`, "!=", loosely),
  notEqual: comparison("!=", `${unequal} loosely equal:`, "==", not(loosely)),
  deepEqual: comparison("deepEqual", `${equal} loosely deep-equal:`, "should equal", looselyDeeply),
  notDeepEqual: comparison("notDeepEqual", `${unequal} loosely deep-equal:`, "should not equal", not(looselyDeeply)),
};
