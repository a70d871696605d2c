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

/** What is typed in the moment in which a question appears was not meant for it. */
const glanceMs = 150;

export class TerminalAsker implements Asker, Disposable {
  readonly #io: Io;
  readonly #activity: Activity;
  readonly #ended = new AbortController();
  readonly #semaphore = new Semaphore(1);
  /** Waits for a line; what is typed while nobody waits is no answer. */
  #heard: ((line: string | undefined) => void) | undefined;
  #reading: Promise<void> | undefined;
  #isAtEnd = false;

  /** Undefined where no person sits at both ends. */
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

  /** One question at a time, whoever asks it. What was typed before it appeared is no answer. Rejects when the signal is aborted. */
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

  /** The same streams for other questions of the command, since only one can read. */
  linesFor(io: Io): Io {
    return { ...io, stdin: { ...io.stdin, line: (options) => this.#line(options) } };
  }

  async #line({ signal, onReady }: LineOptions): Promise<string | undefined> {
    this.#reading ??= this.#read();
    await onReady?.();
    return this.#nextLine(signal).catch(() => undefined);
  }

  /** Lets the terminal go. */
  [Symbol.dispose](): void {
    this.#ended.abort();
  }

  async #read(): Promise<void> {
    try {
      for await (const line of this.#io.stdin.lines(this.#ended.signal)) this.#heard?.(line);
    } catch {
      // A terminal that cannot be read says nothing more.
    }
    this.#isAtEnd = true;
    this.#heard?.(undefined);
  }

  /** Undefined where there will be none. Rejects when the signal is aborted. */
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
