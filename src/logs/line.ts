/** One line of a server's log, as it stands in the file. */

/** What it tells of; no word is longer than the column is wide. */
const kinds = [
  // Its process was started, or its address is asked for.
  "start",
  "ready",
  "end",
  "failed",
  // What it wrote there.
  "stderr",
  // What it logged by the protocol.
  "log",
  // What it did that the protocol does not know.
  "error",
  // What was too much.
  "dropped",
] as const;

export type LineKind = (typeof kinds)[number];

export interface LogLine {
  /** Milliseconds since 1970. */
  at: number;
  /** The server's process; ours where it is not on this machine. */
  process: number;
  kind: LineKind;
  text: string;
}

const kindWidth = 7;

/** Characters of one line. */
const maxChars = 2_000;

export function writtenLine({ at, process, kind, text }: LogLine): string {
  return `${new Date(at).toISOString()} ${process} ${kind.padEnd(kindWidth)} ${text}\n`;
}

/** Undefined for what is no such line. */
export function readLine(line: string): LogLine | undefined {
  const [, time = "", process, word = "", text = ""] = /^(\S{20,30}Z) (\d{1,10}) ([a-z ]{7}) (.*)$/.exec(line) ?? [];
  const at = Date.parse(time);
  const kind = kinds.find((each) => each === word.trimEnd());
  if (Number.isNaN(at) || kind === undefined) return undefined;
  return { at, process: Number(process), kind, text: harmless(text) };
}

/** As a terminal would show it in the end, but without what a terminal would obey. */
export function harmless(line: string): string {
  const shown = line.trimEnd().split("\r").at(-1) ?? "";
  return Bun.stripANSI(shown).replace(/(?:(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}])+/gu, " ");
}

export function shortened(text: string): string {
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}
