/** Follows calls to their end, and tells the ledger and the call log how each of them has ended. */
import { charsOfBlocks } from "../../base/context-characters.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { jsonSize } from "../../base/json-size.ts";
import { LargeJson } from "../../base/large-json.ts";
import { maxContextChars } from "../../base/limits.ts";
import { ownNameOf } from "../../config/tool-edits.ts";
import { continuesElsewhere } from "../../policy/approval-queue.ts";
import { type Caller, noAgent } from "../../policy/flow/session-reads.ts";
import { contextChars, textOf } from "../../sandbox/binding-value.ts";
import type { CallRequest } from "../../sandbox/contract.ts";
import { objectsOf } from "../../servers/result.ts";
import type { CallOutcome, CallStarter } from "../../store/call-log.ts";
import { entryKeyOf } from "../../tools/catalog/config-entry.ts";
import { findTool } from "../../tools/model.ts";
import { type CountedUse, unknownTool } from "../ledger/counts.ts";
import type { Parts } from "../parts.ts";
import { isKnownFunction } from "../server-functions.ts";
import type { CallValue, ToolCallEvent, ToolCallListener } from "../tool-call-events.ts";

/** Characters of a name or a code in the call log. Agents and servers choose them. */
const maxLoggedNameChars = 200;

/** The caller of one or several calls, and its program. */
export interface CallMaker {
  startedBy: CallStarter;
  /** Undefined for a command. */
  caller?: Pick<Caller, "agent" | "owner"> | undefined;
  execution?: string | undefined;
  /** The name of the saved program. */
  program?: string | undefined;
  /** Whether a program of an agent makes the calls, so that their results do not enter its context by themselves. */
  isForAgent?: boolean | undefined;
  /** The arguments of a single call. Those of a program are in its requests. */
  args?: unknown;
}

interface OpenCall {
  at: number;
  sent: number;
  isRepeatable: boolean;
  isToolError: boolean;
  /** The arguments of a command, which the tool's schema makes of its words. */
  argumentBytes: number;
  decided: Extract<ToolCallEvent, { type: "decided" }> | undefined;
}

type EndEvent = Extract<ToolCallEvent, { type: "returned" | "failed" | "cancelled" }>;

/** The caller, with the columns that rows have for it. */
type LoggedMaker = CallMaker & { token: string | null; agent: string | null };

function loggedMaker(maker: CallMaker): LoggedMaker {
  const { name, version } = maker.caller?.agent ?? noAgent;
  const agent = shortened([name, version].filter(Boolean).join(" "));
  return { ...maker, token: tokenIn(maker.caller?.owner), agent: agent === "" ? null : agent };
}

export function endedCalls(parts: Parts, made: CallMaker): ToolCallListener {
  const maker = loggedMaker(made);
  const open = new Map<number, OpenCall>();
  return (event) => {
    switch (event.type) {
      case "called":
        // Calls that continue a subscription, and questions about the tools, name no server: they are not counted.
        if (event.request.namespace === "" || !(parts.ledger.isOn || parts.callLog.isOn)) return;
        open.set(event.call, newCall());
        return;
      case "planned":
        open.delete(event.call);
        return;
      case "decided": {
        const known = open.get(event.call);
        if (known) known.decided = event;
        return;
      }
      case "sent": {
        const known = open.get(event.call);
        if (!known) return;
        known.sent += 1;
        known.isRepeatable = event.repeatable;
        return;
      }
      case "answered": {
        const known = open.get(event.call);
        if (!known) return;
        known.isToolError = event.result["isError"] === true;
        if (maker.execution === undefined && maker.args === undefined) known.argumentBytes = jsonSize(event.args ?? {});
        return;
      }
      case "returned":
      case "failed":
      case "cancelled": {
        const known = open.get(event.call);
        if (!known) return;
        open.delete(event.call);
        ended(event, known, parts, maker);
        return;
      }
      case "restored":
        restored(event, parts, maker);
    }
  };
}

function newCall(): OpenCall {
  return { at: Date.now(), sent: 0, isRepeatable: false, isToolError: false, argumentBytes: 0, decided: undefined };
}

function ended(event: EndEvent, call: OpenCall, parts: Parts, maker: LoggedMaker): void {
  const isLeft = event.type === "cancelled" && event.reason === continuesElsewhere;
  // Another process makes a call that has not left, and counts it.
  if (isLeft && call.sent === 0) return;
  const { request } = event;
  const names = usedNames(request, parts);
  const value = event.type === "returned" ? event.value : undefined;
  if (parts.ledger.isOn) count(names, event, value, parts, maker.isForAgent === true);
  // The process that continues the program says that the outcome of such a call is unknown.
  if (parts.callLog.isOn && !(isLeft && !call.isRepeatable)) log(names, event, call, value, parts, maker);
}

/** A call that was sent before its process died, and that was not made again. */
function restored(
  { request, call, answer }: Extract<ToolCallEvent, { type: "restored" }>,
  parts: Parts,
  maker: LoggedMaker,
) {
  if (!parts.callLog.isOn || !("error" in answer) || answer.error.code !== "CALL_OUTCOME_UNKNOWN") return;
  const error = { ...answer.error, message: "" };
  const end = { type: "failed", call, request, error, durationMs: 0, waitedMs: 0 } as const;
  log(usedNames(request, parts), end, { ...newCall(), sent: 1 }, undefined, parts, maker);
}

type Names = ReturnType<typeof usedNames>;

function count(
  { server, tool }: Names,
  event: EndEvent,
  value: CallValue | undefined,
  parts: Parts,
  isForAgent: boolean,
): void {
  const { type, request, durationMs } = event;
  const isDenied = event.type === "failed" && event.error.code === "POLICY_DENIED";
  const use: CountedUse = {
    calls: 1,
    failures: (type === "failed" && !isDenied) || isError(value) ? 1 : 0,
    denied: isDenied ? 1 : 0,
    durationMs,
    resultChars: value ? charsOf(value) : 0,
    takenChars: isForAgent && value && !("result" in value) ? contextChars(value, request, maxContextChars) : 0,
    argumentChars: isForAgent ? (request.args?.length ?? 0) : 0,
  };
  const config = tool === unknownTool ? undefined : parts.config.servers.get(server);
  parts.ledger.called({ server, tool, entry: config && entryKeyOf(parts.config, config) }, use);
}

function log(
  { server, tool }: Names,
  event: EndEvent,
  { at, sent, isToolError, argumentBytes, decided }: OpenCall,
  value: CallValue | undefined,
  parts: Parts,
  maker: LoggedMaker,
): void {
  const { request, durationMs, waitedMs } = event;
  const { config, catalog, pool } = parts;
  const { door = null, person } = config;
  const isTool = request.group === "tools";
  const { edits } = config.servers.get(server) ?? {};
  const listed = isTool && edits ? catalog.findWithDenied(server) : undefined;
  const shown = listed && findTool(listed, request.name);
  const own = (shown && ownNameOf(edits, shown)) ?? tool;
  const labels = pool.labelsOf(server, isTool ? own : undefined);
  parts.callLog.add({
    at,
    door,
    person: person?.id ?? null,
    personName: person?.name ?? null,
    token: maker.token,
    agent: maker.agent,
    startedBy: maker.startedBy,
    execution: maker.execution ?? null,
    call: maker.execution === undefined ? null : event.call,
    program: maker.program ?? null,
    server: shortened(server),
    tool: shortened(own),
    outcome: outcomeOf(event, isToolError || isError(value)),
    code: event.type === "failed" && event.error.code ? shortened(event.error.code) : null,
    durationMs: rounded(durationMs),
    waitedMs: rounded(waitedMs),
    argumentBytes:
      argumentBytes + (request.args === undefined ? jsonSize(maker.args ?? {}) : Buffer.byteLength(request.args)),
    resultBytes: value ? bytesOf(value) : 0,
    // Only calls of tools say when they leave.
    sent: isTool || event.type !== "returned" ? sent : 1,
    approval: decided?.decision ?? null,
    approvalId: decided?.approval ?? null,
    labels: labels.size === 0 ? null : labelTexts.getOrInsertComputed(labels, () => [...labels].sort().join(" ")),
  });
}

/** The texts of labels. The labels of a tool stay the same object. */
const labelTexts = new WeakMap<ReadonlySet<string>, string>();

/** The id of a token, whose owner is `token:` and the id. */
function tokenIn(owner: string | undefined): string | null {
  return /^token:(\S+)$/.exec(owner ?? "")?.[1] ?? null;
}

function shortened(text: string): string {
  return text.length > maxLoggedNameChars ? text.slice(0, maxLoggedNameChars) : text;
}

function outcomeOf(event: EndEvent, isToolError: boolean): CallOutcome {
  if (event.type === "cancelled") return "cancelled";
  if (isToolError) return "tool_error";
  if (event.type === "returned") return "ok";
  return event.error.code === "POLICY_DENIED" ? "denied" : "failed";
}

function isError(value: CallValue | undefined): boolean {
  return value !== undefined && "result" in value && value.result["isError"] === true;
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** About the bytes of a result as JSON. */
function bytesOf(value: CallValue): number {
  return "result" in value ? jsonSize(value.result) : Buffer.byteLength(textOf(value));
}

function charsOf(value: CallValue): number {
  if (!("result" in value)) return textOf(value).length;
  const { result } = value;
  return charsOfResult(result["content"] ?? result["contents"] ?? messagesOf(result));
}

/** Large content is counted as text, without parsing it. */
function charsOfResult(blocks: unknown): number {
  return blocks instanceof LargeJson ? (blocks.text ?? blocks.json).length : charsOfBlocks(blocks);
}

function messagesOf(prompt: JsonObject): unknown {
  return objectsOf(prompt["messages"]).map(({ content }) => content);
}

/** The names of a call's server and tool. An unknown name could be anything, so a placeholder is stored in its place. */
export function usedNames(
  { namespace, group, name }: Pick<CallRequest, "namespace" | "group" | "name">,
  { config, catalog }: Parts,
): { server: string; tool: string } {
  const server = config.servers.has(namespace) ? namespace : unknownTool;
  if (group !== "tools") return { server, tool: isKnownFunction(group, name) ? `${group}.${name}` : unknownTool };
  const known = catalog.findWithDenied(namespace);
  const found = (known && findTool(known, name)) ?? catalog.heldCalled(namespace, name);
  return { server, tool: found?.name ?? unknownTool };
}
