/** The answers for supervisors and balancers. They need no token, and say nothing about the config. */
import type { App } from "../../app/app.ts";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { atMost } from "../../base/time-limit.ts";

/** Time in which `/readyz` answers. Probes and balancers usually wait for two seconds or more. */
const readyWithinMs = 1_500;

interface HealthState {
  app: App;
  isLeaving: boolean;
  /** Ends with the request. */
  signal: AbortSignal;
  log: Log;
}

/**
 * - `/healthz`: 200 as long as the process answers. A supervisor restarts one that does not.
 * - `/readyz`: 200 if requests can be answered: the config is trusted, the store can be written, and the process is not leaving. Otherwise 503, or
 *   404 with `?unready=404`: balancers such as HAProxy take that as "no new requests" and leave the running ones alone.
 * - `/health`: 503 once the process is leaving.
 *
 * Undefined for other paths.
 */
export async function healthAnswer(
  { pathname, search }: Pick<URL, "pathname" | "search">,
  state: HealthState,
): Promise<Response | undefined> {
  const { isLeaving } = state;
  switch (pathname) {
    case "/healthz":
      return answer("ok");
    case "/health":
      return answer(isLeaving ? "leaving" : "ok");
    case "/readyz":
      return answer(isLeaving ? "leaving" : await readiness(state), search === "?unready=404" ? 404 : 503);
  }
  return undefined;
}

type Status = "ok" | "leaving" | "locked" | "no store";

/** The checks that have not ended yet. Requests that come meanwhile wait for the same one, so that a database that stands still gets no more of them. */
const checking = new WeakMap<App, Promise<Status>>();

async function readiness(state: HealthState): Promise<Status> {
  const { app, log } = state;
  const check = checking.get(app) ?? checked(state).finally(() => checking.delete(app));
  checking.set(app, check);
  let status: Status | undefined;
  const known = check.then((found) => {
    status = found;
  });
  await atMost(readyWithinMs, known);
  if (status) return status;
  log.warn(`not ready: the store has not answered within ${readyWithinMs / 1_000} s`);
  return "no store";
}

async function checked({ app, signal, log }: HealthState): Promise<Status> {
  try {
    const { store } = await app.ready(signal);
    await store.checkWritable();
    return "ok";
  } catch (error) {
    log.warn(`not ready: ${messageOf(error)}`);
    return toClaudikinsError(error).code === "CONFIG_NOT_TRUSTED" ? "locked" : "no store";
  }
}

function answer(status: Status, otherwise = 503): Response {
  return Response.json({ status }, { status: status === "ok" ? 200 : otherwise });
}
