/** What a server that people use with their own credentials needs of a person: to be here, and the keys of its entry. */
import { httpForm } from "../../config/address.ts";
import { personKeysIn } from "../../config/credentials.ts";
import type { ServerConfig } from "../../config/load.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import type { Authorizer } from "../network/endpoint.ts";
import type { CredentialStore } from "./credentials.ts";
import { signInHint } from "./words.ts";

/** Throws NetworkFailure with AUTH_REQUIRED if there is no person, or if the person has not entered a key of the entry. */
export function requireOwn(server: ServerConfig, own: CredentialStore | undefined): CredentialStore {
  if (!own) {
    throw new NetworkFailure("it uses the credentials of people who sign in to claudikins serve --http", {
      code: "AUTH_REQUIRED",
      hint: "Call it from an agent of a person who has signed in there.",
    });
  }
  const missing = personKeysIn(server).filter((name) => own.read(server)?.keys?.[name] === undefined);
  if (missing.length > 0) throw keysNeeded(`it needs ${missing.join(", ")} of ${own.owner?.name}`, server, own);
  return own;
}

function keysNeeded(message: string, server: ServerConfig, own: CredentialStore, status?: number): NetworkFailure {
  const keys = () => JSON.stringify(own.read(server)?.keys ?? {});
  const before = keys();
  const isSignInSame = () => keys() === before;
  const hint = signInHint(server.name, own.owner);
  return new NetworkFailure(message, { code: "AUTH_REQUIRED", hint, status, isSignInSame, stands: isSignInSame });
}

/** Notices that a server refuses the keys of a person, so that the person is asked for others. */
export class KeyedAccess implements Authorizer {
  readonly #server: ServerConfig & { url: string };
  readonly #own: CredentialStore;

  constructor(server: ServerConfig & { url: string }, own: CredentialStore) {
    this.#server = server;
    this.#own = own;
  }

  /** The entry has the headers. */
  async headers(): Promise<Record<string, string>> {
    return {};
  }

  /** Throws NetworkFailure with AUTH_REQUIRED if the server refuses the keys. */
  readonly fetch = async (to: string | URL, init: RequestInit): Promise<Response> => {
    const response = await fetch(to, init);
    const isOwn = new URL(to).origin === httpForm(new URL(this.#server.url)).origin;
    if (response.status !== 401 || !isOwn || init.method === "DELETE") return response;
    await response.body?.cancel();
    throw keysNeeded(`it refused the key of ${this.#own.owner?.name} (401)`, this.#server, this.#own, 401);
  };
}
