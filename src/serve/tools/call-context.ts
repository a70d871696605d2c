/** What the handlers of our tools know about a call, its session and its agent. */

import { isObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Asker } from "../../programs/asker.ts";
import type { ExecuteRequest } from "../../programs/execute.ts";
import type { FollowedExecution } from "../../programs/running-execution.ts";
import { maxAgentNameChars } from "../limits.ts";

export type HostIdentity = NonNullable<ExecuteRequest["host"]>;

export interface ToolCallContext {
  onProgress?: ((line: string) => void) | undefined;
  /** Unusable servers that the model has been told about. */
  told?: Set<string>;
  host?: HostIdentity | undefined;
  /** Whether the agent follows the call as a task, however long it takes. */
  isTask?: boolean | undefined;
  /** The agent that makes the call. */
  asker?: Asker | undefined;
  /** See `ExecuteRequest`. */
  claim?: string | undefined;
  /** Called with the execution of the call. */
  onExecution?: ((execution: FollowedExecution) => void) | undefined;
}

/** `info` is what the agent says about itself. */
export function hostIdentity(info: unknown, protocol: string | undefined): HostIdentity {
  const given = isObject(info) ? info : {};
  const text = (key: string) => (typeof given[key] === "string" ? oneLine(given[key], maxAgentNameChars) : undefined);
  return { name: text("name"), version: text("version"), protocol };
}
