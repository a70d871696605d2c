/** The log files of the servers of one config. Each is opened when its server is started. */
import type { Log } from "../log.ts";
import { atMost } from "../time-limit.ts";
import { LogFile } from "./log-file.ts";

export interface LogFilesOptions {
  folder: string;
  /** The config file; null for the demo. */
  config: string | null;
  log: Log;
}

/** A little longer than a process's pipes are read after its end. */
const lastWordsMs = 150;

/** Writers that may have pending lines when the process exits. */
const open = new Set<LogFiles>();
process.on("exit", () => {
  for (const files of open) files.writeLast();
});

export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #files = new Map<string, LogFile>();
  readonly #writers = new Set<Promise<void>>();

  constructor(options: LogFilesOptions) {
    this.#options = options;
  }

  of(server: string): LogFile {
    open.add(this);
    let file = this.#files.get(server);
    if (!file) {
      const { folder, config, log } = this.#options;
      file = new LogFile({ server, config }, { folder, log });
      this.#files.set(server, file);
    }
    return file;
  }

  /** Announces a line that is written when the promise resolves. */
  expect(ended: Promise<void>): void {
    this.#writers.add(ended);
    void ended.then(() => this.#writers.delete(ended));
  }

  /** Writes the pending lines synchronously, when the process exits. */
  writeLast(): void {
    for (const file of this.#files.values()) file.write(true);
  }

  /** Waits a short time for announced lines; later lines are written at once. Never rejects. */
  async end(): Promise<void> {
    if (this.#writers.size > 0) await atMost(lastWordsMs, Promise.all(this.#writers));
    open.delete(this);
    await Promise.all([...this.#files.values()].map((file) => file.end()));
  }
}
