/**
 * Shares the CPU time of this process among its callers, so that heavy programs of one caller do not delay the others. While several
 * callers are active, each may use an equal share. A caller that has used its share and a reserve owes time and must wait. It waits longer
 * while callers that owe less are working, and shorter during their pauses. A caller that is alone never waits.
 */
import { availableParallelism } from "node:os";

/**
 * Milliseconds of CPU time that are shared in a millisecond. The other cores are left to other processes, the servers and the main thread,
 * which all callers need.
 */
export const sharedCores = Math.max(1, availableParallelism() / 2);

/** A caller is active for this long after it has used time. */
export const activeCallerMs = 1_000;

/** The time that a caller may use at once before it waits for its share. */
export const callerReserveMs = 250;

/**
 * The most that a caller can owe. After a program that computed for ten seconds, the caller's next program waits for this time multiplied
 * by the number of callers.
 */
export const largestCallerDebtMs = 500;

/** A caller works for this long after it has used time. After that it pauses, and callers that owe time get all of the time. */
const workingCallerMs = 100;

/** The part of its share that an indebted caller gets while a caller that owes less is working. */
const debtorShare = 1 / 3;

/** A caller owes less than another if it owes this much less. Otherwise both get their shares. */
const debtLeadMs = 50;

/** The longest time between two checks of whether a caller may continue. */
const shareLookMs = 25;

/** The caller of a program. */
export interface Caller {
  /** The owner, such as a token or a person. */
  owner?: string | undefined;
  /** One of the owner's sessions or clients. */
  key?: string | undefined;
}

/** A caller that waits until it may use some time. */
interface Waiting {
  ms: number;
  resolve: () => void;
}

interface Account {
  /** Milliseconds that the caller may use at once. Negative if it has used too much. */
  credit: number;
  /** When the credit was last computed. */
  at: number;
  /** When the caller last used time. */
  usedAt: number;
  /** In the order in which they came. */
  waiting: Set<Waiting>;
  timer: Timer | undefined;
}

export class TimeShares {
  readonly #accounts = new Map<string, Account>();
  #active = 0;
  #countedAt = Number.NEGATIVE_INFINITY;

  /**
   * Uses `ms` milliseconds of the share of `key`. Returns undefined if the caller may continue at once. Otherwise returns a promise that
   * resolves when it may, or when `signal` is aborted.
   */
  take(key: string, ms: number, signal?: AbortSignal): Promise<void> | undefined {
    const now = performance.now();
    const account = this.#account(key, now);
    if (account.waiting.size === 0 && this.#mayUse(account, now)) {
      account.credit -= ms;
      return undefined;
    }
    return signal?.aborted ? undefined : this.#wait(account, ms, signal);
  }

  /** Counts time that was used without a wait before it. */
  charge(key: string, ms: number): void {
    const account = this.#account(key, performance.now());
    account.credit = Math.max(account.credit - ms, -largestCallerDebtMs);
  }

  async #wait(account: Account, ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { ms, resolve };
    account.waiting.add(waiting);
    const abort = () => {
      account.waiting.delete(waiting);
      resolve();
    };
    signal?.addEventListener("abort", abort, { once: true });
    this.#lookLater(account);
    await promise;
    signal?.removeEventListener("abort", abort);
  }

  #lookLater(account: Account): void {
    if (account.timer !== undefined || account.waiting.size === 0) return;
    const ms = Math.min(Math.max(1, -account.credit / this.#rate(account, performance.now())), shareLookMs);
    account.timer = setTimeout(() => {
      account.timer = undefined;
      this.#look(account);
    }, ms);
  }

  /** Lets waiting callers continue, in their order. */
  #look(account: Account): void {
    const now = performance.now();
    this.#refill(account, now);
    for (const waiting of account.waiting) {
      if (!this.#mayUse(account, now)) break;
      account.credit -= waiting.ms;
      account.waiting.delete(waiting);
      waiting.resolve();
    }
    this.#lookLater(account);
  }

  #mayUse({ credit }: Account, now: number): boolean {
    return credit > 0 || this.#callers(now) === 1;
  }

  #account(key: string, now: number): Account {
    const account = this.#accounts.getOrInsertComputed(key, () => {
      // The new caller counts at once.
      this.#countedAt = Number.NEGATIVE_INFINITY;
      return { credit: callerReserveMs, at: now, usedAt: now, waiting: new Set(), timer: undefined };
    });
    account.usedAt = now;
    this.#refill(account, now);
    return account;
  }

  #refill(account: Account, now: number): void {
    account.credit = Math.min(account.credit + (now - account.at) * this.#rate(account, now), callerReserveMs);
    account.at = now;
  }

  /** Milliseconds of CPU time that the caller may use in a millisecond. */
  #rate(account: Account, now: number): number {
    const share = sharedCores / this.#callers(now);
    if (account.credit >= 0) return share;
    let isPause = true;
    for (const other of this.#accounts.values()) {
      if (other === account || now - other.usedAt > workingCallerMs) continue;
      if (other.credit > account.credit + debtLeadMs) return share * debtorShare;
      isPause = false;
    }
    return isPause ? sharedCores : share;
  }

  /** Whether no caller is active. */
  get isIdle(): boolean {
    this.#countedAt = Number.NEGATIVE_INFINITY;
    this.#callers(performance.now());
    return this.#active === 0;
  }

  /** The number of active callers, at least one. Forgets the others. */
  #callers(now: number): number {
    if (now - this.#countedAt > shareLookMs) {
      this.#countedAt = now;
      for (const [key, { usedAt, waiting }] of this.#accounts)
        if (waiting.size === 0 && now - usedAt > activeCallerMs) this.#accounts.delete(key);
      this.#active = this.#accounts.size;
    }
    return Math.max(1, this.#active);
  }
}

/** Shares the time among owners, and the time of each owner among its sessions. */
export class CallerShares {
  readonly #owners = new TimeShares();
  readonly #byOwner = new Map<string, TimeShares>();

  /** See `TimeShares.take`. */
  take({ owner = "", key = "" }: Caller = {}, ms: number, signal?: AbortSignal): Promise<void> | undefined {
    const first = this.#sessionsOf(owner).take(key, ms, signal);
    return first ? first.then(() => this.#owners.take(owner, ms, signal)) : this.#owners.take(owner, ms, signal);
  }

  charge({ owner = "", key = "" }: Caller = {}, ms: number): void {
    this.#sessionsOf(owner).charge(key, ms);
    this.#owners.charge(owner, ms);
  }

  #sessionsOf(owner: string): TimeShares {
    const known = this.#byOwner.get(owner);
    if (known) return known;
    for (const [each, sessions] of this.#byOwner) if (sessions.isIdle) this.#byOwner.delete(each);
    const sessions = new TimeShares();
    this.#byOwner.set(owner, sessions);
    return sessions;
  }
}
