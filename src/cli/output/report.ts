/** Writes answers, and errors, outcomes and receipts as text or JSON. */
import { ClaudikinsError, type ErrorCode, messageOf } from "../../base/errors.ts";
import { failureText, receiptText } from "../../programs/outcome-text.ts";
import type { LogEntry, Outcome, Receipt } from "../../sandbox/contract.ts";
import type { CommandAnswer } from "../command.ts";
import type { Io, Output } from "../io.ts";
import { proseLines } from "../terminal/layout.ts";
import { cyan, dim, red, yellow } from "../terminal/terminal-output.ts";

/**
 * Writes an answer and returns its exit code. An answer without `json` is written for people, with `--json` too. The runner does this
 * for every command; a command whose servers may take long to end does it before, and returns what remains.
 */
export async function writeAnswer(
  answer: CommandAnswer,
  json: boolean | undefined,
  { stdout, stderr }: Pick<Io, "stdout" | "stderr">,
): Promise<{ exitCode: number }> {
  const { text, note, failure, beside, exitCode = failure?.exitCode ?? 0 } = answer;
  if (json && failure) await stderr.write(errorJson(failure, beside));
  else if (json && "json" in answer) await stdout.write(`${JSON.stringify(answer.json)}\n`);
  else {
    if (text !== undefined) await stdout.write(text);
    if (note !== undefined) await stderr.write(note);
  }
  return { exitCode };
}

/** `error: …`, the chain of causes, an empty line, `hint: …`. Lines are wrapped to the width of the terminal. */
export function errorText(error: ClaudikinsError, { columns }: Pick<Output, "columns"> = {}): string {
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    const message = messageOf(cause);
    if (!error.message.includes(message) && !causes.includes(message)) causes.push(message);
  }
  const lines = [
    `${red("error")}: ${error.message}`,
    ...(error.code === "UNEXPECTED" ? [] : causes.map((cause) => `  caused by: ${cause}`)),
  ];
  if (error.hint) lines.push("", `${cyan("hint")}: ${error.hint}`);
  return `${lines.map((text) => proseLines(text, columns)).join("\n")}\n`;
}

/** The stack frames of the cause, for bug reports. */
export function stackText(error: ClaudikinsError): string {
  const stack = error.cause instanceof Error ? error.cause.stack : undefined;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return frames.map((line) => `${line}\n`).join("");
}

/** One line: `{"error":{"code","message","hint"?}}`. */
export function errorJson({ code, message, hint }: ClaudikinsError, more: object = {}): string {
  return `${JSON.stringify({ error: { code, message, hint }, ...more })}\n`;
}

/** Text unchanged, data as JSON, and an empty string for undefined. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return `${typeof value === "string" ? value : JSON.stringify(value, null, 2)}\n`;
}

export function logEntryText({ level, text }: LogEntry): string {
  if (level === "error") return `${red("error ")}${text}\n`;
  return level === "warn" && !text.startsWith("warning") ? `${yellow("warn")}  ${text}\n` : `${text}\n`;
}

export function receiptLine(receipt: Receipt): string {
  return `${dim(receiptText(receipt))}\n`;
}

/** Turns a failed outcome into an error, which has the exit code of its cause. */
export function outcomeError(outcome: Extract<Outcome, { ok: false }>, file?: string): ClaudikinsError {
  const { error, reason } = outcome;
  const known = knownCodes.find((code) => code === error.code);
  const code = reason === "cancelled" ? "CANCELLED" : (reason === "threw" && known) || "CODE_FAILED";
  return new ClaudikinsError(code, failureText(error, file), { hint: error.hint });
}

/** Codes of calls that are codes of the program that failed because of them. */
const knownCodes: readonly ErrorCode[] = [
  "AUTH_REQUIRED",
  "SERVER_UNAVAILABLE",
  "SANDBOX_UNAVAILABLE",
  "PROTOCOL_ERROR",
  "NEEDS_VARIABLE",
  "POLICY_DENIED",
  "CALL_TIMEOUT",
  "TOOL_FAILED",
];
