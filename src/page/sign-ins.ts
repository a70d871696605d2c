/** Sign-ins that were started on the page. The user goes to the authorization page in the same browser. */

import type { App } from "../app/app.ts";
import { toClaudikinsError } from "../base/errors.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import { login, serverToSignInTo } from "../setup/sign-in/sign-ins.ts";
import { RefusedRequest } from "./guard.ts";
import { pageSignInMs } from "./limits.ts";
import type { PageSignIn } from "./servers-contract.ts";

interface Running {
  /** Undefined until the server has said where to sign in. */
  attempt?: { url: string; back: string; paste(text: string): string | undefined } | undefined;
  problem?: string | undefined;
}

export class ServerSignIns {
  readonly #running = new Map<string, Running>();
  readonly #failed = new Map<string, string>();
  readonly #closing = new AbortController();

  /** The state of a server's sign-in, if one was started. */
  of(server: string): Pick<PageSignIn, "running" | "failed"> {
    const { attempt, problem } = this.#running.get(server) ?? {};
    return { running: attempt && { url: attempt.url, back: attempt.back, problem }, failed: this.#failed.get(server) };
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /**
   * Starts a sign-in unless one is running. Resolves when the user can go to the authorization page, or when none is needed. Throws
   * what `serverToSignInTo` and `login` throw.
   */
  async start(name: string, app: App, credentials: CredentialStore): Promise<void> {
    if (this.#running.has(name)) return;
    const server = serverToSignInTo(name, app);
    const running: Running = {};
    this.#running.set(name, running);
    this.#failed.delete(name);
    const isReady = Promise.withResolvers<void>();
    const guide = {
      send: ({ to, back, paste }: { to: URL; back: URL; paste(text: string): string | undefined }) => {
        // Only web pages may become links.
        if (to.protocol === "https:" || to.protocol === "http:")
          running.attempt = { url: to.href, back: back.href, paste };
        isReady.resolve();
      },
      stray: () => {
        running.problem = "An answer arrived for another sign-in. Still waiting for this one.";
      },
    };
    const options = { guide, timeoutMs: pageSignInMs, signal: this.#closing.signal, env: app.env, force: false };
    const done = login(server, app.catalog, credentials, options).then(
      () => undefined,
      (error: unknown) => toClaudikinsError(error),
    );
    void done.then((error) => {
      this.#running.delete(name);
      if (error && running.attempt) this.#failed.set(name, error.message);
    });
    const failure = await Promise.race([isReady.promise, done]);
    if (failure) throw failure;
  }

  /** Continues with the address that the browser shows after the sign-in. Throws if it belongs to another sign-in. */
  paste(name: string, address: string): void {
    const { attempt } = this.#running.get(name) ?? {};
    if (!attempt) throw new RefusedRequest(409, "No sign-in to this server is running", "Start the sign-in again.");
    const problem = attempt.paste(address);
    if (problem !== undefined) throw new RefusedRequest(400, problem);
  }

  close(): void {
    this.#closing.abort();
  }
}
