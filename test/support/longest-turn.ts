/**
 * Measures how long this thread worked at most between two turns of its event loop, in its own CPU time: on a busy machine, other processes
 * have the thread wait, too.
 */
export class LongestTurn implements Disposable {
  #longestMs = 0;
  #last = process.threadCpuUsage();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#look(), 1);
  }

  get ms(): number {
    this.#look();
    return this.#longestMs;
  }

  #look(): void {
    const { user, system } = process.threadCpuUsage(this.#last);
    this.#last = process.threadCpuUsage();
    this.#longestMs = Math.max(this.#longestMs, (user + system) / 1_000);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/**
 * The longest that a ping may take in a test, in milliseconds: other tests run at the same time. The fuzzer, which repeats a late ping,
 * measures 100 ms. Heavy bodies once delayed pings by 700 to 2,000 ms.
 */
export const maxBusyPingMs = 250;
