/** Does again what a server's changes make old: once at a time, and rarely for one that never stops changing. */

/** What may be done in a row, in the time of a minute; beyond that it waits so long each time. */
const burst = 5;
const windowMs = 60_000;
const gapMs = 10_000;

interface Work {
  running: Promise<void> | undefined;
  /** There was a change since it began. */
  isOld: boolean;
  waiting: ReturnType<typeof setTimeout> | undefined;
  startedAt: number[];
}

export class Refresher implements Disposable {
  readonly #refresh: (server: string) => Promise<void>;
  readonly #gapMs: number;
  readonly #work = new Map<string, Work>();
  #ended = false;

  /** `refresh` never rejects. */
  constructor(refresh: (server: string) => Promise<void>, gap = gapMs) {
    this.#refresh = refresh;
    this.#gapMs = gap;
  }

  /** However often it is told, there is one refresh that runs and one more at most. */
  changed(server: string): void {
    let work = this.#work.get(server);
    if (!work) {
      work = { running: undefined, isOld: false, waiting: undefined, startedAt: [] };
      this.#work.set(server, work);
    }
    work.isOld = true;
    this.#next(server, work);
  }

  isRunning(server: string): boolean {
    return this.#work.get(server)?.running !== undefined;
  }

  /** Resolves when what changed until now is known; what has to wait for its time is not waited for. */
  async settled(server: string): Promise<void> {
    const work = this.#work.get(server);
    while (work?.running) await work.running;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    for (const { waiting } of this.#work.values()) clearTimeout(waiting);
  }

  #next(server: string, work: Work): void {
    if (this.#ended || work.running || work.waiting || !work.isOld) return;
    const now = performance.now();
    work.startedAt = work.startedAt.filter((at) => now - at < windowMs);
    if (work.startedAt.length < burst || now - (work.startedAt.at(-1) ?? 0) >= this.#gapMs) this.#run(server, work);
    else {
      work.waiting = setTimeout(() => {
        work.waiting = undefined;
        this.#run(server, work);
      }, this.#gapMs);
      work.waiting.unref();
    }
  }

  #run(server: string, work: Work): void {
    work.isOld = false;
    work.startedAt.push(performance.now());
    work.running = this.#refresh(server).then(() => {
      work.running = undefined;
      this.#next(server, work);
    });
  }
}
