/** The one error class of the product, its codes, and the exit code that each code ends the process with. */

/** What went wrong, as a name that callers and scripts can rely on; the texts may change, these do not. */
export type ErrorCode = keyof typeof exitCodeOf;

/** Exit codes: 0 ok · 1 unexpected, or not as it should be · 2 usage or config · 3 auth · 4 server or model unreachable · 5 tool error · 6 code failed. */
const exitCodeOf = {
  UNEXPECTED: 1,
  REGISTRY_STALE: 1,
  MODEL_REFUSED: 1,
  MODEL_ANSWER_INVALID: 1,
  USAGE: 2,
  CONFIG_NOT_FOUND: 2,
  CONFIG_INVALID: 2,
  CONFIG_NOT_TRUSTED: 2,
  FILE_NOT_FOUND: 2,
  FILE_NOT_WRITABLE: 2,
  REGISTRY_INVALID: 2,
  SERVER_NOT_FOUND: 2,
  TOOL_NOT_FOUND: 2,
  INVALID_ARGUMENTS: 2,
  NEEDS_VARIABLE: 2,
  POLICY_DENIED: 2,
  AUTH_REQUIRED: 3,
  SERVER_UNAVAILABLE: 4,
  CALL_TIMEOUT: 4,
  PROTOCOL_ERROR: 4,
  MODEL_UNAVAILABLE: 4,
  TOOL_FAILED: 5,
  CODE_FAILED: 6,
  CANCELLED: 130,
} as const satisfies Record<string, number>;

export const interruptedExitCode = 130;

export interface ErrorDetails {
  /** The next step, as one sentence or a command; shown on its own line. */
  hint?: string | undefined;
  cause?: unknown;
}

/** An error that is meant to be read by a person, a script (`code`) and a model (`hint`). */
export class ClaudikinsError extends Error {
  override readonly name = "ClaudikinsError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.hint = details.hint;
  }

  get exitCode(): number {
    return exitCodeOf[this.code];
  }

  /** The same with its texts changed; without its cause, which has texts of its own. */
  reworded(change: (text: string) => string): ClaudikinsError {
    return new ClaudikinsError(this.code, change(this.message), this.rewordedDetails(change));
  }

  protected rewordedDetails(change: (text: string) => string): ErrorDetails {
    return this.hint === undefined ? {} : { hint: change(this.hint) };
  }
}

/** Anything thrown, as our error: ours unchanged, the rest as UNEXPECTED with the original as its cause. */
export function toClaudikinsError(thrown: unknown): ClaudikinsError {
  if (thrown instanceof ClaudikinsError) return thrown;
  return new ClaudikinsError("UNEXPECTED", messageOf(thrown), { cause: thrown });
}

/** The message of anything thrown, never empty. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return String(thrown) || "unknown error";
}

/** The system's own code of a failed file or process operation (ENOENT, EACCES …), when there is one. */
export function systemCodeOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error ? (thrown as NodeJS.ErrnoException).code : undefined;
  return typeof code === "string" ? code : undefined;
}
