/** Errors, outcomes and receipts as text or JSON. */
import { ClaudikinsError, type ErrorCode, messageOf } from "../errors.ts";
import { failureText, receiptText } from "../outcome-text.ts";
import type { LogEntry, Outcome, Receipt } from "../sandbox/contract.ts";
import { cyan, dim, paint, red } from "./colours.ts";

/** `error: …`, the chain of causes, an empty line, `hint: …`. */
export function errorText(error: ClaudikinsError, colours: boolean): string {
  const causes: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    const message = messageOf(cause);
    if (!error.message.includes(message) && !causes.includes(message)) causes.push(message);
  }
  const lines = [
    `${paint("error", red, colours)}: ${error.message}`,
    ...(error.code === "UNEXPECTED" ? [] : causes.map((cause) => `  caused by: ${cause}`)),
  ];
  if (error.hint) lines.push("", `${paint("hint", cyan, colours)}: ${error.hint}`);
  return `${lines.join("\n")}\n`;
}

/** The stack frames of the cause, for bug reports. */
export function stackText(error: ClaudikinsError): string {
  const stack = error.cause instanceof Error ? error.cause.stack : undefined;
  const frames = stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return frames.map((line) => `${line}\n`).join("");
}

/** One line: `{"error":{"code","message","hint"?}}`. */
export function errorJson(error: ClaudikinsError, more: object = {}): string {
  const { code, message, hint } = error;
  return `${JSON.stringify({ error: { code, message, ...(hint === undefined ? {} : { hint }) }, ...more })}\n`;
}

/** Text unchanged, data as JSON, and an empty string for undefined. */
export function valueText(value: unknown): string {
  if (value === undefined) return "";
  return `${typeof value === "string" ? value : JSON.stringify(value, null, 2)}\n`;
}

export function logText({ level, text }: LogEntry, colours: boolean): string {
  const mark =
    level === "error" ? paint("error ", red, colours) : level === "warn" && !text.startsWith("warning") ? "warn  " : "";
  return `${mark}${text}\n`;
}

export function receiptLine(receipt: Receipt, colours: boolean): string {
  return `${paint(receiptText(receipt), dim, colours)}\n`;
}

/** Turns a failed outcome into an error, which has the exit code of its cause. */
export function outcomeError(outcome: Extract<Outcome, { ok: false }>): ClaudikinsError {
  const { error, reason } = outcome;
  const codes: Record<string, ErrorCode> = {
    AUTH_REQUIRED: "AUTH_REQUIRED",
    SERVER_UNAVAILABLE: "SERVER_UNAVAILABLE",
    PROTOCOL_ERROR: "PROTOCOL_ERROR",
    NEEDS_VARIABLE: "NEEDS_VARIABLE",
    POLICY_DENIED: "POLICY_DENIED",
    CALL_TIMEOUT: "CALL_TIMEOUT",
    TOOL_FAILED: "TOOL_FAILED",
  };
  const known = error.code !== undefined && Object.hasOwn(codes, error.code) ? codes[error.code] : undefined;
  const code: ErrorCode = reason === "cancelled" ? "CANCELLED" : reason === "threw" && known ? known : "CODE_FAILED";
  return new ClaudikinsError(code, failureText(error), { hint: error.hint });
}
