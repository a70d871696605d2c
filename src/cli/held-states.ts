/** What a daemon that runs holds, beside what a command sees for itself. */

import type { ServerFacts } from "../catalog/inventory.ts";
import type { ConfigOrigin } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { statusOf } from "../daemon/peers.ts";
import { placeOf } from "../daemon/place.ts";

/** Servers that run there are ready. Where none runs, or it is somebody else's, they are as they were. */
export async function withHeld(servers: ServerFacts[], origin: ConfigOrigin, env: Environment): Promise<ServerFacts[]> {
  const place = placeOf(origin.kind === "demo" ? undefined : origin.file, env);
  const status = await statusOf(place.socket).catch(() => undefined);
  return servers.map((facts) => {
    const held = status?.held.find(({ server }) => server === facts.server);
    if (!held || facts.state.state !== "idle") return facts;
    return { ...facts, state: { state: "ready", since: held.since, pid: held.pid ?? undefined } };
  });
}
