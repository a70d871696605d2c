/** Requests to the daemon. */
import type { PageRefusal } from "../contract.ts";

/** A refusal as the answer. Status 401 means that there is no session. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Sends a request to a path of the server's API. Throws RequestFailure. Status 0 means that no answer came. */
async function ask<T>(path: string, init: RequestInit): Promise<T> {
  const answer = await fetch(`api/${path}`, { ...init, cache: "no-store", redirect: "error" }).catch(() => undefined);
  if (!answer) throw new RequestFailure(0, "The daemon does not answer", "It may have ended. Run claudikins ui again.");
  if (answer.status === 204) return undefined as T;
  const body: unknown = await answer.json().catch(() => undefined);
  if (answer.ok) return body as T;
  const { error = `The daemon answered with status ${answer.status}`, hint } = (body ?? {}) as Partial<PageRefusal>;
  throw new RequestFailure(answer.status, error, hint);
}

export const get = <T>(path: string): Promise<T> => ask<T>(path, {});

/** The header tells the daemon that this script sends the request: no other page can add it. */
export const post = <T>(path: string, body: object): Promise<T> =>
  ask<T>(path, {
    method: "POST",
    headers: { "content-type": "application/json", "claudikins-ui": "1" },
    body: JSON.stringify(body),
  });
