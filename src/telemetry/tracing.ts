/** Starts spans, and translates between the spans of OpenTelemetry and the trace that requests carry. */
import type { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from "@opentelemetry/api";
import type { TraceContext } from "../base/trace-context.ts";
import type { Within } from "../programs/telemetry.ts";
import { attribute } from "./conventions.ts";

/** Log lines that are written within `run` belong to this span. */
export type SpanOfLines = AsyncLocalStorage<SpanContext>;

interface StartedSpan {
  kind: SpanKind;
  parent: TraceContext | undefined;
  attributes: Attributes;
}

export class Tracing {
  readonly #tracer: Tracer | undefined;
  readonly #lines: SpanOfLines | undefined;

  /** Without a tracer, the caller's trace is passed on unchanged. Without `lines`, no log lines are sent. */
  constructor(tracer: Tracer | undefined, lines: SpanOfLines | undefined) {
    this.#tracer = tracer;
    this.#lines = lines;
  }

  start(name: string, { kind, parent, attributes }: StartedSpan): OpenSpan {
    const span = this.#tracer?.startSpan(name, { kind, attributes }, parentOf(parent));
    return new OpenSpan(span, parent, this.#lines);
  }
}

export class OpenSpan implements Within {
  readonly #span: Span | undefined;
  readonly #lines: SpanOfLines | undefined;
  readonly trace: TraceContext | undefined;

  constructor(span: Span | undefined, parent: TraceContext | undefined, lines: SpanOfLines | undefined) {
    this.#span = span;
    this.#lines = lines;
    this.trace = span ? contextOf(span.spanContext()) : parent;
  }

  run<T>(work: () => T): T {
    const context = this.#span?.spanContext();
    return context && this.#lines ? this.#lines.run(context, work) : work();
  }

  set(attributes: Attributes, name?: string): void {
    this.#span?.setAttributes(attributes);
    if (name !== undefined) this.#span?.updateName(name);
  }

  /** `error` is the value of `error.type`. */
  end(error: string | undefined, endTime?: number): void {
    if (error !== undefined) {
      this.#span?.setAttribute(attribute.error, error);
      this.#span?.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span?.end(endTime);
  }
}

/** The context of a span with this parent. */
function parentOf(trace: TraceContext | undefined): Context {
  const parent = trace && spanContextOf(trace);
  return parent ? traceApi.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function spanContextOf({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = traceparent.split("-");
  const context: SpanContext = {
    traceId,
    spanId,
    // Other flags are not ours to pass on.
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? context : undefined;
}

function contextOf(context: SpanContext): TraceContext | undefined {
  if (!isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags, traceState } = context;
  const tracestate = traceState?.serialize();
  const traceparent = `00-${traceId}-${spanId}-${(traceFlags & 1).toString(16).padStart(2, "0")}`;
  return { traceparent, ...(tracestate ? { tracestate } : {}) };
}
