/** Functions that the engine has not, computed outside: formatting by locale, hashes, random bytes. */
import { digest, randomBase64 } from "./digest.ts";
import { askIntl, localeCase, staticIntl } from "./intl.ts";

/** Characters of JSON that one computation takes. */
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
 * Arguments and answer are JSON. Throws an Error whose name and message the code sees; nothing else of it goes inside.
 * The arguments come from code that nobody vouches for: each function says itself what it takes.
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
