/** Checks the chain of the audit log. */
import { sha256 } from "../../base/sha256.ts";
import { fileName, headName, noLine, type ReadLine, readHead, readLines } from "./files.ts";

interface Verified {
  /** The number of entries up to the first problem. */
  entries: number;
  /** The hash of the last of these. A copy of it elsewhere proves later that nothing before it has changed. */
  sha256: string;
  /** The first problem. Undefined if the chain holds. */
  problem?: { file: string; problem: string } | undefined;
  /** Unusual findings that do not show a change of the log. */
  notes: string[];
  /** Whether the wanted hash was found. Undefined if none was wanted. */
  contains?: boolean | undefined;
}

/** Reads the whole log. `wanted` is the hash of a line that must be part of it. Throws FILE_NOT_FOUND if a file cannot be read. */
export function verify(folder: string, wanted?: string): Verified {
  const lines = [...readLines(folder)];
  const head = readHead(folder);
  const notes: string[] = [];
  let entries = 0;
  let hash = noLine;
  let contains = false;
  const ended = (file: string, problem: string | undefined): Verified => ({
    entries,
    sha256: hash,
    ...(problem === undefined ? {} : { problem: { file, problem } }),
    notes,
    ...(wanted === undefined ? {} : { contains }),
  });
  const misplaced = misplacedFile(lines);
  for (const [at, { file, text, line, isWhole }] of lines.entries()) {
    if (file === misplaced) return ended(file, "a file before it is missing");
    const next = lines[at + 1]?.line;
    if (!isWhole) notes.push(`${file}: the last line was not written completely. The next entry will say so`);
    if (!isWhole) continue;
    // The line after a torn line has its hash.
    if (next?.decision === "recovered" && next.torn === sha256(text)) {
      notes.push(`${file}: the line before entry ${next.entry} was not written completely`);
      continue;
    }
    if (!line) return ended(file, `the line after entry ${entries} is not an entry`);
    if (line.entry !== entries + 1)
      return ended(file, `entry ${entries + 1} is missing: entry ${line.entry} follows entry ${entries}`);
    if (line.previous !== hash) {
      const problem =
        entries === 0 ? "entry 1 does not begin the log" : `entry ${entries} was changed, or entry ${line.entry} was`;
      return ended(file, problem);
    }
    if (line.decision === "broken") return ended(file, `entry ${line.entry} records that ${line.why}`);
    entries = line.entry;
    hash = sha256(text);
    if (hash === wanted) contains = true;
    if (head?.entry === entries && head.sha256 !== hash)
      return ended(file, `entry ${entries} was changed: ${headSays}`);
  }
  const last = lines.at(-1)?.file ?? fileName(1);
  if (head && head.entry > entries) {
    return ended(last, `entries ${entries + 1} to ${head.entry} are missing: ${headSays}`);
  }
  if (!head && entries > 0) {
    return ended(headName, `it is missing or damaged, so that entries after entry ${entries} may have been removed`);
  }
  return ended(last, undefined);
}

const headSays = "head.json has the hash of another entry";

/** The first file whose number does not follow the number of the file before. */
function misplacedFile(lines: readonly ReadLine[]): string | undefined {
  const names = [...new Set(lines.map(({ file }) => file))];
  return names.find((name, at) => Number.parseInt(name, 10) !== at + 1);
}
