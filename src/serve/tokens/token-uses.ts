/** Writes when tokens were used last: for each token with its first use, and then at most once a minute. */
import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Environment } from "../../config/environment.ts";
import { tokenUseEndMs, tokenUseGapMs, tokenUseLockMs } from "../limits.ts";
import { changeTokens, type StoredToken } from "./token-file.ts";

export class TokenUses implements AsyncDisposable {
  readonly #env: Environment;
  readonly #log: Log;
  /** The times of uses that are not written yet, by the digests of the tokens. */
  readonly #pending = new Map<string, number>();
  /** When the time of a token was written last, or could not be written. */
  readonly #triedAt = new Map<string, number>();
  #writing: Promise<void> | undefined;

  constructor(env: Environment, log: Log) {
    this.#env = env;
    this.#log = log;
  }

  /** `lastUsedAt` is the time in the file. Never throws, and never waits. */
  used(hash: string, lastUsedAt = 0): void {
    const now = Date.now();
    this.#pending.set(hash, now);
    if (!this.#triedAt.has(hash)) this.#triedAt.set(hash, lastUsedAt);
    if (this.#isDue(hash, now)) this.write();
  }

  /** Writes what is due. */
  write(): void {
    if (this.#pending.size === 0 || this.#writing) return;
    const now = Date.now();
    const due = [...this.#pending].filter(([hash]) => this.#isDue(hash, now));
    if (due.length === 0) return;
    this.#writing = this.#write(due).finally(() => {
      this.#writing = undefined;
    });
  }

  #isDue(hash: string, now: number): boolean {
    return now - (this.#triedAt.get(hash) ?? 0) >= tokenUseGapMs;
  }

  /** Writes what is left, if that is possible soon. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#writeRest(), sleep(tokenUseEndMs, undefined, { ref: false })]);
  }

  async #writeRest(): Promise<void> {
    await this.#writing;
    if (this.#pending.size > 0) await this.#write([...this.#pending]);
  }

  async #write(uses: readonly [hash: string, at: number][]): Promise<void> {
    for (const [hash, at] of uses) this.#triedAt.set(hash, at);
    try {
      const times = new Map(uses);
      const write = (tokens: StoredToken[]) => {
        // A token that was revoked meanwhile stays revoked.
        for (const token of tokens) token.lastUsedAt = times.get(token.hash) ?? token.lastUsedAt;
      };
      await changeTokens(this.#env, write, tokenUseLockMs);
      for (const [hash, at] of uses) if (this.#pending.get(hash) === at) this.#pending.delete(hash);
    } catch (error) {
      this.#log.warn(`Cannot write when tokens were used last: ${messageOf(error)}`);
    }
  }
}
