/** Asks a person to sign in to a server in the middle of a call, and waits for it. */
import { randomUUID } from "node:crypto";
import { ClaudikinsError } from "../../base/errors.ts";
import { personMs } from "../../base/limits.ts";
import type { Clock } from "../../base/time-limit.ts";
import { needsPage, usesOwn } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { CredentialStore } from "../auth/credentials.ts";
import { SignedOut } from "../failures/server-failure.ts";
import { pageIdOf, type Responder, serverKey, showsForms } from "./responder.ts";

/** Interval in which the sign-in of a person who was sent to a page is looked for. */
const signInLookMs = 200;

interface AskingCall {
  signal?: AbortSignal | undefined;
  /** The signal of the agent's request. */
  origin?: AbortSignal | undefined;
  /** Paused while the person is asked. */
  clock?: Clock | undefined;
}

/** A question to a person, who signs in while it is open. */
export interface SignInQuestion {
  message: string;
  url: string;
  /** Whether a form may show the message to a person whose agent shows no pages. */
  isForForms: boolean;
  /** Resolves when the person has signed in. Rejects if that cannot happen any more. */
  signedIn: Promise<void>;
}

/** How people sign in to servers in the middle of a call. */
export interface SignInWay {
  concerns(server: ServerConfig): boolean;
  /** Undefined if the person cannot sign in now. `ended` is aborted when the answer is no longer needed. */
  question(server: ServerConfig, failure: SignedOut, ended: AbortSignal): Promise<SignInQuestion | undefined>;
}

interface PersonSignInsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  way: SignInWay;
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
    return server !== undefined && this.#options.way.concerns(server);
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
    const server = this.#options.servers.get(name);
    if (!server || !responder?.elicit || !responder.capabilities.elicitation) return false;
    call.clock?.hold();
    try {
      // The call for which the person was asked may end first. Then the person is asked for another one.
      for (;;) {
        if (call.signal?.aborted) throw new ClaudikinsError("CANCELLED", `${name}: the call was cancelled`);
        if (!failure.isSignInSame()) return true;
        const asking = this.#asking.get(name);
        if (!asking) return await this.#ask(server, failure, call, responder);
        await asking.catch(() => {});
      }
    } finally {
      call.clock?.release();
    }
  }

  #ask(server: ServerConfig, failure: SignedOut, call: AskingCall, responder: Responder): Promise<boolean> {
    const asking = this.#answered(server, failure, call, responder).finally(() => this.#asking.delete(server.name));
    this.#asking.set(server.name, asking);
    return asking;
  }

  async #answered(
    server: ServerConfig,
    failure: SignedOut,
    { signal, origin = signal }: AskingCall,
    responder: Responder,
  ): Promise<boolean> {
    const over = new AbortController();
    const ended = AbortSignal.any([AbortSignal.timeout(personMs), over.signal, ...(signal ? [signal] : [])]);
    try {
      const question = await this.#options.way.question(server, failure, ended);
      const params = question && paramsOf(question, server.name, responder);
      if (!params) return !failure.isSignInSame();
      const asked = { server: server.name, signal: ended, origins: origin && [origin] };
      // Without a request that the question could be a part of, the call fails with the link.
      const isAccepted = responder.elicit!(params, asked).then(
        ({ action }) => action === "accept",
        () => false,
      );
      const isDone = question.signedIn.then(
        () => true,
        () => false,
      );
      // The person may sign in before answering, and the question is withdrawn then.
      const isSignedIn = await Promise.race([
        isAccepted.then((accepts) => accepts && isDone),
        isDone.then((done) => done || isAccepted.then(() => false)),
      ]);
      if (isSignedIn && "elicitationId" in params) responder.elicited?.(params.elicitationId);
      // The person may have signed in in another way.
      return isSignedIn || !failure.isSignInSame();
    } finally {
      over.abort();
    }
  }
}

type Params = Parameters<NonNullable<Responder["elicit"]>>[0];

/** Undefined if the agent cannot show the question. */
function paramsOf(
  { message, url, isForForms }: SignInQuestion,
  name: string,
  { capabilities }: Responder,
): Params | undefined {
  const shown = { message: `[${name}] ${message}`, _meta: { [serverKey]: name } };
  if (capabilities.elicitation?.url) {
    return { ...shown, mode: "url" as const, url, elicitationId: pageIdOf(name, randomUUID()) };
  }
  if (!isForForms || !showsForms(capabilities)) return undefined;
  return { ...shown, mode: "form" as const, requestedSchema: { type: "object" as const, properties: {} } };
}

/** People with accounts of their own sign in on the page of `serve --http`. */
export class PageSignIns implements SignInWay {
  readonly #own: CredentialStore;

  constructor(own: CredentialStore) {
    this.#own = own;
  }

  concerns(server: ServerConfig): boolean {
    return needsPage(server);
  }

  async question(server: ServerConfig, failure: SignedOut, ended: AbortSignal): Promise<SignInQuestion | undefined> {
    const { name } = server;
    const url = this.#own.owner?.pageFor(name);
    // The person may have signed in to the page, and the provider or the server has refused to give a token for that.
    if (url === undefined || this.#own.subjectToken(server) !== undefined) return undefined;
    return {
      message: `Sign in with your own account. Programs of your agents then use ${name} as you.`,
      url,
      isForForms: false,
      signedIn: untilSignedIn(failure, ended),
    };
  }
}

async function untilSignedIn(failure: SignedOut, ended: AbortSignal): Promise<void> {
  while (failure.isSignInSame()) {
    ended.throwIfAborted();
    await Bun.sleep(signInLookMs);
  }
}

interface CodeSignInsOptions {
  /** The sign-ins of the user. */
  store: () => Promise<CredentialStore>;
  env: Environment;
}

/** A user signs in by a code on any machine (RFC 8628), where the authorization server offers that. */
export class CodeSignIns implements SignInWay {
  readonly #options: CodeSignInsOptions;
  /** The servers whose authorization servers do not offer it. */
  readonly #without = new Set<string>();

  constructor(options: CodeSignInsOptions) {
    this.#options = options;
  }

  concerns(server: ServerConfig): boolean {
    return server.url !== undefined && !usesOwn(server) && !this.#without.has(server.name);
  }

  async question(server: ServerConfig, _: SignedOut, signal: AbortSignal): Promise<SignInQuestion | undefined> {
    if (server.url === undefined) return undefined;
    const { beginDeviceSignIn } = await import("../auth/sign-in.ts");
    const { store, env } = this.#options;
    // The call fails with the command for a sign-in, and its error is the better one.
    const begun = await beginDeviceSignIn(server, await store(), { env, signal }).catch(() => undefined);
    if (begun === "not offered") this.#without.add(server.name);
    if (typeof begun !== "object") return undefined;
    const { userCode, page, completePage, finish } = begun;
    return {
      message: `Sign in to use ${server.name}: open ${page.href} in a browser on any machine, and enter the code ${userCode} there.`,
      url: (completePage ?? page).href,
      isForForms: true,
      signedIn: finish(),
    };
  }
}
