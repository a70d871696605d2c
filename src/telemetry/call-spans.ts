/** The spans and metrics of calls. A span begins when the call is made, and ends with it. */
import { type Attributes, SpanKind } from "@opentelemetry/api";
import { objectJson } from "../base/large-json.ts";
import { continuesElsewhere } from "../policy/approval-queue.ts";
import type { CalledServer, CallSpans, ObservedCalls, Within } from "../programs/telemetry.ts";
import type { CallValue, ToolCallEvent } from "../programs/tool-call-events.ts";
import { textOf } from "../sandbox/binding-value.ts";
import type { CallRequest } from "../sandbox/contract.ts";
import type { ToolResult } from "../servers/result.ts";
import { attribute, errorType, executesTool, methodOf, toolError } from "./conventions.ts";
import type { Metrics } from "./metrics.ts";
import type { OpenSpan, Tracing } from "./tracing.ts";

interface OpenCall {
  span: OpenSpan;
  sentAt: number | undefined;
  /** A dry run does not make the call. */
  isPlanned: boolean;
  answer: { args: object | undefined; result: ToolResult } | undefined;
}

export interface CallSpanOptions {
  tracing: Tracing;
  metrics: Metrics;
  /** Whether spans have arguments and results. */
  contents: boolean;
  /** Whether spans name the person. */
  people: boolean;
  /** Takes a promise that must be waited for before the last spans are sent. */
  later: (work: Promise<void>) => void;
}

type EndEvent = Extract<ToolCallEvent, { type: "returned" | "failed" | "cancelled" }>;

export class ObservedCallSpans implements CallSpans {
  readonly #options: CallSpanOptions;
  readonly #calls: ObservedCalls;
  readonly #open = new Map<number, OpenCall>();

  constructor(calls: ObservedCalls, options: CallSpanOptions) {
    this.#calls = calls;
    this.#options = options;
  }

  of(call: number): Within {
    return this.#open.get(call)?.span ?? { trace: this.#calls.trace, run: (work) => work() };
  }

  readonly hear = (event: ToolCallEvent): void => {
    const open = this.#open.get(event.call);
    switch (event.type) {
      case "called":
        // Questions about the tools, and calls that continue a subscription, name no server.
        if (event.request.namespace !== "") this.#open.set(event.call, this.#begin(event.request));
        break;
      case "planned":
        if (open) open.isPlanned = true;
        break;
      case "sent":
        if (open) open.sentAt = performance.now();
        break;
      case "answered":
        if (open) open.answer = { args: event.args, result: event.result };
        break;
      case "returned":
      case "failed":
      case "cancelled":
        this.#open.delete(event.call);
        // The process that continues the program makes the call.
        if (open && !(event.type === "cancelled" && event.reason === continuesElsewhere && open.sentAt === undefined))
          this.#end(open, event);
    }
  };

  #begin(request: CallRequest): OpenCall {
    const { execution, trace, person } = this.#calls;
    const method = methodOf(request);
    // The names follow at the end of the call, when its server is known.
    const attributes = {
      [attribute.method]: method,
      ...(execution === undefined ? {} : { [attribute.execution]: execution }),
      ...(this.#options.people && person !== undefined ? { [attribute.personId]: person } : {}),
      ...(request.line === undefined ? {} : { [attribute.line]: request.line }),
    };
    const span = this.#options.tracing.start(method, { kind: SpanKind.CLIENT, parent: trace, attributes });
    return { span, sentAt: undefined, isPlanned: false, answer: undefined };
  }

  #end({ span, sentAt, isPlanned, answer }: OpenCall, event: EndEvent): void {
    const { request, waitedMs } = event;
    const { metrics, contents, later } = this.#options;
    const attributes = sharedOf(request, this.#calls.about(request));
    const error = errorOf(event, answer?.result);
    const failure = error === undefined ? {} : { [attribute.error]: error };
    const { [attribute.server]: server, [attribute.tool]: tool, ...measured } = attributes;
    if (isPlanned) span.set({ [attribute.notMade]: true });
    else metrics.call({ ...named(server, tool), [attribute.outcome]: outcomeOf(error), ...failure });
    if (sentAt !== undefined) {
      const seconds = (performance.now() - sentAt) / 1_000;
      const { [attribute.address]: _, [attribute.port]: __, ...rest } = measured;
      metrics.sentCall(seconds, { ...rest, ...named(server, tool), ...failure });
    }
    span.set({ ...attributes, ...(waitedMs > 0 ? { [attribute.waited]: waitedMs / 1_000 } : {}) }, nameOf(attributes));
    const endTime = performance.timeOrigin + performance.now();
    if (!contents) span.end(error, endTime);
    else later(this.#addContents(span, event, answer).finally(() => span.end(error, endTime)));
  }

  async #addContents(span: OpenSpan, event: EndEvent, answer: OpenCall["answer"]): Promise<void> {
    const args = event.request.args ?? (answer?.args && JSON.stringify(answer.args));
    const value = event.type === "returned" ? event.value : undefined;
    const result = answer ? objectJson(answer.result) : value && valueText(value);
    const shown = await this.#calls.redacted({ arguments: args, result });
    span.set({
      ...(shown.arguments === undefined ? {} : { [attribute.arguments]: shown.arguments }),
      ...(shown.result === undefined ? {} : { [attribute.result]: shown.result }),
    });
  }
}

function valueText(value: CallValue): string {
  return "result" in value ? objectJson(value.result) : textOf(value);
}

/** The attributes of a call's spans and metrics. */
function sharedOf(request: CallRequest, { server, tool, url, protocol }: CalledServer): Attributes {
  const isTool = request.group === "tools";
  const address = url === undefined ? null : URL.parse(url);
  return {
    [attribute.method]: methodOf(request),
    ...(isTool ? { [attribute.tool]: tool, [attribute.operation]: executesTool } : {}),
    [attribute.server]: server,
    ...(protocol === undefined ? {} : { [attribute.protocol]: protocol }),
    ...(url === undefined
      ? { [attribute.transport]: "pipe" }
      : { [attribute.transport]: "tcp", [attribute.networkProtocol]: "http" }),
    ...(address ? { [attribute.address]: address.hostname } : {}),
    ...(address && address.port !== "" ? { [attribute.port]: Number(address.port) } : {}),
  };
}

function named(server: Attributes[string], tool: Attributes[string]): Attributes {
  return { [attribute.server]: server, ...(tool === undefined ? {} : { [attribute.tool]: tool }) };
}

function nameOf(attributes: Attributes): string {
  return [attributes[attribute.method], attributes[attribute.tool]].filter((each) => each !== undefined).join(" ");
}

/** The value of `error.type`. */
function errorOf(event: EndEvent, result: ToolResult | undefined): string | undefined {
  if (event.type === "cancelled") return "cancelled";
  const whole = event.type === "returned" && "result" in event.value ? event.value.result : result;
  if (whole?.["isError"] === true) return toolError;
  return event.type === "failed" ? errorType(event.error.code) : undefined;
}

function outcomeOf(error: string | undefined): string {
  if (error === undefined) return "ok";
  if (error === "POLICY_DENIED") return "denied";
  return error === toolError || error === "cancelled" ? error : "failed";
}
