/** An app without servers, which answers the agent until the config is trusted or corrected, and then opens the real one. */

import { ClaudikinsError, toClaudikinsError } from "../base/errors.ts";
import { personMs } from "../base/limits.ts";
import { Semaphore } from "../base/semaphore.ts";
import { emptyConfig } from "../config/load.ts";
import { NotTrusted, type TrustRequest } from "../config/trust/not-trusted.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { choiceForm, hasForms } from "../servers/connection/responder.ts";
import type { PoolOptions } from "../servers/pool.ts";
import { trustQuestion } from "../setup/trust/question.ts";
import { trustConfig } from "../setup/trust/trust-config.ts";
import { App, type LockReason, type OwnPoolOptions } from "./app.ts";

/**
 * Longer questions whether a config is trusted are not asked in a form: few users would read them to the end, where a hostile config could
 * hide something.
 */
const maxTrustQuestionChars = 3_000;

export interface LockedOptions extends PoolOptions {
  why: LockReason;
  /** Whether the agent may read what stands in the config. It may not for a project that the user has not answered for. */
  showsConfig: boolean;
  /** Opens the real app. Throws CONFIG_NOT_TRUSTED until the config is trusted, and CONFIG_INVALID until it is correct. */
  open: () => Promise<App>;
  /** Whether the user at the agent may be asked. They must be the user who owns the config. */
  asks: boolean;
  /** The app of the user's own config, which works until a project's config is trusted for the first time. */
  meanwhile?: App | undefined;
}

const requestedSchema = choiceForm("Trust this config?", { trust: "Yes, trust it", no: "No" });

export class LockedApp extends App {
  override readonly lockedBy: LockReason;
  override readonly meanwhile: App | undefined;
  readonly #options: LockedOptions;
  /** Limits questions to one at a time. */
  readonly #semaphore = new Semaphore(1);
  /** The app that a session shares, and the session. */
  readonly #sharing: { app: LockedApp; session: string | undefined } | undefined;
  #opened: App | undefined;
  #saidNo = false;
  #waitsFor: string | undefined;

  constructor(sandbox: Sandbox, options: LockedOptions, sharing?: { app: LockedApp; session: string | undefined }) {
    super(emptyConfig(options.env), sandbox, options);
    this.#options = options;
    this.lockedBy = options.why;
    this.meanwhile = options.meanwhile;
    this.#sharing = sharing;
  }

  /** The session gets connections of its own once the app is open. */
  override withOwnPool({ session }: OwnPoolOptions = {}): LockedApp {
    return new LockedApp(this.sandbox, this.#options, { app: this, session });
  }

  override get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  /**
   * Tries to open the real app, and asks the user at the agent once about trust. Throws CONFIG_NOT_TRUSTED and CONFIG_INVALID. A config that was
   * trusted and has changed has no app meanwhile: the rules that the user has accepted with it would not count there.
   */
  override async ready(signal: AbortSignal): Promise<App> {
    if ((await this.#semaphore.acquire(signal)) === false)
      throw new ClaudikinsError("CANCELLED", "The call was cancelled");
    try {
      // The app may have been opened while this call waited.
      const opened = this.#opened ?? this.#forAgent(await this.#open(signal));
      this.#opened = opened;
      this.#waitsFor = undefined;
      return await opened.ready(signal);
    } catch (error) {
      const isNew = error instanceof NotTrusted && error.request !== undefined && !error.request.before;
      if (!isNew || !this.meanwhile) throw error;
      this.#waitsFor = error.text;
      return await this.#forAgent(this.meanwhile).ready(signal);
    } finally {
      this.#semaphore.release();
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    await this.meanwhile?.[Symbol.asyncDispose]();
    // An app that shares another one borrows its sandbox.
    if (!this.#sharing) await super[Symbol.asyncDispose]();
  }

  #forAgent(app: App): App {
    const { responder } = this.pool.host;
    if (responder) app.pool.setHost({ responder });
    return app;
  }

  async #open(signal: AbortSignal): Promise<App> {
    if (this.#sharing) {
      const { app, session } = this.#sharing;
      return (await app.ready(signal)).withOwnPool({ session });
    }
    try {
      return await this.#options.open();
    } catch (error) {
      const request = error instanceof NotTrusted ? error.request : undefined;
      if (!request || !(await this.#isTrustedNow(request, signal))) throw this.#toldToAgent(error);
      return this.#options.open();
    }
  }

  /** Asks the user at the agent, and stores a yes. */
  async #isTrustedNow(request: TrustRequest, signal: AbortSignal): Promise<boolean> {
    const { responder } = this.pool.host;
    if (!this.#options.asks || this.#saidNo || !hasForms(responder)) return false;
    const message = trustQuestion(request);
    if (message.length > maxTrustQuestionChars) return false;
    try {
      const late = AbortSignal.any([signal, AbortSignal.timeout(personMs)]);
      const params = { mode: "form" as const, message, requestedSchema };
      const { action, content } = await responder.elicit(params, {
        server: "claudikins",
        signal: late,
        origins: [signal],
      });
      this.#saidNo = action !== "accept" || content?.["answer"] !== "trust";
    } catch {
      // The agent could not ask.
      return false;
    }
    if (!this.#saidNo) await trustConfig(request, this.#options.env, "agent");
    return !this.#saidNo;
  }

  /** The hint of an invalid config is for a person at a command line, and its values are from the file. */
  #toldToAgent(error: unknown): unknown {
    const { code, message } = toClaudikinsError(error);
    if (code !== "CONFIG_INVALID") return error;
    const shown = this.#options.showsConfig ? message : "The config has mistakes. To see them: claudikins doctor";
    const hint = "Tell the user. The next call after the file is corrected works: nothing has to be restarted.";
    return new ClaudikinsError(code, shown, { hint, cause: error });
  }
}
