/** The results of tests as JUnit XML, which CI services show. */
import type { Tested } from "./test-program.ts";

export function junitReport(tests: readonly Tested[]): string {
  const failed = tests.filter(({ ok }) => !ok).length;
  const suites = [...Map.groupBy(tests, ({ program }) => program)].map(([program, all]) => suiteOf(program, all));
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="${tests.length}" failures="${failed}">\n`;
  return `${head}${suites.join("")}</testsuites>\n`;
}

function suiteOf(program: string, tests: readonly Tested[]): string {
  const failed = tests.filter(({ ok }) => !ok).length;
  const seconds = tests.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1_000;
  const cases = tests.map(caseOf).join("");
  const counts = `tests="${tests.length}" failures="${failed}" time="${seconds}"`;
  return `  <testsuite name="${escaped(program)}" ${counts}>\n${cases}  </testsuite>\n`;
}

function caseOf({ program, recording, ok, durationMs, differences, problem }: Tested): string {
  const names = `classname="${escaped(program)}" name="${escaped(recording)}" time="${durationMs / 1_000}"`;
  if (ok) return `    <testcase ${names}/>\n`;
  const lines = problem === undefined ? differences.map(({ text }) => text) : [problem];
  const failure = `      <failure message="${escaped(lines[0] ?? "")}">${escaped(lines.join("\n"))}</failure>\n`;
  return `    <testcase ${names}>\n${failure}    </testcase>\n`;
}

/** Characters that XML 1.0 cannot hold are left out. */
function escaped(text: string): string {
  const allowed = text.toWellFormed().replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "");
  const marks: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return allowed.replace(/[&<>"]/g, (mark) => marks[mark] ?? mark);
}
