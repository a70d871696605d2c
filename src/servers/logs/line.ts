/** One line of a server's log, as it is written in the file. */
import { shownLine } from "../../base/visible-text.ts";

/** Characters of one line of a log file. */
const maxLogLineChars = 2_000;

/** Kinds of lines. No word is longer than its column. */
const kinds = [
  // The server's process was started, or a connection to its URL was opened.
  "start",
  "ready",
  "end",
  "failed",
  // The server wrote to stderr.
  "stderr",
  // The server sent a log message of the protocol.
  "log",
  // The server violated the protocol.
  "error",
  // Output over the limit was dropped.
  "dropped",
] as const;

export type LineKind = (typeof kinds)[number];

export interface LogLine {
  /** Milliseconds since 1970. */
  at: number;
  /** The server's process, or the process of claudikins for a server on the network. */
  process: number;
  kind: LineKind;
  text: string;
}

const kindWidth = 7;

export function writtenLine({ at, process, kind, text }: LogLine): string {
  return `${new Date(at).toISOString()} ${process} ${kind.padEnd(kindWidth)} ${text}\n`;
}

/** Undefined if the text is not a line of a log. */
export function readLine(line: string): LogLine | undefined {
  const [, time = "", process, word = "", text = ""] = /^(\S{20,30}Z) (\d{1,10}) ([a-z ]{7}) (.*)$/.exec(line) ?? [];
  const at = Date.parse(time);
  const kind = kinds.find((each) => each === word.trimEnd());
  if (Number.isNaN(at) || kind === undefined) return undefined;
  return { at, process: Number(process), kind, text: shownLine(text) };
}

export function shortened(text: string): string {
  return text.length > maxLogLineChars ? `${text.slice(0, maxLogLineChars - 1)}…` : text;
}
