/** Pure functions that the engine has not, computed outside: formatting by locale, hashes, random bytes. */

/** Arguments and answer are JSON. Throws an Error whose message the code sees; nothing else of it goes inside. */
export function compute(name: string, _argsJson: string): string {
  throw new Error(`there is no function ${name}`);
}
