/** Decides which calls of a dry run are made, and answers the others. */
import type { JsonObject } from "../../base/json-object.ts";
import { effectOf } from "../../policy/decision.ts";
import type { Caller } from "../../policy/flow/session-reads.ts";
import type { Request } from "../../servers/connection/send-request.ts";
import type { ToolResult } from "../../servers/result.ts";
import { madeUpResult } from "../../tools/made-up.ts";
import type { RegistryTool } from "../../tools/model.ts";
import type { Parts } from "../parts.ts";
import type { ToolCallListener } from "../tool-call-events.ts";
import type { DryRun } from "./dry-run.ts";

/** Where a call is recorded. */
export interface Recorder {
  dryRun: DryRun;
  /** The number of the call in its program. */
  call: number;
  /** The line of the code. */
  line: number | undefined;
  listener: ToolCallListener;
}

interface CheckedCall {
  server: string;
  tool: RegistryTool;
  args: JsonObject;
  /** The arguments as JSON, if they were written as JSON. */
  argsJson: string | undefined;
}

/**
 * Records the call and returns a made-up result, unless the call only reads. A saved program is called, because it runs dry too. Undefined
 * if the call may be made. Throws POLICY_DENIED and INVALID_ARGUMENTS like the call.
 */
export async function plannedResult(
  { server, tool, args, argsJson }: CheckedCall,
  { config, pool }: Parts,
  { caller, ...recorder }: Recorder & { caller: Caller | undefined },
): Promise<ToolResult | undefined> {
  const { name, annotations } = tool;
  const called = { server, method: "tools/call", params: { name, arguments: args } };
  const approval = await pool.wouldAsk(called, annotations, { caller });
  const changesNothing = effectOf(annotations) === "reads" || config.servers.get(server)?.isSavedPrograms === true;
  if (changesNothing && approval === undefined) return undefined;
  recordCall({ server, tool: name, args, argsJson, approval }, recorder);
  return madeUpResult(tool);
}

/**
 * Records a request of a resource or a prompt about which a person would be asked, and returns a made-up result. Undefined if it may be sent,
 * because it only reads. Throws POLICY_DENIED like the request.
 */
export async function plannedInquiry(
  server: string,
  request: Request,
  { pool }: Pick<Parts, "pool">,
  { caller, ...recorder }: Recorder & { caller: Caller | undefined },
): Promise<JsonObject | undefined> {
  const approval = await pool.wouldAsk({ server, ...request }, { readOnlyHint: true }, { caller });
  if (approval === undefined) return undefined;
  const tool = request.method.replaceAll("/", ".");
  recordCall({ server, tool, args: request.params, argsJson: undefined, approval }, recorder);
  return { contents: [], messages: [] };
}

/** Records a call that is not made, and tells the listener. */
export function recordCall(
  {
    server,
    tool,
    args,
    argsJson,
    approval,
  }: Omit<CheckedCall, "tool"> & { tool: string; approval?: string | undefined },
  { dryRun, call, line, listener }: Recorder,
): void {
  dryRun.record(call, {
    server,
    tool,
    arguments: args,
    argumentChars: (argsJson ?? JSON.stringify(args)).length,
    ...(line === undefined ? {} : { line }),
    ...(approval === undefined ? {} : { approval }),
  });
  void listener({ type: "planned", call });
}
