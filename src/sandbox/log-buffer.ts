/** Collects log lines and hands them on in groups: a million lines must not become a million messages. */
import type { LogEntry, LogLevel } from "./contract.ts";

const groupLines = 200;
const groupCharacters = 32_768;
const groupAgeMs = 25;
const keptLines = 20_000;
const keptCharacters = 4_194_304;

export class LogBuffer {
  readonly #send: (entries: LogEntry[]) => void;
  #group: LogEntry[] = [];
  #groupCharacters = 0;
  #since = 0;
  #lines = 0;
  #characters = 0;
  #dropped = 0;

  constructor(send: (entries: LogEntry[]) => void) {
    this.#send = send;
  }

  add(level: string, text: string): void {
    this.#lines += 1;
    this.#characters += text.length;
    if (this.#lines > keptLines || this.#characters > keptCharacters) {
      this.#dropped += 1;
      return;
    }
    const now = performance.now();
    if (this.#group.length === 0) this.#since = now;
    this.#group.push({ level: level as LogLevel, text });
    this.#groupCharacters += text.length;
    const full = this.#group.length >= groupLines || this.#groupCharacters >= groupCharacters;
    if (full || now - this.#since >= groupAgeMs) this.#sendGroup();
  }

  /** Sends what is there; at the end, also how many lines were too many to keep. */
  flush(end = false): void {
    if (end && this.#dropped > 0) {
      this.#group.push({ level: "warn", text: `${this.#dropped} more lines were logged and not kept` });
    }
    if (this.#group.length > 0) this.#sendGroup();
  }

  #sendGroup(): void {
    this.#send(this.#group);
    this.#group = [];
    this.#groupCharacters = 0;
  }
}
