/** Refreshes a server after it announced a change: one refresh at a time, and seldom for a server that never stops changing. */

import { refreshBurst, refreshBurstMs, refreshGapMs } from "../limits.ts";

interface Work {
  running: Promise<void> | undefined;
  /** There was a change since the refresh began. */
  isOld: boolean;
  waiting: ReturnType<typeof setTimeout> | undefined;
  startedAt: number[];
}

export class ChangeRefresher implements Disposable {
  readonly #refresh: (server: string) => Promise<void>;
  readonly #gapMs: number;
  readonly #work = new Map<string, Work>();
  #ended = false;

  /** `refresh` never rejects. */
  constructor(refresh: (server: string) => Promise<void>, gap = refreshGapMs) {
    this.#refresh = refresh;
    this.#gapMs = gap;
  }

  /** However many changes are announced, one refresh runs and at most one more follows. */
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

  /** Resolves when the running refreshes have ended. A refresh that has to wait for its time is not awaited. */
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
    work.startedAt = work.startedAt.filter((at) => now - at < refreshBurstMs);
    if (work.startedAt.length < refreshBurst || now - (work.startedAt.at(-1) ?? 0) >= this.#gapMs)
      this.#run(server, work);
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
