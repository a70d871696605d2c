/** What happens to calls of tools, in programs and outside of them, and everybody who hears of it. The receipt of a program is the sandbox's own. */
import type { Progress } from "@modelcontextprotocol/client";
import type { JsonObject } from "../base/json-object.ts";
import type { TraceContext } from "../base/trace-context.ts";
import { type CallEvent, type CallListener, tellAll } from "../sandbox/call-events.ts";
import type { BindingValue, CallRequest } from "../sandbox/contract.ts";
import type { ToolResult } from "../servers/result.ts";
import type { RegistryServer, RegistryTool } from "../tools/model.ts";
import type { ExecutionCheckpointer } from "./execution/checkpointer.ts";
import type { TraceRecording } from "./execution/recording.ts";
import { callCounter, usedNames } from "./ledger/call-counter.ts";
import { maxRecordedArgumentChars, maxRecordedResultChars } from "./limits.ts";
import type { Parts } from "./parts.ts";
import { progressLines, type Tell } from "./progress-text.ts";
import type { CallContents, CalledServer, CallSpans } from "./telemetry.ts";
import { Excerpts } from "./trace/excerpts.ts";

/** The value that a program gets, or a whole result that is passed on. */
export type CallValue = BindingValue | { result: JsonObject };

export type ToolCallEvent =
  | CallEvent<CallValue>
  /** The call is about to leave. It waits for the listeners, and does not leave if one of them rejects. */
  | { type: "sent"; call: number; repeatable: boolean }
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

interface Observers {
  parts: Parts;
  /** Whether an agent runs the program: without it, the results would have gone into its model's context. */
  isForAgent?: boolean | undefined;
  recording?: TraceRecording | undefined;
  spans?: CallSpans | undefined;
  checkpointer?: ExecutionCheckpointer | undefined;
  tell?: Tell | undefined;
}

/** Another observer is another line. */
export function observersOf({
  parts,
  isForAgent = false,
  recording,
  spans,
  checkpointer,
  tell,
}: Observers): ToolCallListener {
  const all: (ToolCallListener | undefined)[] = [
    recording?.hear,
    spans?.hear,
    callCounter(parts, isForAgent),
    (event) => (event.type === "sent" ? checkpointer?.sending(event.call, event.repeatable) : undefined),
    // The shapes of results are in files and types for everybody. A key of private data, such as the name of a customer, stays out of them.
    (event) => (event.type === "answered" && !event.isPrivate ? parts.catalog.observer.see(event) : undefined),
    tell && progressLines(tell),
  ];
  return tellAll(all.filter((each) => each !== undefined));
}

/** Tells telemetry of calls: the names of their servers and tools, and on request what was sent and received. Undefined if nothing is sent. `trace` is that of the execution, or of the request that makes the call. */
export function callSpans(
  parts: Parts,
  { trace, execution }: { trace?: TraceContext | undefined; execution?: string | undefined },
): CallSpans | undefined {
  return parts.telemetry?.calls({
    trace,
    execution,
    about: (request) => aboutCall(request, parts),
    redacted: (texts) => redacted(texts, parts),
  });
}

function aboutCall(request: CallRequest, parts: Parts): CalledServer {
  const { config, pool } = parts;
  const names = usedNames(request, parts);
  const server = config.servers.get(names.server);
  return { ...names, url: server?.url, protocol: server && pool.identity(names.server)?.protocol };
}

async function redacted({ arguments: args, result }: CallContents, parts: Parts): Promise<CallContents> {
  const excerpts = await Excerpts.of(parts);
  const shown = (text: string | undefined, max: number, key: string) =>
    text === undefined ? undefined : excerpts.json(text, max, key).text;
  return {
    arguments: shown(args, maxRecordedArgumentChars, "arguments"),
    result: shown(result, maxRecordedResultChars, "result"),
  };
}

/** Makes a call within its span. `make` gets the trace for its server: without telemetry, the caller's own. */
export function withinSpan<T>(
  spans: CallSpans | undefined,
  { call, trace }: { call: number; trace: TraceContext | undefined },
  make: (trace: TraceContext | undefined) => Promise<T>,
): Promise<T> {
  const span = spans?.of(call);
  return span ? span.run(() => make(span.trace)) : make(trace);
}
