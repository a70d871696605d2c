/** Collects log lines, and sends them to the main thread. */
import { withoutBase64 } from "../../base/media.ts";
import type { LogEntry, LogLevel } from "../contract.ts";
import type { LogPart } from "../messages.ts";

/** Log lines go to the main thread in groups of at least this size. */
const logGroupBytes = 32_768;

/** A smaller group goes after this time. */
const logGroupAgeMs = 25;

/** Log lines that the advice examines, from the first one. */
const adviceLogLines = 300;

/** Memory that a log line takes beside its text. */
const logLineBytes = 64;

/** Share of the limit of the logs for their beginning. The rest is for their end. */
const logHeadShare = 0.75;

/** Log lines in order. A started line (`process.stdout.write(".")`) continues with the next text of its level. */
export class LogLines {
  readonly entries: LogEntry[];
  /** The started lines. */
  readonly begun: Map<LogLevel, LogEntry>;

  constructor(entries: LogEntry[] = [], begun = new Map<LogLevel, LogEntry>()) {
    this.entries = entries;
    this.begun = begun;
  }

  add({ level, text, open = false }: LogPart): void {
    const begun = this.begun.get(level);
    if (begun) begun.text += text;
    const line = begun ?? { level, text };
    if (!begun) this.entries.push(line);
    if (open) this.begun.set(level, line);
    else this.begun.delete(level);
  }
}

const atStart = (maxBytes: number) => ({
  headBytes: Math.floor(maxBytes * logHeadShare),
  /** The newest lines after the beginning is full. */
  tail: [] as LogPart[],
  tailStart: 0,
  tailHas: 0,
  missing: 0,
  first: [] as LogEntry[],
  begun: new Map<LogLevel, LogEntry>(),
});

/**
 * Collects log lines and sends them in groups: a million lines must not become a million messages. Beyond the limit, the beginning and the
 * end are kept, and a line between them says how much is missing.
 */
export class LogBuffer {
  readonly #send: (entries: LogPart[]) => void;
  readonly #tailBytes: number;
  #group: LogPart[] = [];
  #groupBytes = 0;
  #since = 0;
  readonly #first: LogLines;
  /** Plain data, so that it can be saved with a program that waits. Flush before that. */
  readonly state: ReturnType<typeof atStart>;

  /** `maxBytes` counts the texts in UTF-16, and 64 bytes per line. */
  constructor(send: (entries: LogPart[]) => void, maxBytes: number, state = atStart(maxBytes)) {
    this.#send = send;
    this.#tailBytes = maxBytes - Math.floor(maxBytes * logHeadShare);
    this.state = state;
    this.#first = new LogLines(state.first, state.begun);
  }

  add(level: string, text: string, open = false): void {
    const entry: LogPart = { level: level as LogLevel, text: withoutBase64(text) };
    if (open) entry.open = true;
    const bytes = sizeOf(entry);
    if (this.state.tail.length > 0 || bytes > this.state.headBytes) {
      this.state.headBytes = 0;
      this.#addToTail(entry);
      return;
    }
    this.state.headBytes -= bytes;
    if (this.#first.entries.length < adviceLogLines) this.#first.add(entry);
    const now = performance.now();
    if (this.#group.length === 0) this.#since = now;
    this.#group.push(entry);
    this.#groupBytes += bytes;
    if (this.#groupBytes >= logGroupBytes || now - this.#since >= logGroupAgeMs) this.#sendGroup();
  }

  get first(): readonly LogEntry[] {
    return this.#first.entries;
  }

  /** Sends the collected lines; at the end, also the newest ones after a gap. */
  flush(end = false): void {
    if (this.#group.length > 0) this.#sendGroup();
    if (!end || this.state.tail.length === 0) return;
    if (this.state.missing > 0) {
      this.#send([{ level: "warn", text: `… ${this.state.missing} log lines were dropped here: too many to keep …` }]);
    }
    this.#send(this.state.tail.slice(this.state.tailStart));
  }

  #addToTail(entry: LogPart): void {
    entry.text = shortened(entry.text, this.#tailBytes / 2);
    this.state.tail.push(entry);
    this.state.tailHas += sizeOf(entry);
    while (this.state.tailHas > this.#tailBytes && this.state.tailStart < this.state.tail.length - 1) {
      this.state.tailHas -= sizeOf(this.state.tail[this.state.tailStart]!);
      this.state.tailStart += 1;
      this.state.missing += 1;
    }
    // Shifting the array for each dropped line would take longer than everything else.
    if (this.state.tailStart > 1_000 && this.state.tailStart * 2 > this.state.tail.length) {
      this.state.tail.splice(0, this.state.tailStart);
      this.state.tailStart = 0;
    }
  }

  #sendGroup(): void {
    this.#send(this.#group);
    this.#group = [];
    this.#groupBytes = 0;
  }
}

function sizeOf({ text }: LogPart): number {
  return text.length * 2 + logLineBytes;
}

/** Shortens a line that is too long, and notes it. */
function shortened(text: string, maxBytes: number): string {
  const characters = Math.max(0, Math.floor((maxBytes - logLineBytes) / 2) - 60);
  if (text.length <= characters + 60) return text;
  return `${text.slice(0, characters)}… (${text.length - characters} more characters in this line)`;
}
