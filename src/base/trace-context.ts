/** The trace that a request belongs to, as W3C Trace Context writes it and MCP carries it in `_meta` (SEP-414). */
import { isObject, type JsonObject } from "./json-object.ts";

/** Characters of the `tracestate` of a trace. W3C Trace Context asks for at least as many; a longer one is dropped. */
const maxTraceStateChars = 512;

export interface TraceContext {
  /** Version, trace id, id of the calling span, and flags: `00-…-…-01`. */
  traceparent: string;
  /** Additions of tracing systems, in their own formats. */
  tracestate?: string;
}

/** A later version may add fields. All zeros are no ids. */
const traceparentForm =
  /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-[\x21-\x7e]{1,100})?$/;

/** The trace in the `_meta` of a request, or in variables of these names. Undefined if there is none, or if it is not valid. */
export function traceIn(meta: unknown): TraceContext | undefined {
  if (!isObject(meta)) return undefined;
  const { traceparent, tracestate } = meta;
  if (typeof traceparent !== "string" || !traceparentForm.test(traceparent)) return undefined;
  const isUsable = typeof tracestate === "string" && tracestate !== "" && /^[\x20-\x7e]+$/.test(tracestate);
  return { traceparent, ...(isUsable && tracestate.length <= maxTraceStateChars ? { tracestate } : {}) };
}

/** The `_meta` of a request that belongs to the trace. Without a trace, it stays as it is. */
export function metaWith(meta: JsonObject | undefined, trace: TraceContext | undefined): JsonObject | undefined {
  if (!trace) return meta;
  const { traceparent: _, tracestate: __, ...rest } = meta ?? {};
  return { ...rest, ...trace };
}
