/** Tells telemetry of calls: the names of their servers and tools, and on request what was sent and received. */
import type { TraceContext } from "../base/trace-context.ts";
import type { CallRequest } from "../sandbox/contract.ts";
import { usedNames } from "./ledger/call-counter.ts";
import { maxRecordedArgumentChars, maxRecordedResultChars } from "./limits.ts";
import type { Parts } from "./parts.ts";
import type { CallContents, CalledServer, CallSpans } from "./telemetry.ts";
import { Excerpts } from "./trace/excerpts.ts";

/** Undefined if nothing is sent. `trace` is the trace of the execution, or of the request that makes the call. */
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
