/** The code was refused before anything ran. */
import type { OutcomeError } from "../contract.ts";

export class CheckError extends Error {
  readonly error: OutcomeError;
  constructor(error: OutcomeError) {
    super(error.message);
    this.error = error;
  }
}

/** Who makes more mistakes mends these first. */
const maxListed = 20;

/** All findings of one check as one error; its place is the first one's. */
export function wrongCalls(
  findings: readonly {
    line: number;
    column: number;
    code: string;
    message: string;
    write?: string;
    signatures: string[];
  }[],
  source: string,
): CheckError {
  const [first] = findings;
  const line = first?.line ?? 1;
  const text = source.split("\n")[line - 1];
  const signatures = [...new Set(findings.flatMap((each) => each.signatures))].slice(0, 5);
  const corrected = [...new Set(findings.flatMap(({ write }) => write ?? []))].slice(0, 5);
  const hint = [...corrected.map((call) => `Write: ${call}`), ...signatures].join("\n");
  const several = `${findings.length} mistakes; nothing was run:`;
  const listed = findings.slice(0, maxListed).map((each) => `  ${each.line}:${each.column} ${each.message}`);
  if (findings.length > maxListed) listed.push(`  and ${findings.length - maxListed} more`);
  return new CheckError({
    name: "CheckError",
    message: findings.length === 1 ? (first?.message ?? "") : [several, ...listed].join("\n"),
    ...(first ? { code: first.code } : {}),
    ...(hint === "" ? {} : { hint }),
    stack: "",
    line,
    column: first?.column ?? 1,
    ...(text === undefined ? {} : { source: text }),
  });
}
