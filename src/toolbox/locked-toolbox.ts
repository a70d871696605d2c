/** A toolbox without servers, for a host that has to be answered while the config is not trusted yet. It opens when it is. */
import { type Host, hasForms } from "../clients/host.ts";
import type { PoolOptions } from "../clients/pool.ts";
import { emptyConfig } from "../config/load.ts";
import { NotTrusted, type TrustRequest } from "../config/trust/not-trusted.ts";
import { ClaudikinsError } from "../errors.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { questionText } from "../settings/trust/question.ts";
import { trustConfig } from "../settings/trust/trust-config.ts";
import { personMs } from "../time-limit.ts";
import { Turns } from "../turns.ts";
import { Toolbox } from "./toolbox.ts";

export interface LockedOptions extends PoolOptions {
  /** The real toolbox. Throws CONFIG_NOT_TRUSTED as long as nobody has trusted the config. */
  open: () => Promise<Toolbox>;
  /** Whether the host's person may be asked: they have to be the user whose config it is. */
  asks: boolean;
}

/** Nobody reads a longer question in a form, and a hostile config must not hide in the rest of it. */
const maxQuestionChars = 3_000;

const requestedSchema = {
  type: "object" as const,
  properties: {
    answer: {
      type: "string" as const,
      title: "Trust this config?",
      enum: ["trust", "no"],
      enumNames: ["Yes, trust it", "No"],
    },
  },
  required: ["answer"],
};

export class LockedToolbox extends Toolbox {
  override readonly isLocked = true;
  readonly #options: LockedOptions;
  /** One question at a time. */
  readonly #turns = new Turns(1);
  readonly #sharing: LockedToolbox | undefined;
  #opened: Toolbox | undefined;
  #saidNo = false;

  constructor(sandbox: Sandbox, options: LockedOptions, sharing?: LockedToolbox) {
    super(emptyConfig(options.env), sandbox, options);
    this.#options = options;
    this.#sharing = sharing;
  }

  /** Once it is open, the session has connections of its own. */
  override withOwnPool(): LockedToolbox {
    return new LockedToolbox(this.sandbox, this.#options, this);
  }

  /** Tries to open it, each time it is called, and asks the person at the host once. Throws CONFIG_NOT_TRUSTED. */
  async unlock(signal: AbortSignal): Promise<Toolbox> {
    if (this.#opened) return this.#opened;
    const turn = this.#turns.take(signal);
    if (turn && !(await turn)) throw new ClaudikinsError("CANCELLED", "The call was cancelled");
    try {
      // By now somebody may have answered for this call as well.
      return this.#opened ?? this.#remember(await this.#open(signal));
    } finally {
      this.#turns.giveBack();
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    // Its sandbox is that of the one that shares it.
    if (!this.#sharing) await super[Symbol.asyncDispose]();
  }

  #remember(opened: Toolbox): Toolbox {
    const { host } = this.pool;
    if (host) opened.pool.host = host;
    this.#opened = opened;
    return opened;
  }

  async #open(signal: AbortSignal): Promise<Toolbox> {
    if (this.#sharing) return (await this.#sharing.unlock(signal)).withOwnPool();
    try {
      return await this.#options.open();
    } catch (error) {
      const request = error instanceof NotTrusted ? error.request : undefined;
      if (!request || !(await this.#isTrustedNow(request, signal))) throw error;
      return this.#options.open();
    }
  }

  /** Whether the person at the host says yes; then it is written down. */
  async #isTrustedNow(request: TrustRequest, signal: AbortSignal): Promise<boolean> {
    const { host } = this.pool;
    if (!this.#options.asks || this.#saidNo || !hasForms(host)) return false;
    const message = questionText(request);
    if (message.length > maxQuestionChars) return false;
    const answer = await answerOf(host, message, signal);
    if (answer === "trust") {
      await trustConfig(request, this.#options.env);
      return true;
    }
    this.#saidNo = answer === "no";
    return false;
  }
}

/** Undefined where the host could not ask. */
async function answerOf(host: Required<Pick<Host, "elicit">>, message: string, signal: AbortSignal) {
  try {
    const late = AbortSignal.any([signal, AbortSignal.timeout(personMs)]);
    const params = { mode: "form" as const, message, requestedSchema };
    const { action, content } = await host.elicit(params, { server: "claudikins", signal: late });
    return action === "accept" && content?.["answer"] === "trust" ? "trust" : "no";
  } catch {
    return undefined;
  }
}
