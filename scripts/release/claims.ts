/**
 * Fails if a page says something about other programs that was read too long ago: `bun scripts/release/claims.ts`. The release workflow
 * runs it, and the tests do not, because they must not begin to fail by the passing of time.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The pages that compare claudikins with other programs, or say what it was tried with. */
export const claimPages = ["README.md", "docs/comparison.md", "docs/http.md"] as const;

/** In days. The programs of this field have a release every week or two, so what was read before is often wrong after a month. */
const oldest = 30;

const day = 24 * 60 * 60 * 1000;

const date = String.raw`\d{1,2} [A-Z][a-z]+ \d{4}`;

export interface Claim {
  /** The program in a table of dates, or the words before a date in prose. */
  about: string;
  date: string;
}

/** The dated claims of a page: the rows `| program | version | 23 November 2026 |`, and `read on` or `tried on` with a date in prose. */
export function claimsOf(page: string): Claim[] {
  const rows = page.matchAll(new RegExp(String.raw`^\| ([^|\n]+) \| [^|\n]* \| (${date}) \|$`, "gm"));
  const prose = page.matchAll(new RegExp(String.raw`\b(read on|tried on)\s(${date})`, "g"));
  return [...rows, ...prose].map(([, about = "", on = ""]) => ({ about, date: on }));
}

/** The claims of a page that may not be published at this time, and why. A page without any date is a problem too. */
export function problemsOf(page: string, now: number): string[] {
  const claims = claimsOf(page);
  if (claims.length === 0) return ["no date says when its claims about others were read"];
  return claims.flatMap(({ about, date }) => {
    const age = Math.floor((now - Date.parse(`${date} UTC`)) / day);
    if (Number.isNaN(age)) return [`${about}: ${date} is not a date`];
    // It may be tomorrow already where the page was written.
    if (age < -1) return [`${about}: ${date} is in the future`];
    return age > oldest ? [`${about}: ${date} is ${age} days ago, and at most ${oldest} are allowed`] : [];
  });
}

if (import.meta.main) {
  const root = join(import.meta.dir, "..", "..");
  const problems = claimPages.flatMap((path) =>
    problemsOf(readFileSync(join(root, path), "utf8"), Date.now()).map((problem) => `${path}: ${problem}`),
  );
  for (const problem of problems) console.error(`error: ${problem}`);
  if (problems.length > 0) {
    console.error("\nhint: Read again what the page says about these programs, correct it, and write the new date.");
    process.exitCode = 1;
  }
}
