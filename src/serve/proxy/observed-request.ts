/** Makes a request of the agent at its server, in the sight of everybody who observes calls. */
import type { App } from "../../app/app.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { singleCall } from "../../programs/call.ts";
import type { CallGroup } from "../../sandbox/contract.ts";
import type { CallOptions } from "../../servers/pool.ts";

export interface AskOptions extends CallOptions {
  signal: AbortSignal;
  /** The app whose connections are used. */
  app: App;
}

/** Makes a request of the agent at its server. Observers see `resources/read` as the function `resources.read`. */
export async function observedRequest(
  server: string,
  request: { method: string; params: JsonObject },
  options: AskOptions,
): Promise<JsonObject> {
  const { app } = options;
  const [group, name] = request.method.split("/") as [CallGroup, string];
  const { result } = await singleCall({ namespace: server, group, name, raw: true }, app, options, async (context) => ({
    result: await app.pool.request(server, request, context),
  }));
  return result;
}
