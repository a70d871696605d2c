/**
 * The tokens of one config as a running `serve --http` accepts them. A change of the file counts from the next request on. Everything that
 * a token began listens to its signal, which is aborted soon after the token has expired or was revoked.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { Watched } from "../../base/watched.ts";
import { documentsOf } from "../../config/documents.ts";
import type { Environment } from "../../config/environment.ts";
import { tokensFile } from "../../config/locations.ts";
import { changeTokens, readTokens, type StoredToken, tokenId } from "./token-file.ts";

/** How often the file of tokens is looked at without requests. Work of an ended token must end within a second. */
const tokenLookMs = 250;

/** Time between two writes of the time when a token was used last. */
const tokenUseGapMs = 60_000;

/** Time to wait for the lock of the file to write that time. The next look tries again. */
const tokenUseLockMs = 1_000;

/** Time to write that time when the server ends, perhaps without its database. */
const tokenUseEndMs = 1_500;

export interface LiveToken {
  readonly id: string;
  /** The only door that it opens. */
  readonly door: string | undefined;
  readonly hasExpired: boolean;
  /** Aborted when it has expired or was revoked. */
  readonly ended: AbortSignal;
}

class Live implements LiveToken {
  stored: StoredToken;
  readonly #ending = new AbortController();

  constructor(stored: StoredToken) {
    this.stored = stored;
  }

  get id(): string {
    return tokenId(this.stored);
  }

  get door(): string | undefined {
    return this.stored.door;
  }

  get hasExpired(): boolean {
    return (this.stored.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now();
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort();
  }
}

export interface LiveTokensOptions {
  env: Environment;
  /** The config file; null for the demo. */
  config: string | null;
  log: Log;
}

export class LiveTokens implements AsyncDisposable {
  readonly #options: LiveTokensOptions;
  readonly #uses: TokenUses;
  /** By their digests. Expired ones stay, so that their clients learn why they are refused. */
  #tokens = new Map<string, Live>();
  readonly #watched: Watched;
  /** Why the file cannot be used. */
  problem: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #cancelling = new Set<Promise<void>>();

  constructor(options: LiveTokensOptions) {
    this.#options = options;
    const documents = documentsOf(options.env);
    const file = tokensFile(options.env);
    this.#watched = new Watched(() => documents.stampOf(file));
    this.#uses = new TokenUses(options.env, options.log);
    this.#readAll();
    this.#endExpired();
  }

  /**
   * Finds a token that a client sends, and notes that it was used. Undefined if there is none. An expired token is returned. The digest of
   * the token is looked up, so the time that this takes says nothing about other tokens.
   */
  use(token: string): LiveToken | undefined {
    this.#look();
    const found = this.#tokens.get(sha256(token));
    if (found?.hasExpired === false) this.#uses.used(found.stored.hash, found.stored.lastUsedAt);
    return found;
  }

  /** Reads the file if it has changed, and ends the tokens that are no longer in it. */
  #look(): void {
    if (!this.#watched.hasChanged() && this.problem === undefined) return;
    this.#readAll();
  }

  #readAll(): void {
    const before = this.#tokens;
    this.#tokens = new Map((this.#read() ?? []).map((each) => [each.hash, liveToken(each, before.get(each.hash))]));
    this.#end([...before.values()].filter((each) => this.#tokens.get(each.stored.hash) !== each));
    this.#setTimer();
  }

  /** Undefined if the file cannot be used. Then no token in it is accepted. */
  #read(): StoredToken[] | undefined {
    const { env, config, log } = this.#options;
    try {
      const tokens = readTokens(env).filter((each) => each.config === config);
      this.problem = undefined;
      return tokens;
    } catch (error) {
      const problem = toClaudikinsError(error).text;
      if (problem !== this.problem) log.warn(problem);
      this.problem = problem;
      return undefined;
    }
  }

  #endExpired(): void {
    this.#end([...this.#tokens.values()].filter(({ hasExpired }) => hasExpired));
  }

  /** Programs that the clients of a token have left may run in other processes, or wait in the store. */
  #end(tokens: readonly Live[]): void {
    const ending = tokens.filter(({ ended }) => !ended.aborted);
    if (ending.length === 0) return;
    for (const each of ending) each.end();
    const { env, log } = this.#options;
    const ids = ending.map(({ id }) => id);
    log.info(`tokens have ended: ${ids.join(", ")}`);
    const cancelling = import("./manage.ts")
      .then(({ cancelProgramsOf }) => cancelProgramsOf(ids, env))
      .catch((error) => log.warn(`Cannot cancel the programs of the tokens ${ids.join(", ")}: ${messageOf(error)}`))
      .finally(() => this.#cancelling.delete(cancelling));
    this.#cancelling.add(cancelling);
  }

  /** Without tokens, nothing can end, and the next request sees whether there are some. */
  #setTimer(): void {
    if (this.#tokens.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    this.#timer ??= setInterval(() => {
      this.#look();
      this.#endExpired();
      this.#uses.write();
    }, tokenLookMs).unref();
  }

  /** Writes which tokens were used. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#cancelling);
    await this.#uses[Symbol.asyncDispose]();
  }
}

/** The known token, unless it opens something else now, or its file could not be used for a while. */
function liveToken(stored: StoredToken, known: Live | undefined): Live {
  const next = new Live(stored);
  if (!known || known.door !== next.door || (known.ended.aborted && !next.hasExpired)) return next;
  known.stored = stored;
  return known;
}

/** Writes when tokens were used last: for each token with its first use, and then at most once a minute. */
class TokenUses implements AsyncDisposable {
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
