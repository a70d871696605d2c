/** Writes the messages for a process, each as a line. */
import { atMost } from "../../base/time-limit.ts";
import { CutOff, type ProcessPipes } from "./process-pipes.ts";

/** Time to wait for the end of a process that accepts no messages. */
const stdioEndMs = 1_000;

/** Characters of one write to a server's stdin, unless one message is longer. */
const stdioWriteChars = 65_536;

/** The process has not read the message. */
export class NotWritten extends Error {
  override readonly name = "NotWritten";
}

export const inputClosed = "its input is closed";

interface Line {
  text: string;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export class OutgoingLines {
  readonly #pipes: Pick<ProcessPipes, "write">;
  /** Resolves when the process has ended. */
  readonly #ended: Promise<void>;
  /** Lines that wait for the write before them, or for other lines of the same moment. */
  readonly #waiting: Line[] = [];
  #isWriting = false;
  /** A write has failed: the process does not read any more. */
  #isBroken = false;

  constructor(pipes: Pick<ProcessPipes, "write">, ended: Promise<void>) {
    this.#pipes = pipes;
    this.#ended = ended;
  }

  /** Lines of one moment are written together. Resolves when the system has taken the line. Rejects with NotWritten if the process has not read it. */
  send(text: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ text, resolve, reject });
    if (!this.#isWriting) {
      this.#isWriting = true;
      queueMicrotask(this.#writeWaiting);
    }
    return promise;
  }

  readonly #writeWaiting = (): void => {
    while (this.#waiting.length > 0) {
      const lines = taken(this.#waiting);
      const writing = this.#write(lines);
      if (writing) {
        // Waits for each write, so that a failure concerns only its own lines.
        void this.#settle(lines, writing).then(this.#writeWaiting);
        return;
      }
      for (const { resolve } of lines) resolve();
    }
    this.#isWriting = false;
  };

  #write(lines: readonly Line[]): Promise<void> | undefined {
    if (this.#isBroken) return Promise.reject(new CutOff(0));
    return this.#pipes.write(lines.length === 1 ? lines[0]!.text : lines.map(({ text }) => text).join(""));
  }

  /** Never rejects. */
  async #settle(lines: readonly Line[], writing: Promise<void>): Promise<void> {
    try {
      await writing;
      for (const { resolve } of lines) resolve();
    } catch (cause) {
      this.#isBroken = true;
      // The process is probably ending, and the reason says more than a broken pipe.
      void atMost(stdioEndMs, this.#ended).then(() => fail(lines, cause));
    }
  }
}

/** Takes lines for one write, at least one. */
function taken(waiting: Line[]): Line[] {
  let length = 0;
  const end = waiting.findIndex(({ text }, index) => {
    length += text.length;
    return index > 0 && length > stdioWriteChars;
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

/** The process may have read the lines that the system has taken, but not the last line of a write that failed. */
function fail(lines: readonly Line[], cause: unknown): void {
  const bytes = cause instanceof CutOff ? cause.bytes : undefined;
  let end = 0;
  for (const line of lines) {
    end += Buffer.byteLength(line.text);
    if (bytes !== undefined && end <= bytes) line.resolve();
    else if (bytes === undefined && line !== lines.at(-1)) line.reject(cause);
    else line.reject(new NotWritten(inputClosed, { cause }));
  }
}
