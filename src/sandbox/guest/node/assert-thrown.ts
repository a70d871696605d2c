/** Checks what was thrown against what `assert.throws` and `assert.rejects` expect. */
import { inspect } from "../inspect.ts";
import { AssertionError } from "./assertion-error.ts";
import { deepEqual } from "./deep-equal.ts";

/**
 * Throws AssertionError if the error does not match. `expected` is a class, a pattern for the text, a predicate, or an object with
 * properties.
 */
export function checkThrown(
  operator: string,
  missing: string,
  thrown: { error: unknown } | undefined,
  expected: unknown,
  message: string | undefined,
): void {
  const said = typeof expected === "string" ? expected : message;
  if (!thrown) {
    const name = typeof expected === "function" && expected.name ? ` (${expected.name})` : "";
    throw new AssertionError({ message: `${missing}${name}${said ? `: ${said}` : "."}`, expected, operator });
  }
  const { error } = thrown;
  if (expected === undefined || typeof expected === "string") return;
  if (expected instanceof RegExp) {
    if (expected.test(String(error))) return;
  } else if (typeof expected === "function") {
    const { prototype } = expected as { prototype?: unknown };
    if (prototype !== undefined && error instanceof (expected as new () => object)) return;
    const isErrorClass = expected === Error || prototype instanceof Error;
    if (!isErrorClass && (expected as (error: unknown) => unknown)(error) === true) return;
  } else if (hasProperties(error, expected as object)) return;
  const text = said ?? `The error is not the expected one:\n\n${inspect(error)}\n\nexpected ${inspect(expected)}`;
  throw new AssertionError({ message: text, actual: error, expected, operator });
}

function hasProperties(error: unknown, expected: object): boolean {
  if (typeof error !== "object" || error === null) return false;
  const names = expected instanceof Error ? ["name", "message", ...Object.keys(expected)] : Object.keys(expected);
  return names.every((name) => {
    const wanted = (expected as Record<string, unknown>)[name];
    const found = (error as Record<string, unknown>)[name];
    if (wanted instanceof RegExp && typeof found === "string") return wanted.test(found);
    return deepEqual(found, wanted, true);
  });
}
