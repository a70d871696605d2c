/** The connection to one server: opened by the first call, shared by all calls, delayed after failures, closed when idle. */

import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { Call } from "../../policy/call.ts";
import { unlessAborted } from "../abort.ts";
import { ConnectionLost, ServerFailure, SignedOut } from "../failures/server-failure.ts";
import { type BrokenState, mistakenState, retryText, type ServerState } from "../state.ts";
import type { Connection } from "./connect.ts";

/** Characters of the reason why a server is broken. */
const maxBrokenReasonChars = 1_000;

/** A longer `Retry-After` is cut to this: people who know that the server works again would not understand the delay. */
const maxBusyMs = 600_000;

/** Opens a connection. `onClose` gets the reason of its end, and whether the server still works. */
export type ConnectionOpener = (onClose: (how: string, isWell: boolean) => void) => Promise<Connection>;

export interface BackoffTimes {
  /** Delay after the second failure in a row. It doubles with each further one. */
  firstMs: number;
  maxMs: number;
  /** From this number of failures in a row, the circuit is open: more tries are unlikely to help soon. */
  circuitAfter: number;
  /** Delay after the failure that opens the circuit. It doubles with each further one. */
  circuitMs: number;
}

export const backoffTimes: BackoffTimes = { firstMs: 250, maxMs: 60_000, circuitAfter: 5, circuitMs: 15_000 };

export class Lifecycle {
  readonly #config: ServerConfig;
  readonly #open: ConnectionOpener;
  readonly #times: BackoffTimes;
  readonly #semaphore: Semaphore;
  #state: ServerState = { state: "idle" };
  #connection: Promise<Connection> | undefined;
  /** The last failure. Cleared by the next success. */
  #failure: ClaudikinsError | undefined;
  #failures = 0;
  /** Delay after that failure, in milliseconds. */
  #waitMs = 0;
  /** The number of running calls, and of callers that keep the connection. */
  #calls = 0;
  #lastCallAt = 0;
  /** Connections that take no new calls. */
  readonly #left: Promise<Connection>[] = [];
  readonly #madeAt = Date.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #onIdle: (() => void) | undefined;
  /** The end of the last process. The next one starts after it. */
  #ending: Promise<void> | undefined;

  constructor(config: ServerConfig, open: ConnectionOpener, times: BackoffTimes = backoffTimes) {
    this.#config = config;
    this.#open = open;
    this.#times = times;
    this.#semaphore = Semaphore.shared(config.maxCallsInFlight);
  }

  get state(): ServerState {
    const { needs, mistake } = this.#config;
    if (mistake) return mistakenState(mistake, this.#madeAt);
    if (needs.length > 0) return { state: "needs", variables: [...needs] };
    const isOver = this.#failure instanceof SignedOut && !this.#failure.isSignInSame();
    return this.#state.state === "signed out" && isOver ? { state: "idle" } : { ...this.#state };
  }

  /** Number of calls that wait for their turn. */
  get queued(): number {
    return this.#semaphore.waiting;
  }

  /** The current connection, or the one that is being opened. Reading this opens none. */
  get connection(): Promise<Connection> | undefined {
    return this.#connection;
  }

  /**
   * Runs `work` with the connection, and opens it if needed. If the server has not seen the request, or if it is
   * repeatable, `work` runs once more on a new connection. Programs whose calls wait get turns. `what` is the name of the action in error
   * messages, such as `demo.get_order`. Throws errors of `work` and of `connect`.
   */
  async use<T>(work: (connection: Connection) => Promise<T>, what: string, call: Call): Promise<T> {
    const { signal, made, repeatable = false, startsNothing = false, caller } = call;
    const turn = this.#semaphore.acquire(signal, made?.execution, caller?.owner);
    if (turn && !(await turn)) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`);
    this.#calls += 1;
    try {
      for (let isSecond = false; ; isSecond = true) {
        if (startsNothing && !this.#connection) {
          throw new ClaudikinsError("CANCELLED", `${what}: "${this.#config.name}" is not connected`);
        }
        const opening = this.#connect();
        const isOpen = this.#state.state === "ready";
        const connection = await (isOpen ? opening : unlessAborted(opening, signal, what));
        try {
          const value = await work(connection);
          this.#failures = 0;
          return value;
        } catch (error) {
          this.#failed(error, opening);
          if (isSecond || !(error instanceof ConnectionLost) || (error.sent && !repeatable)) throw error;
        }
      }
    } finally {
      this.#semaphore.release(caller?.owner);
      this.#done(!startsNothing);
    }
  }

  #failed(error: unknown, opening: Promise<Connection>): void {
    if (error instanceof ConnectionLost) this.#lose(opening, error);
    else if (error instanceof SignedOut) this.#leave(opening, error);
    // An error that the server returned is an answer.
    else if (!(error instanceof ClaudikinsError) || !unanswered.includes(error.code)) this.#failures = 0;
  }

  /** Keeps the connection open until the returned function is called. */
  keep(): () => void {
    this.#calls += 1;
    return () => this.#done(true);
  }

  #done(isUse: boolean): void {
    this.#calls -= 1;
    if (this.#calls === 0) {
      this.#closeLeft();
      this.#onIdle?.();
    }
    if (isUse) this.#lastCallAt = performance.now();
    this.#endWhenIdle();
  }

  /** Closes the connection if it is not in use. Resolves when the process has ended. */
  async release(): Promise<void> {
    if (this.#calls > 0) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    this.#end("no longer needed");
    await this.#ending;
  }

  /** Closes the connection after the running calls. No new calls may come. Resolves when the process has ended. */
  async retire(): Promise<void> {
    while (this.#calls > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      // A call that has waited for the semaphore begins at the same moment.
      await eventLoopTurn();
    }
    await this.release();
  }

  /** Resolves when the process has ended. The caller must cancel a start that is still running. */
  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#end();
    this.#closeLeft();
    await this.#ending;
  }

  #connect(): Promise<Connection> {
    if (this.#connection) return this.#connection;
    const { name, needs } = this.#config;
    // Fails at once, and time does not help.
    if (needs.length > 0) return this.#open(() => {});
    if (this.#failure instanceof SignedOut && this.#state.state === "signed out" && this.#failure.stands()) {
      return Promise.reject(this.#failure);
    }
    if (this.#failure && this.#state.state === "broken" && this.#isTooSoon(this.#state)) {
      return Promise.reject(tooSoon(this.#failure, this.#state, this.#times));
    }
    let startedAt = 0;
    const onClose = (how: string, isWell: boolean) => {
      // No delay if the server has not failed.
      const code = isWell ? "CANCELLED" : "SERVER_UNAVAILABLE";
      this.#lose(opening, new ServerFailure(code, `Server "${name}" is gone: ${how}`, { why: `is gone: ${how}` }));
    };
    const opening: Promise<Connection> = Promise.resolve(this.#ending).then(() => {
      startedAt = performance.now();
      return this.#open(onClose);
    });
    this.#connection = opening;
    this.#state = { state: "starting", since: Date.now() };
    opening.then(
      ({ pid }) => {
        if (this.#connection !== opening) return;
        this.#state = { state: "ready", since: Date.now(), startMs: Math.round(performance.now() - startedAt), pid };
        this.#lastCallAt = performance.now();
        this.#endWhenIdle();
      },
      (error) => {
        if (this.#connection !== opening) return;
        this.#connection = undefined;
        this.#fail(toClaudikinsError(error));
      },
    );
    return opening;
  }

  /** Drops a lost connection; the next call opens another one. A failed start reports its own reason. */
  #lose(opening: Promise<Connection>, error: ClaudikinsError): void {
    if (this.#connection !== opening || this.#state.state !== "ready") return;
    // If only a write failed, the process may still be running.
    this.#end("it accepts no more messages");
    this.#fail(error);
  }

  /** Takes the connection out of use for new calls. Running calls may still get their answers. */
  #leave(opening: Promise<Connection>, error: SignedOut): void {
    if (this.#connection !== opening || this.#state.state !== "ready") return;
    this.#connection = undefined;
    this.#left.push(opening);
    this.#fail(error);
  }

  #closeLeft(): void {
    for (const connection of this.#left.splice(0)) this.#close(connection);
  }

  /** A clock that was set back must not cause a long delay. */
  #isTooSoon({ retryAt = 0 }: BrokenState): boolean {
    const restMs = retryAt - Date.now();
    return restMs > 0 && restMs <= this.#waitMs;
  }

  #fail(error: ClaudikinsError): void {
    this.#state = { state: "idle" };
    if (error.code === "CANCELLED") return;
    this.#failure = error;
    if (error instanceof SignedOut) {
      const { why, hint } = error;
      this.#state = { state: "signed out", why, hint, since: Date.now() };
      return;
    }
    this.#failures += 1;
    // A person who has just signed in must not wait.
    this.#waitMs = error.code === "AUTH_REQUIRED" ? 0 : backoffMs(this.#failures, this.#times);
    const { retryAfterMs = 0 } = error instanceof ServerFailure ? error : {};
    this.#waitMs = Math.max(this.#waitMs, Math.min(retryAfterMs, maxBusyMs));
    const { code, message } = error;
    // The hint of a lost request is for its caller.
    const hint = error instanceof ConnectionLost ? undefined : error.hint;
    const { why, facts } = error instanceof ServerFailure ? error : { why: message.split("\n")[0] ?? "", facts: {} };
    const since = Date.now();
    const retryAt = since + this.#waitMs;
    this.#state = {
      state: "broken",
      code,
      why: oneLine(why, maxBrokenReasonChars),
      hint,
      since,
      failures: this.#failures,
      retryAt,
      ...facts,
    };
  }

  /**
   * Closes the connection if the idle time is over, otherwise checks again later. There is one timer at most, and it does
   * not keep the process alive.
   */
  #endWhenIdle(): void {
    const { keepAlive, idleTimeoutMs } = this.#config;
    if (keepAlive || this.#calls > 0 || this.#idleTimer || this.#state.state !== "ready") return;
    const restMs = this.#lastCallAt + idleTimeoutMs - performance.now();
    if (restMs <= 0) {
      this.#end(`no calls for ${durationText(idleTimeoutMs)}`);
      return;
    }
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      this.#endWhenIdle();
    }, restMs);
    this.#idleTimer.unref();
  }

  #end(why?: string): void {
    const connection = this.#connection;
    if (!connection) return;
    this.#connection = undefined;
    this.#state = { state: "idle" };
    this.#close(connection, why);
  }

  #close(connection: Promise<Connection>, why?: string): void {
    const before = this.#ending;
    this.#ending = connection
      .then((each) => each.close(why))
      .catch(() => {})
      .then(() => before);
  }
}

/** Codes of failures without an answer of the server. */
const unanswered: readonly string[] = ["CANCELLED", "CALL_TIMEOUT", "SERVER_UNAVAILABLE"];

/** The same failure. It says that nothing was tried, and the time of the next attempt if one may help. */
function tooSoon(failure: ClaudikinsError, state: BrokenState, { circuitAfter }: BackoffTimes): ClaudikinsError {
  const { code, message, hint } = failure;
  const row = state.failures >= circuitAfter ? `failed ${state.failures} times in a row` : "";
  const [first = "", ...rest] = message.split("\n");
  const when = [row, "not tried again", retryText(state)].filter(Boolean).join(", ");
  const text = [`${first} (${when})`, ...rest].join("\n");
  return new ClaudikinsError(code, text, { hint, cause: failure });
}

/**
 * How long a failed server is not tried again: not at all after the first failure, then longer and longer. `random` is between 0
 * and 1, so that servers that failed together are not all tried at the same moment.
 */
export function backoffMs(failures: number, times: BackoffTimes = backoffTimes, random = Math.random()): number {
  // People repair what the first failure named, and try again at once.
  if (failures < 2) return 0;
  const { firstMs, maxMs, circuitAfter, circuitMs } = times;
  const isOpen = failures >= circuitAfter;
  const wholeMs = isOpen ? circuitMs * 2 ** (failures - circuitAfter) : firstMs * 2 ** (failures - 2);
  return Math.round(Math.min(wholeMs * (0.8 + 0.4 * random), maxMs));
}
