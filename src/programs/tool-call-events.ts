/** What happens to calls of tools, in programs and outside of them. `call-observers.ts` lists their observers. */
import type { Progress } from "@modelcontextprotocol/client";
import type { JsonObject } from "../base/json-object.ts";
import type { CallDecision } from "../policy/call.ts";
import type { CallEvent, CallListener } from "../sandbox/call-events.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import type { ToolResult } from "../servers/result.ts";
import type { RegistryServer, RegistryTool } from "../tools/model.ts";

/** The value that a program gets, or a whole result that is passed on. */
export type CallValue = BindingValue | { result: JsonObject };

export type ToolCallEvent =
  | CallEvent<CallValue>
  /** The call is about to leave. It waits for the listeners, and does not leave if one of them rejects. */
  | { type: "sent"; call: number; repeatable: boolean }
  | ({ type: "decided"; call: number } & CallDecision)
  /** A dry run does not make the call. Its result is made up. */
  | { type: "planned"; call: number }
  | { type: "progress"; call: number; progress: Progress }
  | ({ type: "answered"; call: number } & AnsweredCall);

/** A server's answer to a call of one of its known tools. */
export interface AnsweredCall {
  server: RegistryServer;
  tool: RegistryTool;
  args: object | undefined;
  result: ToolResult;
  /** Whether the result is private data, whose keys may be data too. */
  isPrivate: boolean;
}

export type ToolCallListener = CallListener<ToolCallEvent>;
