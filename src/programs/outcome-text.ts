/** Writes an outcome as text, for people at a terminal and for models. */
import { grouped } from "../base/counted.ts";
import { durationText } from "../base/duration.ts";
import { parsedJson } from "../base/json-object.ts";
import type { OutcomeError, Receipt } from "../sandbox/contract.ts";
import { notableChars } from "./limits.ts";

/**
 * Characters that a program kept out of the context: the results that it received, less what it returned. A part
 * that our own limits cut from an answer counts as returned.
 */
export function keptOut({ charsIn, charsOut }: Pick<Receipt, "charsIn" | "charsOut">): number {
  return Math.max(0, charsIn - charsOut);
}

/** Returns a text such as `[3 calls (1 failed: demo.get_order) · 41 ms · 1,033,120 characters kept out]`. */
export function receiptText(receipt: Receipt): string {
  const { calls, failures, tools, durationMs, notMade } = receipt;
  // What was made up would have stayed out of the context too, but nobody knows its size.
  const kept = notMade === undefined ? keptOut(receipt) : 0;
  const failing = Object.entries(tools).flatMap(([tool, { failures: failed, hiddenFailure }]) => {
    return failed > 0 ? [hiddenFailure === undefined ? tool : `${tool}: ${hiddenFailure}`] : [];
  });
  const named = failing.length > 3 ? `${failing.slice(0, 3).join(", ")} …` : failing.join(", ");
  const parts = [
    ...(notMade === undefined ? [] : ["dry run"]),
    `${grouped(calls)} ${calls === 1 ? "call" : "calls"}${failures > 0 ? ` (${grouped(failures)} failed: ${named})` : ""}${notMade ? `, ${grouped(notMade)} not made` : ""}`,
    durationText(durationMs),
  ];
  if (kept >= notableChars) parts.push(`${grouped(kept)} characters kept out`);
  return `[${parts.join(" · ")}]`;
}

/** Writes a failure of the program: its name and message, and its line with a mark at the column. `file` is what a person calls the program. */
export function failureText(error: OutcomeError, file = "main.ts"): string {
  const lines = [failureMessage(error)];
  if (error.line !== undefined && error.source !== undefined) {
    const gutter = String(error.line);
    const text = error.source.length > 200 ? `${error.source.slice(0, 200)}…` : error.source;
    lines.push(`  --> ${file}:${error.line}:${error.column ?? 1}`, `  ${gutter} | ${text}`);
    const column = (error.column ?? 1) - 1;
    if (column < 200) lines.push(`  ${" ".repeat(gutter.length)} | ${" ".repeat(column)}^`);
  }
  return lines.join("\n");
}

/** Writes a failure without its place in the code. */
export function failureMessage({ name, message }: OutcomeError): string {
  if (name === "Thrown") {
    const value = parsedJson(message);
    const isText = message !== "undefined" && (typeof value !== "object" || (value === null && message !== "null"));
    return `the code threw ${isText ? JSON.stringify(message) : message}`;
  }
  return name === "Error" ? message : `${name}: ${message}`;
}
