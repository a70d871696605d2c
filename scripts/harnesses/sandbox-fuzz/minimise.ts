/** Finds a smaller program that still fails in the same way. */

/** The maximum number of tries: each is an execution, and may take its whole time limit. */
const maxTries = 60;

/** Leaves out lines, then statements, while the rest still fails: half of them, a quarter, … one. */
export async function minimised(program: string, fails: (program: string) => Promise<boolean>): Promise<string> {
  let tries = 0;
  const stillFails = async (candidate: string) => ++tries <= maxTries && (await fails(candidate));
  const byLines = await withoutParts(program.split("\n"), "\n", stillFails);
  return withoutParts(byLines.split(/(?<=[;{}]) /), " ", stillFails);
}

async function withoutParts(
  parts: readonly string[],
  separator: string,
  fails: (program: string) => Promise<boolean>,
): Promise<string> {
  let kept = [...parts];
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length; ) {
      const fewer = kept.toSpliced(at, size);
      if (await fails(fewer.join(separator))) kept = fewer;
      else at += size;
    }
  }
  return kept.join(separator);
}
