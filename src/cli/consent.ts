/** Asks the person at the terminal whether a tool may be called. */
import type { Answer, Asker } from "../policy/gate.ts";
import type { Question } from "../policy/question.ts";
import { Semaphore } from "../semaphore.ts";
import type { Io, LineOptions } from "./io.ts";
import type { Activity } from "./progress.ts";

const answers: ReadonlyMap<string, Answer> = new Map([
  ["y", "once"],
  ["yes", "once"],
  ["s", "session"],
  ["n", "no"],
  ["no", "no"],
]);

const choices = "y: yes, this once; s: yes, for this tool until the code ends; n: no";

/** Input typed within this time after a question appears is ignored, in milliseconds. */
const glanceMs = 150;

export class TerminalAsker implements Asker, Disposable {
  readonly #io: Io;
  readonly #activity: Activity;
  readonly #ended = new AbortController();
  readonly #semaphore = new Semaphore(1);
  /** Receives the next line. Lines that nothing waits for are dropped. */
  #heard: ((line: string | undefined) => void) | undefined;
  #reading: Promise<void> | undefined;
  #isAtEnd = false;

  /** Returns undefined unless stdin and stderr are terminals. */
  static of(io: Io, activity: Activity): TerminalAsker | undefined {
    return io.stdin.isTerminal && io.stderr.isTerminal ? new TerminalAsker(io, activity) : undefined;
  }

  private constructor(io: Io, activity: Activity) {
    this.#io = io;
    this.#activity = activity;
  }

  ask(text: string, _question: Question, signal: AbortSignal): Promise<Answer> {
    return this.inTurn(signal, async () => {
      await this.#io.stderr.write(`${text}\n`);
      await this.#io.stderr.write(`Call it? (${choices}) `);
      for (;;) {
        const line = await this.#nextLine(signal);
        if (line === undefined) {
          await this.#io.stderr.write("\n");
          return "cancelled";
        }
        const answer = answers.get(line.trim().toLowerCase());
        if (answer) return answer;
        await this.#io.stderr.write("y, s or n? ");
      }
    });
  }

  /** Asks one question at a time, and ignores input from before it appeared. Rejects when the signal is aborted. */
  async inTurn<T>(signal: AbortSignal, question: () => Promise<T>): Promise<T> {
    const turn = this.#semaphore.acquire(signal);
    if (turn && !(await turn)) throw signal.reason;
    const resume = this.#activity.pause();
    try {
      this.#reading ??= this.#read();
      await Bun.sleep(glanceMs);
      return await question();
    } finally {
      resume();
      this.#semaphore.release();
    }
  }

  /** Returns streams for other questions of the command, because only one reader can use stdin. */
  linesFor(io: Io): Io {
    return { ...io, stdin: { ...io.stdin, line: (options) => this.#line(options) } };
  }

  async #line({ signal, onReady }: LineOptions): Promise<string | undefined> {
    this.#reading ??= this.#read();
    await onReady?.();
    return this.#nextLine(signal).catch(() => undefined);
  }

  /** Stops reading the terminal. */
  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of this.#io.stdin.lines(this.#ended.signal)) this.#heard?.(line);
    } catch {
      // An unreadable terminal is treated as the end of the input.
    }
    this.#isAtEnd = true;
    this.#heard?.(undefined);
  }

  /** Returns undefined at the end of the input. Rejects when the signal is aborted. */
  async #nextLine(signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    if (this.#isAtEnd) return undefined;
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    this.#heard = resolve;
    try {
      return await promise;
    } finally {
      this.#heard = undefined;
      signal.removeEventListener("abort", abort);
    }
  }
}
