/** What the handlers of our tools know about a call, its session and its agent. */

import type { RequestingAgent } from "../../programs/execution/asker.ts";
import type { HostRequest } from "../host-request.ts";
import type { Observed } from "../observed-answer.ts";

export interface ToolCallContext
  extends Partial<Pick<HostRequest, "identity" | "task" | "claimed">>,
    Partial<Observed> {
  onProgress?: ((line: string) => void) | undefined;
  /** Unusable servers that answers of the session have mentioned. */
  mentioned?: Set<string>;
  /** The observed types that answers of the session have told, by the ids of the tools. */
  saidTypes?: Map<string, string>;
  /** The agent that makes the call. */
  asker?: RequestingAgent | undefined;
}
