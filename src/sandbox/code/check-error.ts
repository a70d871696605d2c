/** The code was refused before anything ran. */
import type { OutcomeError } from "../contract.ts";

export class CheckError extends Error {
  readonly error: OutcomeError;
  constructor(error: OutcomeError) {
    super(error.message);
    this.error = error;
  }
}

/** Findings that an error lists. */
export const maxListed = 20;

export interface PlacedFinding {
  line: number;
  column: number;
  code: string;
  message: string;
  write?: string;
  signatures: string[];
}

/** The first findings of a check as one error, whose place is that of the first; `count` is the number of all. */
export function wrongCalls(findings: readonly PlacedFinding[], count: number, source: string): CheckError {
  const [first] = findings;
  const line = first?.line ?? 1;
  const text = source.split("\n")[line - 1];
  const signatures = [...new Set(findings.flatMap((each) => each.signatures))].slice(0, 5);
  const corrected = [...new Set(findings.flatMap(({ write }) => write ?? []))].slice(0, 5);
  const hint = [...corrected.map((call) => `Write: ${call}`), ...signatures].join("\n");
  const several = `${count} mistakes; nothing was run:`;
  const listed = findings.map((each) => `  ${each.line}:${each.column} ${each.message}`);
  if (count > findings.length) listed.push(`  and ${count - findings.length} more`);
  return new CheckError({
    name: "CheckError",
    message: count === 1 ? (first?.message ?? "") : [several, ...listed].join("\n"),
    ...(first ? { code: first.code } : {}),
    ...(hint === "" ? {} : { hint }),
    stack: "",
    line,
    column: first?.column ?? 1,
    ...(text === undefined ? {} : { source: text }),
  });
}
