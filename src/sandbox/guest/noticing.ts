/**
 * Warns about mistakes that raise no error. Warnings are written to the log when the mistake happens, with the line of the program.
 */
import { hasCalled } from "./calls.ts";
import { host } from "./host.ts";
import { named } from "./named.ts";

const warned = new Set<string>();

function warn(line: number, text: string): void {
  const message = `warning, line ${line}: ${text}`;
  // A program without data from tools may be testing the language itself.
  if (warned.has(message) || !hasCalled()) return;
  warned.add(message);
  host.log("warn", message);
}

let thrown: { value: unknown; stack: string } | undefined;

/** Returns the stack where a value that is not an Error was thrown. */
export function stackOfThrown(value: unknown): string | undefined {
  return thrown && Object.is(thrown.value, value) ? thrown.stack : undefined;
}

export const notice = named({
  /** Called with the array after `sort()` without a comparison function. */
  sorted(list: unknown, line: number): unknown {
    if (Array.isArray(list) && list.every((each) => typeof each === "number") && !isAscending(list)) {
      warn(line, "sort() compares numbers as text, so 10 comes before 9: write sort((a, b) => a - b).");
    }
    return list;
  },
  /** Called with the object of a for…in loop. */
  keys(value: unknown, line: number, name: string): unknown {
    if (Array.isArray(value) && value.length > 0) {
      warn(line, `for…in over an array yields its indexes "0", "1", …: write for (const ${name} of …).`);
    }
    return value;
  },
  thrown(value: unknown): unknown {
    thrown = { value, stack: String(new Error().stack) };
    return value;
  },
});

function isAscending(list: readonly number[]): boolean {
  return list.every((each, at) => at === 0 || list[at - 1]! <= each);
}
