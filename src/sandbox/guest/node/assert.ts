/** `node:assert` and `node:assert/strict`. */
import { looseComparisons, type Message, show, strictComparisons } from "./assert-comparisons.ts";
import { checkThrown } from "./assert-thrown.ts";
import { AssertionError } from "./assertion-error.ts";

function ok(value?: unknown, message?: Message): void {
  if (value) return;
  if (message instanceof Error) throw message;
  const text = message ?? `The expression evaluated to a falsy value: ${show(value)}`;
  throw new AssertionError({
    message: text,
    actual: value,
    expected: true,
    operator: "==",
    generatedMessage: !message,
  });
}

function throws(block: () => unknown, expected?: unknown, message?: string): void {
  let thrown: { error: unknown } | undefined;
  try {
    block();
  } catch (error) {
    thrown = { error };
  }
  checkThrown("throws", "Missing expected exception", thrown, expected, message);
}

function doesNotThrow(block: () => unknown, message?: unknown): void {
  try {
    block();
  } catch (error) {
    const text = typeof message === "string" ? message : `Got unwanted exception: ${(error as Error)?.message}`;
    throw new AssertionError({ message: text, actual: error, operator: "doesNotThrow" });
  }
}

async function rejects(given: Promise<unknown> | (() => Promise<unknown>), expected?: unknown, message?: string) {
  let thrown: { error: unknown } | undefined;
  const promise = typeof given === "function" ? given() : given;
  await promise.then(
    () => {},
    (error: unknown) => {
      thrown = { error };
    },
  );
  checkThrown("rejects", "Missing expected rejection", thrown, expected, message);
}

async function doesNotReject(given: Promise<unknown> | (() => Promise<unknown>)): Promise<void> {
  try {
    await (typeof given === "function" ? given() : given);
  } catch (error) {
    const message = `Got unwanted rejection: ${(error as Error)?.message}`;
    throw new AssertionError({ message, actual: error, operator: "doesNotReject" });
  }
}

function fail(message: string | Error = "Failed"): never {
  if (message instanceof Error) throw message;
  throw new AssertionError({ message, operator: "fail" });
}

const shared = {
  AssertionError,
  ok,
  fail,
  ...strictComparisons,
  throws,
  doesNotThrow,
  rejects,
  doesNotReject,
  ifError: (value: unknown) => {
    if (value !== null && value !== undefined) throw value;
  },
};

const make = (): typeof ok => (value, message) => ok(value, message);

export const assertStrict = Object.assign(make(), shared, {
  equal: strictComparisons.strictEqual,
  notEqual: strictComparisons.notStrictEqual,
  deepEqual: strictComparisons.deepStrictEqual,
  notDeepEqual: strictComparisons.notDeepStrictEqual,
});

export const assert = Object.assign(make(), shared, looseComparisons, { strict: assertStrict });
Object.assign(assertStrict, { strict: assertStrict });
