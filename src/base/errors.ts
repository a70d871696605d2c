/** The error class of claudikins, its codes, and the exit code for each of them. */

/** The codes of errors. Callers and scripts may rely on them; the messages may change. */
export type ErrorCode = keyof typeof exitCodeOf;

/**
 * Exit codes: 0 ok · 1 unexpected, or a check failed · 2 usage or config · 3 auth · 4 server or model unreachable · 5 tool error ·
 * 6 code failed.
 */
const exitCodeOf = {
  UNEXPECTED: 1,
  REGISTRY_STALE: 1,
  UPGRADE_FAILED: 1,
  KEYCHAIN_UNAVAILABLE: 1,
  MODEL_REFUSED: 1,
  MODEL_ANSWER_INVALID: 1,
  USAGE: 2,
  VERSION_TOO_OLD: 2,
  VERSION_NOT_FOUND: 2,
  CONFIG_NOT_FOUND: 2,
  CONFIG_INVALID: 2,
  DOOR_NOT_FOUND: 2,
  CONFIG_NOT_TRUSTED: 2,
  EXECUTION_NOT_FOUND: 2,
  EXECUTION_LOST: 1,
  APPROVAL_NOT_FOUND: 2,
  TOKEN_NOT_FOUND: 2,
  PERSON_NOT_FOUND: 2,
  SECRET_NOT_FOUND: 2,
  FILE_NOT_FOUND: 2,
  FILE_NOT_WRITABLE: 2,
  REGISTRY_INVALID: 2,
  SERVER_NOT_FOUND: 2,
  TOOL_NOT_FOUND: 2,
  INVALID_ARGUMENTS: 2,
  NEEDS_VARIABLE: 2,
  NEEDS_SECRET: 2,
  POLICY_DENIED: 2,
  DEFINITION_CHANGED: 2,
  AUTH_REQUIRED: 3,
  SERVER_UNAVAILABLE: 4,
  DATABASE_UNAVAILABLE: 4,
  BUCKET_UNAVAILABLE: 4,
  SANDBOX_UNAVAILABLE: 4,
  EXECUTION_RUNNING: 4,
  CALL_TIMEOUT: 4,
  QUOTA_REACHED: 4,
  CALL_OUTCOME_UNKNOWN: 4,
  PROGRAM_NOT_FOUND: 2,
  NOT_RECORDED: 2,
  PROTOCOL_ERROR: 4,
  MODEL_UNAVAILABLE: 4,
  TOOL_FAILED: 5,
  CODE_FAILED: 6,
  EXECUTION_WAITS: 7,
  APPROVAL_PENDING: 7,
  CANCELLED: 130,
} as const satisfies Record<string, number>;

const serverDown: readonly string[] = [
  "CONFIG_INVALID",
  "NEEDS_VARIABLE",
  "NEEDS_SECRET",
  "AUTH_REQUIRED",
  "SERVER_UNAVAILABLE",
  "SANDBOX_UNAVAILABLE",
] satisfies ErrorCode[];

/** Whether the code says that a server cannot be used, so that no code that calls it would work. */
export function isServerDown(code: string | undefined): boolean {
  return code !== undefined && serverDown.includes(code);
}

const unanswered: readonly string[] = [
  "CANCELLED",
  "CALL_TIMEOUT",
  "POLICY_DENIED",
  "APPROVAL_PENDING",
  "DEFINITION_CHANGED",
  "TOOL_NOT_FOUND",
  "QUOTA_REACHED",
  "NEEDS_VARIABLE",
  "NEEDS_SECRET",
  "CONFIG_INVALID",
  "SANDBOX_UNAVAILABLE",
] satisfies ErrorCode[];

/**
 * Whether the code says that a call was not made, or that nobody waited for its answer. Such an error contains only claudikins' own text.
 */
export function isUnanswered(code: ErrorCode): boolean {
  return unanswered.includes(code);
}

export const interruptedExitCode = 130;

export interface ErrorDetails {
  /** The next step, as a sentence or a command. It is shown on its own line. */
  hint?: string | undefined;
  cause?: unknown;
  /** The JSON that a server sent with its error, for programs. */
  data?: string | undefined;
}

/** An error for people (`message`, `hint`), scripts (`code`) and models (`hint`). */
export class ClaudikinsError extends Error {
  override readonly name = "ClaudikinsError";
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly data: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.hint = details.hint;
    this.data = details.data;
  }

  get exitCode(): number {
    return exitCodeOf[this.code];
  }

  /** The message, and the hint on a line of its own. */
  get text(): string {
    return this.hint === undefined ? this.message : `${this.message}\nHint: ${this.hint}`;
  }

  /** Returns a copy with other texts. It has no `cause`, because the texts of the cause are not changed. */
  reworded(change: (text: string) => string): ClaudikinsError {
    return new ClaudikinsError(this.code, change(this.message), this.rewordedDetails(change));
  }

  protected rewordedDetails(change: (text: string) => string): ErrorDetails {
    return {
      ...(this.hint === undefined ? {} : { hint: change(this.hint) }),
      ...(this.data === undefined ? {} : { data: withJsonTexts(this.data, change) }),
    };
  }
}

/** Returns a ClaudikinsError unchanged. Anything else becomes UNEXPECTED, with the thrown value as its cause. */
export function toClaudikinsError(thrown: unknown): ClaudikinsError {
  if (thrown instanceof ClaudikinsError) return thrown;
  return new ClaudikinsError("UNEXPECTED", messageOf(thrown), { cause: thrown });
}

/** The form of an error in reports. */
export interface Problem {
  code: ErrorCode;
  message: string;
  hint?: string | undefined;
}

/** Returns the parts of a thrown value that reports have. */
export function problemOf(thrown: unknown): Problem {
  const { code, message, hint } = toClaudikinsError(thrown);
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

/** Returns the message of a thrown value. It is never empty. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return String(thrown) || "unknown error";
}

/** Returns all that a thrown value says: its message, and the data of a server as JSON. */
export function wholeTextOf(thrown: unknown): string {
  const data = thrown instanceof ClaudikinsError ? thrown.data : undefined;
  return data === undefined ? messageOf(thrown) : `${messageOf(thrown)}\n${data}`;
}

/** Returns the JSON with other texts. */
export function withJsonTexts(json: string, change: (text: string) => string): string {
  return JSON.stringify(JSON.parse(json, (_, each: unknown) => (typeof each === "string" ? change(each) : each)));
}

/** Returns the code of a system error (ENOENT, EACCES …), or undefined for other errors. */
export function systemCodeOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error ? (thrown as Error & { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : undefined;
}
