/** Continues the executions that other replicas have left when they died or ended. */
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../../app/app.ts";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import { type ExecutionView, viewOf } from "../../programs/execution/stored-executions.ts";
import type { ContinuationHandlers, Continuing, FailedAttempts } from "../../store/executions.ts";

/** Time for which an execution is watched that was just continued. If it ends its process, this counts as a failed attempt. */
const continuedWatchMs = 8_000;

/** How often it is looked at. */
const continuedLookMs = 50;

/** Pause until the store is opened again. */
const storeRetryMs = 3_000;

/** A part of the config that stays open until it is disposed of. */
export interface OpenPart extends Disposable {
  app: App;
}

export interface ContinueOptions {
  /** The door that is served instead of the whole config. */
  door: string | undefined;
  /** Opens the part of the config that an execution needs. */
  partOf: (view: ExecutionView) => Promise<OpenPart>;
  log: Log;
}

/** Until it is disposed of, continues what other replicas leave. Does nothing if the store has no replicas. Never throws. */
export class ContinueLeft implements AsyncDisposable {
  readonly #app: App;
  readonly #options: ContinueOptions;
  readonly #stopping = new AbortController();
  readonly #begun: Promise<Continuing | undefined>;

  constructor(app: App, options: ContinueOptions) {
    this.#app = app;
    this.#options = options;
    this.#begun = this.#begin();
  }

  /** The config may have to be trusted first, and the database may be away. */
  async #begin(): Promise<Continuing | undefined> {
    const { signal } = this.#stopping;
    if (!this.#app.store.continuations) return undefined;
    for (let told = ""; !signal.aborted; await sleep(storeRetryMs, undefined, { signal }).catch(() => {})) {
      try {
        const app = await this.#app.ready(signal);
        return await app.store.continuations?.take(this.#handlersFor(app));
      } catch (error) {
        const problem = messageOf(error);
        if (problem !== told) this.#options.log.warn(`cannot continue what other replicas leave: ${problem}`);
        told = problem;
      }
    }
    return undefined;
  }

  #handlersFor(app: App): ContinuationHandlers {
    const { door, log } = this.#options;
    const { origin } = app.config;
    return {
      config: origin.kind === "demo" ? null : origin.file,
      door,
      format: formatOf(buildMark),
      continueHere: (id, stopping) => this.#continueHere(id, app, stopping),
      giveUp: async (id, failed) => {
        const why = whyLost(failed);
        log.warn(`the execution ${id} is lost: ${why}`);
        await (await app.executions()).giveUp(id, why, app);
      },
      onProblem: (text) => log.debug(`jobs: ${text}`),
    };
  }

  async #continueHere(id: string, app: App, stopping: AbortSignal): Promise<void> {
    const { partOf, log } = this.#options;
    const row = await app.store.executions.get(id);
    if (row?.state !== "open" || stopping.aborted) return;
    try {
      using part = await partOf(viewOf(row));
      const running = await (await part.app.executions()).takeOver(id, part.app);
      if (!running) return;
      log.info(`continues ${id}, which another replica has left`);
      let hasEnded = false;
      void running.outcome
        .catch(() => {})
        .finally(() => {
          hasEnded = true;
        });
      const deadline = performance.now() + continuedWatchMs;
      // One that ends its process would end others too: the job fails with the process until then.
      while (!hasEnded && !running.isWaiting && !stopping.aborted && performance.now() < deadline) {
        await Bun.sleep(continuedLookMs);
      }
    } catch (error) {
      // It is released again.
      if (stopping.aborted) return;
      log.warn(`cannot continue ${id} now: ${messageOf(error)}`);
      // No attempt has failed: it is taken again until the bucket is back.
      if (toClaudikinsError(error).code === "BUCKET_UNAVAILABLE") return;
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await (await this.#begun)?.[Symbol.asyncDispose]();
  }
}

function whyLost({ attempts, problem }: FailedAttempts): string {
  return `${attempts} attempts have failed, the last one with: ${problem}`;
}
