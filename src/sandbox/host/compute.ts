/** Computes what the engine cannot: formatting by locale, hashes and random bytes. It runs outside of the sandbox. */
import { digest, randomBase64 } from "./digest.ts";
import { askIntl, localeCase, staticIntl } from "./intl.ts";

/** Maximum length of the JSON of the arguments. */
const maxArgumentChars = 10_000_000;

const functions: Record<string, (args: never) => unknown> = {
  __proto__: null as never,
  intl: askIntl,
  intlStatic: staticIntl,
  localeCase,
  digest,
  random: randomBase64,
};

/**
 * Calls a function by name. Arguments and answer are JSON. Throws an Error; the program sees only its name and message. The
 * arguments come from untrusted code, so each function checks its own.
 */
export function compute(name: string, argsJson: string): string {
  const body = functions[name];
  if (!body) throw new Error(`there is no function ${name}`);
  if (argsJson.length > maxArgumentChars) {
    throw new RangeError(
      `The input is too large: ${argsJson.length} characters; the limit is ${maxArgumentChars}. Process it in parts.`,
    );
  }
  return JSON.stringify(body(JSON.parse(argsJson) as never)) ?? "null";
}
