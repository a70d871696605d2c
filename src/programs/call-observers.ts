/** Everybody who hears of calls of tools. The receipt of a program is the sandbox's own. */
import type { TraceContext } from "../base/trace-context.ts";
import { tellAll } from "../sandbox/call-events.ts";
import type { CallRequest } from "../sandbox/contract.ts";
import { type CallMaker, endedCalls, usedNames } from "./call-log/ended-calls.ts";
import type { ExecutionCheckpointer } from "./execution/checkpointer.ts";
import type { TraceRecording } from "./execution/recording.ts";
import { maxRecordedArgumentChars, maxRecordedResultChars } from "./limits.ts";
import type { Parts } from "./parts.ts";
import { progressLines, type Tell } from "./progress-text.ts";
import type { CallTape } from "./recordings/tape.ts";
import type { CallContents, CalledServer, CallSpans } from "./telemetry.ts";
import type { ToolCallListener } from "./tool-call-events.ts";
import { Excerpts } from "./trace/excerpts.ts";

interface Observers {
  parts: Parts;
  maker: CallMaker;
  recording?: TraceRecording | undefined;
  tape?: CallTape | undefined;
  spans?: CallSpans | undefined;
  checkpointer?: ExecutionCheckpointer | undefined;
  tell?: Tell | undefined;
}

/** Another observer is another line. */
export function observersOf({ parts, maker, recording, tape, spans, checkpointer, tell }: Observers): ToolCallListener {
  const all: (ToolCallListener | undefined)[] = [
    recording?.hear,
    tape?.hear,
    spans?.hear,
    endedCalls(parts, maker),
    // The shapes of results are in files and types for everybody. A key of private data, such as the name of a customer, stays out of them.
    (event) => (event.type === "answered" && !event.isPrivate ? parts.catalog.observer.see(event) : undefined),
    tell && progressLines(tell),
  ];
  const tellOthers = tellAll(all.filter((each) => each !== undefined));
  if (!checkpointer) return tellOthers;
  // A call that cannot be noted does not leave, so nobody else hears of it as sent.
  return (event) =>
    event.type === "sent"
      ? checkpointer.sending(event.call, event.repeatable).then(() => tellOthers(event))
      : tellOthers(event);
}

/** Tells telemetry of calls: the names of their servers and tools, and on request what was sent and received. Undefined if nothing is sent. `trace` belongs to the execution, or to the request that makes the call. */
export function callSpans(
  parts: Parts,
  { trace, execution }: { trace?: TraceContext | undefined; execution?: string | undefined },
): CallSpans | undefined {
  return parts.telemetry?.calls({
    trace,
    execution,
    person: parts.config.person?.id,
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
