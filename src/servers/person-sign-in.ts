/** Asks a person to sign in to a server with the person's own account, in the middle of a call, and waits for it. */
import { randomUUID } from "node:crypto";
import { ClaudikinsError } from "../base/errors.ts";
import { personMs } from "../base/limits.ts";
import type { Clock } from "../base/time-limit.ts";
import { needsPage } from "../config/credentials.ts";
import type { ServerConfig } from "../config/load.ts";
import type { CredentialStore } from "./auth/credentials.ts";
import { signInLookMs } from "./limits.ts";
import { pageIdOf, type Responder, serverKey } from "./responder.ts";
import { SignedOut } from "./server-failure.ts";

interface AskingCall {
  signal?: AbortSignal | undefined;
  /** The signal of the agent's request. */
  origin?: AbortSignal | undefined;
  /** Paused while the person is asked. */
  clock?: Clock | undefined;
}

interface PersonSignInsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  own: CredentialStore;
  responder: () => Responder | undefined;
}

export class PersonSignIns {
  readonly #options: PersonSignInsOptions;
  /** The questions that are open, by server. Calls of the same server wait for the same one. */
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(options: PersonSignInsOptions) {
    this.#options = options;
  }

  /** Whether the person signs in to the server. */
  concerns(name: string): boolean {
    const server = this.#options.servers.get(name);
    return server !== undefined && needsPage(server);
  }

  /** Runs the work, and once more if the person signs in because it needs that. Throws what the work throws. */
  async during<T>(name: string, work: () => Promise<T>, call: AskingCall): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SignedOut) || !(await this.#isSignedIn(name, error, call))) throw error;
      return work();
    }
  }

  /** Whether the person has signed in since the failure. */
  async #isSignedIn(name: string, failure: SignedOut, call: AskingCall): Promise<boolean> {
    const responder = this.#options.responder();
    const page = this.#options.own.owner?.pageFor(name);
    if (page === undefined || !responder?.elicit || !responder.capabilities.elicitation?.url) return false;
    call.clock?.hold();
    try {
      // The call for which the person was asked may end first. Then the person is asked for another one.
      for (;;) {
        if (call.signal?.aborted) throw new ClaudikinsError("CANCELLED", `${name}: the call was cancelled`);
        if (!failure.isSignInSame()) return true;
        if (this.#isRefused(name)) return false;
        const asking = this.#asking.get(name);
        if (!asking) return await this.#ask(name, page, failure, call, responder);
        await asking.catch(() => {});
      }
    } finally {
      call.clock?.release();
    }
  }

  /** Whether the person has signed in to the page, and the provider or the server has refused to give a token for that. */
  #isRefused(name: string): boolean {
    const { servers, own } = this.#options;
    const server = servers.get(name);
    return server !== undefined && own.subjectToken(server) !== undefined;
  }

  #ask(name: string, page: string, failure: SignedOut, call: AskingCall, responder: Responder): Promise<boolean> {
    const asking = this.#answered(name, page, failure, call, responder).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  async #answered(
    name: string,
    page: string,
    failure: SignedOut,
    { signal, origin = signal }: AskingCall,
    responder: Responder,
  ): Promise<boolean> {
    const late = AbortSignal.timeout(personMs);
    const ended = signal ? AbortSignal.any([signal, late]) : late;
    const elicitationId = pageIdOf(name, randomUUID());
    const params = {
      mode: "url" as const,
      message: `[${name}] Sign in with your own account. Programs of your agents then use ${name} as you.`,
      url: page,
      elicitationId,
      _meta: { [serverKey]: name },
    };
    const asked = { server: name, signal: ended, origins: origin && [origin] };
    // Without a request that the question could be a part of, the call fails with the link.
    const answer = await responder.elicit!(params, asked).catch(() => undefined);
    // The person may have opened the page in another way.
    if (answer?.action !== "accept") return !failure.isSignInSame();
    while (failure.isSignInSame() && !ended.aborted) await Bun.sleep(signInLookMs);
    const isSignedIn = !failure.isSignInSame();
    if (isSignedIn) responder.elicited?.(elicitationId);
    return isSignedIn;
  }
}
