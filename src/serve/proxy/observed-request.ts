/** Makes a request of the agent at its server, so that the observers of calls see it. */
import type { Progress } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import type { TraceContext } from "../../base/trace-context.ts";
import type { Call } from "../../policy/call.ts";
import { singleCall } from "../../programs/call.ts";
import type { CallGroup } from "../../sandbox/contract.ts";
import type { HostRequest } from "../host-request.ts";
import { withoutOwnMeta } from "./answers.ts";
import { Unsent } from "./notices.ts";

/** A request of the agent to a server. */
export interface DirectCall extends Call {
  signal: AbortSignal;
  /** The app whose connections are used. */
  app: App;
}

/** The call that a request of the agent makes at its server. The agent's progress token is left out of the metadata: the server gets one of ours. */
export function directCall(
  { app, signal, params, sendProgress, task, identity, owner }: HostRequest,
  trace: TraceContext | undefined,
): DirectCall {
  const { progressToken: _, ...meta } = isObject(params["_meta"]) ? params["_meta"] : {};
  const unsent = new Unsent();
  const onProgress = (progress: Progress) => unsent.send(() => sendProgress?.(withoutOwnMeta({ ...progress })));
  return {
    app,
    signal,
    trace,
    caller: { reads: app.pool.reads, agent: { name: identity.name ?? "", version: identity.version ?? "" }, owner },
    ...(sendProgress ? { onProgress } : {}),
    ...(task ? { onBecameTask: () => task.takesLong() } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
  };
}

/** Makes a request of the agent at its server. Observers see `resources/read` as the function `resources.read`. */
export async function observedRequest(
  server: string,
  request: { method: string; params: JsonObject },
  { app, ...made }: DirectCall,
): Promise<JsonObject> {
  const [group, name] = request.method.split("/") as [CallGroup, string];
  const { result } = await singleCall(
    { namespace: server, group, name, raw: true },
    app,
    made,
    { args: request.params },
    async (call) => ({
      result: await app.pool.request(server, request, call),
    }),
  );
  return result;
}
