/** One line of a server's log, as it stands in the file. */
import { shownLine } from "../visible-text.ts";

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

/** Keeps the lines of one server. */
export interface LogSink {
  add(line: LogLine): void;
}

/** The sinks of all servers of a config. */
export interface LogSinks {
  of(server: string): LogSink;
  /** Announces that more lines come until the promise resolves: the reason for the end of a process is known a little later than the end. */
  expect(ended: Promise<void>): void;
  /** Waits a short time for announced lines. Later lines are written at once. */
  end(): Promise<void>;
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
  return { at, process: Number(process), kind, text: shownLine(text) };
}

export function shortened(text: string): string {
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}
