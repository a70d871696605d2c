/** Errors of code that is refused before anything runs. */
import type { OutcomeError } from "../contract.ts";

export class CheckError extends Error {
  readonly error: OutcomeError;
  constructor(error: OutcomeError) {
    super(error.message);
    this.error = error;
  }
}

/** A certain mistake in the code. */
export interface CodeMistake {
  /** Offset in the checked code. */
  at: number;
  code: "TOOL_NOT_FOUND" | "INVALID_ARGUMENTS" | "MISSING_AWAIT";
  message: string;
  /** The corrected call, if it is certain. */
  write?: string;
  /** The signature of the tool, or of the tools that may have been meant. */
  signatures: string[];
}

export interface PlacedFinding extends CodeMistake {
  line: number;
  column: number;
}

/** One error with the first findings, at the place of the first one. `count` is the number of all findings. */
export function wrongCalls(findings: readonly PlacedFinding[], count: number, source: string): CheckError {
  const [first] = findings;
  const line = first?.line ?? 1;
  const signatures = [...new Set(findings.flatMap((each) => each.signatures))].slice(0, 5);
  const corrected = [...new Set(findings.flatMap(({ write }) => write ?? []))].slice(0, 5);
  const hint = [...corrected.map((call) => `Write: ${call}`), ...signatures].join("\n");
  const several = `${count} mistakes; nothing was run:`;
  const listed = findings.map((each) => `  ${each.line}:${each.column} ${each.message}`);
  if (count > findings.length) listed.push(`  and ${count - findings.length} more`);
  return new CheckError({
    name: "CheckError",
    message: count === 1 ? (first?.message ?? "") : [several, ...listed].join("\n"),
    code: first?.code,
    hint: hint || undefined,
    stack: "",
    line,
    column: first?.column ?? 1,
    source: source.split("\n")[line - 1],
  });
}
