/**
 * Values of a config as a question about it shows them. A secret is `***`, but only where it can be nothing else: whoever
 * writes a hostile config must not be able to hide a program behind a name that speaks of a password.
 */
import { speaksOfSecret } from "../../clients/secrets.ts";

const hidden = "***";

/** One word without a slash, a blank or anything that a shell acts on: no path, no command line. */
const plainWord = /^[\w+=.:~%-]{6,}$/;
const reference = /\$\{[^}]*\}/;
const knownToken = /^(?:gh[pousr]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|AIza|eyJ)[\w.-]{12,}$/;
const nameOfProgram = /cmd|command|askpass|program|exec|hook|helper/i;

/** `isData` is a value that nothing can run, such as a header's: what may be a secret is hidden, whatever it looks like. */
export function shownValue(name: string, value: string, isData = false): string {
  const [, scheme = "", rest = value] = /^((?:Bearer|Basic|Token|ApiKey|Digest) +)(.+)$/is.exec(value) ?? [];
  if (reference.test(rest)) return value;
  if (knownToken.test(rest)) return scheme + hidden;
  if (!speaksOfSecret(name) && scheme === "") return value;
  if (isData) return scheme + hidden;
  return plainWord.test(rest) && !nameOfProgram.test(name) ? scheme + hidden : value;
}

export function shownArguments(args: readonly string[]): string[] {
  return args.map((text, index) => {
    const [, before = "", name = "", value = ""] = /^((-{0,2}[\w-]+)[=:])(.+)$/s.exec(text) ?? [];
    if (name !== "") return before + shownValue(name.replace(/^-+/, ""), value);
    const [, flag = ""] = /^--?([\w-]+)$/.exec(args[index - 1] ?? "") ?? [];
    if (flag !== "" && !text.startsWith("-")) return shownValue(flag, text);
    return knownToken.test(text) ? hidden : shownAddress(text);
  });
}

/** Without userinfo and values of the query; letters of other scripts, which can look like ours, are escaped. */
export function shownAddress(text: string): string {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return text
    .replace(/^([a-z][a-z\d+.-]*:\/\/)(?!\$\{)[^\s/@?#]+@/i, `$1${hidden}@`)
    .replace(/([?&][^=&\s]*=)(?!\$\{)[^&\s#]+/g, `$1${hidden}`)
    .replace(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}
