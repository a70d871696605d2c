/** Log lines in order. A started line (`process.stdout.write(".")`) continues with the next text of its level. */
import type { LogEntry, LogLevel } from "./contract.ts";
import type { LogPart } from "./messages.ts";

export class LogLines {
  readonly entries: LogEntry[] = [];
  readonly #begun = new Map<LogLevel, LogEntry>();

  add({ level, text, open = false }: LogPart): void {
    const begun = this.#begun.get(level);
    if (begun) begun.text += text;
    const line = begun ?? { level, text };
    if (!begun) this.entries.push(line);
    if (open) this.#begun.set(level, line);
    else this.#begun.delete(level);
  }
}
