/** Calls that failed in a program that ended well: nothing else says so when it caught them. */
import type { Result } from "./warnings.ts";

export function swallowed({ failures, json = "", logs }: Result): string[] {
  return failures.flatMap(({ tool, calls, failures: failed, code, message, hint }) => {
    // One that failed and was tried again is no news.
    if (failed < calls) return [];
    const output = [json, ...logs.map(({ text }) => text)];
    const shows = (text: string) =>
      output.some((each) => each.includes(text) || each.includes(JSON.stringify(text).slice(1, -1)));
    const said = shows(message);
    if (said && (hint === undefined || shows(hint.split("\n")[0] ?? ""))) return [];
    if (said) return code === "INVALID_ARGUMENTS" ? `${tool} was called wrongly: ${hint}` : `${tool} failed: ${hint}`;
    const times = calls === 1 ? "the only call" : `all ${calls} calls`;
    return `${times} of ${tool} failed: ${message}${hint ? `. ${hint}` : ""}`;
  });
}
