/** Many servers asked for their tools beside other work: a thousand of them are never a thousand processes. */
import { availableParallelism } from "node:os";
import { Turns } from "../turns.ts";

/** Of programs that start, most of the time is waiting: for a download, for an answer. */
export const askedAtOnce = Math.max(8, 4 * availableParallelism());

/** One that takes longer keeps nobody else from being asked. */
const turnMs = 3_000;

/** But so many times as many are under way at most. */
const slowOnes = 4;

export class Asking implements Disposable {
  readonly #ask: (server: string) => Promise<void>;
  readonly #begin = new Turns(askedAtOnce);
  readonly #all = new Turns(slowOnes * askedAtOnce);
  readonly #running = new Map<string, { since: number; answer: Promise<void> }>();

  constructor(ask: (server: string) => Promise<void>) {
    this.#ask = ask;
  }

  /** How many are being asked or wait for it. */
  get size(): number {
    return this.#running.size;
  }

  /** For how long the server is being asked or waits for it; 0 when it does not. */
  waitedMs(server: string): number {
    const running = this.#running.get(server);
    return running ? performance.now() - running.since : 0;
  }

  /** Resolves when the server has answered, and throws what it failed with. Whoever asks for the same meanwhile shares that. */
  ask(server: string): Promise<void> {
    let running = this.#running.get(server);
    if (!running) {
      const answer = this.#inTurn(server).finally(() => this.#running.delete(server));
      running = { since: performance.now(), answer };
      this.#running.set(server, running);
    }
    return running.answer;
  }

  /** Who has not had a turn yet gets none. */
  [Symbol.dispose](): void {
    this.#begin.end();
    this.#all.end();
  }

  async #inTurn(server: string): Promise<void> {
    if (!(await hadTurn(this.#all))) return;
    try {
      if (await hadTurn(this.#begin)) await this.#askFor(server);
    } finally {
      this.#all.giveBack();
    }
  }

  async #askFor(server: string): Promise<void> {
    let isMine = true;
    const giveBack = () => {
      if (isMine) this.#begin.giveBack();
      isMine = false;
    };
    const timer = setTimeout(giveBack, turnMs);
    timer.unref();
    try {
      await this.#ask(server);
    } finally {
      clearTimeout(timer);
      giveBack();
    }
  }
}

async function hadTurn(turns: Turns): Promise<boolean> {
  const turn = turns.take(undefined);
  return turn === undefined || (await turn);
}
