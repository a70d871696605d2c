/** Telemetry through OpenTelemetry: opens it, and gives each observer its spans and metrics. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Attributes, type Logger, SeverityNumber, SpanKind } from "@opentelemetry/api";
import { type Log, sendLinesTo } from "../base/log.ts";
import { atMost } from "../base/time-limit.ts";
import type { Signal, TelemetrySettings } from "../config/telemetry.ts";
import type {
  CallSpans,
  ExecutionSpan,
  ObservedCalls,
  ObservedExecution,
  ObservedRequest,
  RequestSpan,
  Telemetry,
  WatchedServing,
  WatchedState,
} from "../programs/telemetry.ts";
import type { Outcome } from "../sandbox/contract.ts";
import { onAudited, type WrittenEvent } from "../store/audit/heard.ts";
import type { StoredCall } from "../store/call-log.ts";
import { ObservedCallSpans } from "./call-spans.ts";
import { attribute, executesTool, toolError } from "./conventions.ts";
import { lineSender } from "./log-records.ts";
import { Metrics } from "./metrics.ts";
import { openPipelines, type Pipelines } from "./pipelines.ts";
import { type SpanOfLines, Tracing } from "./tracing.ts";

/** Time for a receiver to take the rest when a process ends. Afterwards the rest is dropped. */
const lastSendMs = 2_000;

/** Characters of a name that an agent chose. */
const maxNameChars = 128;

/** Loads OpenTelemetry. `timeoutMs` limits one message; undefined leaves it to the usual variable. */
export async function openTelemetry(
  settings: TelemetrySettings,
  { log, timeoutMs }: { log: Log; timeoutMs: number | undefined },
): Promise<Telemetry> {
  const failing = new Set<Signal>();
  const failed = (signal: Signal, why: string) => {
    // It is logged once, because a receiver that is down fails every few seconds.
    if (failing.has(signal)) return;
    failing.add(signal);
    const host = URL.parse(settings.destinations[signal]?.url ?? "")?.host;
    log.warn(`${signal} cannot be sent to ${host}: ${why}`);
  };
  const pipelines = await openPipelines(settings, { timeoutMs, failed });
  return new OpenTelemetry(pipelines, settings);
}

class OpenTelemetry implements Telemetry {
  readonly prometheus: Telemetry["prometheus"];
  readonly #pipelines: Pipelines;
  readonly #tracing: Tracing;
  readonly #metrics: Metrics;
  readonly #contents: boolean;
  readonly #people: boolean;
  readonly logged: Telemetry["logged"];
  readonly #unfinished = new Set<Promise<void>>();
  #stopLines: (() => void) | undefined;
  #stopAudit: (() => void) | undefined;

  constructor(pipelines: Pipelines, { contents, audit, calls, people }: TelemetrySettings) {
    const { tracer, meter, logger, prometheus } = pipelines;
    const lines: SpanOfLines | undefined = logger && new AsyncLocalStorage();
    this.#pipelines = pipelines;
    this.prometheus = prometheus;
    this.#contents = contents;
    this.#people = people;
    this.logged = logger && calls ? callSender(logger) : undefined;
    this.#tracing = new Tracing(tracer, lines);
    this.#metrics = new Metrics(meter);
    if (logger && audit) this.#stopAudit = onAudited(auditSender(logger));
    if (logger && lines) this.#stopLines = sendLinesTo(lineSender(logger, lines));
  }

  request({ method, tool, trace, id, session, protocol, transport, door, person }: ObservedRequest): RequestSpan {
    const startedAt = performance.now();
    const shared: Attributes = {
      [attribute.method]: method,
      ...(tool === undefined ? {} : { [attribute.tool]: tool.slice(0, maxNameChars) }),
      ...(method === "tools/call" ? { [attribute.operation]: executesTool } : {}),
      [attribute.transport]: transport,
      ...(transport === "tcp" ? { [attribute.networkProtocol]: "http" } : {}),
      ...(protocol === undefined ? {} : { [attribute.protocol]: protocol }),
      ...(door === undefined ? {} : { [attribute.door]: door }),
    };
    const attributes = {
      ...shared,
      ...(id === undefined ? {} : { [attribute.request]: String(id).slice(0, maxNameChars) }),
      ...(session === undefined ? {} : { [attribute.session]: session }),
      ...this.#personOf(person),
    };
    const name = tool === undefined ? method : `${method} ${tool.slice(0, maxNameChars)}`;
    const span = this.#tracing.start(name, { kind: SpanKind.SERVER, parent: trace, attributes });
    const metrics = this.#metrics;
    return {
      trace: span.trace,
      run: (work) => span.run(work),
      executes: (execution) => span.set({ [attribute.execution]: execution }),
      ended(error) {
        const failure = error === undefined ? {} : { [attribute.error]: error };
        metrics.request((performance.now() - startedAt) / 1_000, { ...shared, ...failure });
        span.end(error);
      },
    };
  }

  execution({ id, trace, door, person, startedBy, program, isContinued }: ObservedExecution): ExecutionSpan {
    const startedAt = performance.now();
    const shared: Attributes = {
      [attribute.startedBy]: startedBy,
      ...(door === undefined ? {} : { [attribute.door]: door }),
    };
    const attributes = {
      ...shared,
      [attribute.execution]: id,
      ...this.#personOf(person),
      ...(program === undefined ? {} : { [attribute.program]: program }),
      ...(isContinued ? { [attribute.isContinued]: true } : {}),
    };
    const span = this.#tracing.start("execution", { kind: SpanKind.INTERNAL, parent: trace, attributes });
    const metrics = this.#metrics;
    return {
      trace: span.trace,
      run: (work) => span.run(work),
      ended(outcome: Outcome) {
        const { calls, failures } = outcome.receipt;
        const word = outcome.ok ? "ok" : outcome.reason;
        metrics.execution((performance.now() - startedAt) / 1_000, { ...shared, [attribute.outcome]: word });
        span.set({ [attribute.outcome]: word, [attribute.calls]: calls, [attribute.failures]: failures });
        span.end(outcome.ok ? undefined : word);
      },
      released() {
        span.set({ [attribute.outcome]: "continues elsewhere" });
        span.end(undefined);
      },
    };
  }

  calls(calls: ObservedCalls): CallSpans {
    return new ObservedCallSpans(calls, {
      tracing: this.#tracing,
      metrics: this.#metrics,
      contents: this.#contents,
      people: this.#people,
      later: (work) => this.#finish(work),
    });
  }

  #personOf(person: string | undefined): Attributes {
    return this.#people && person !== undefined ? { [attribute.personId]: person } : {};
  }

  #finish(work: Promise<void>): void {
    // Contents that cannot be shown are left out.
    const done = work.catch(() => {}).finally(() => this.#unfinished.delete(done));
    this.#unfinished.add(done);
  }

  watch(state: WatchedState): Disposable {
    return this.#metrics.watch(state);
  }

  watchServing(state: WatchedServing): Disposable {
    return this.#metrics.watchServing(state);
  }

  async end(): Promise<void> {
    const send = async () => {
      await Promise.all(this.#unfinished);
      await this.#pipelines.end();
    };
    await atMost(lastSendMs, send());
    this.#stopLines?.();
    this.#stopAudit?.();
  }
}

/** A function that sends an event. */
function auditSender(logger: Logger): (written: WrittenEvent) => void {
  return ({ event, by, at }) => {
    const { decision, server, tool, execution, call, approval, config, door, person, scope, changes, token, why } =
      event;
    const known: Record<string, string | number | undefined> = {
      [attribute.auditDecision]: decision,
      [attribute.auditScope]: scope,
      [attribute.server]: server,
      [attribute.tool]: tool,
      [attribute.execution]: execution,
      [attribute.call]: call,
      [attribute.approval]: approval,
      [attribute.config]: config,
      [attribute.door]: door ?? token?.door,
      [attribute.personId]: person?.id,
      [attribute.personName]: person?.name,
      [attribute.token]: token?.id,
      [attribute.changed]: changes?.map((each) => each.at).join(" "),
      [attribute.why]: why,
      [attribute.decidedAt]: by.place,
      [attribute.decidedBy]: by.person?.id ?? by.user,
      [attribute.decidedByName]: by.person?.name ?? by.user,
      [attribute.decidedFrom]: by.parent,
      [attribute.pid]: by.pid,
    };
    const about = server === undefined ? "" : ` ${tool === undefined ? server : `${server}.${tool}`}`;
    logger.emit({
      eventName: `claudikins.audit.${decision}`,
      timestamp: at,
      severityNumber: decision === "broken" ? SeverityNumber.WARN : SeverityNumber.INFO,
      severityText: decision === "broken" ? "WARN" : "INFO",
      body: `${decision}${about}`.slice(0, maxNameChars),
      attributes: givenOf(known),
    });
  };
}

/** A function that sends a call of the call log. */
function callSender(logger: Logger): (call: StoredCall) => void {
  return (call) => {
    const { server, tool, outcome } = call;
    const isOk = outcome === "ok";
    logger.emit({
      eventName: "claudikins.call",
      timestamp: call.at,
      severityNumber: isOk ? SeverityNumber.INFO : SeverityNumber.WARN,
      severityText: isOk ? "INFO" : "WARN",
      body: `${outcome} ${server}.${tool}`.slice(0, maxNameChars),
      attributes: givenOf({
        [attribute.server]: server,
        [attribute.tool]: tool,
        [attribute.outcome]: outcome,
        [attribute.error]: call.code ?? (outcome === "tool_error" ? toolError : null),
        [attribute.duration]: call.durationMs / 1_000,
        [attribute.waited]: call.waitedMs === 0 ? null : call.waitedMs / 1_000,
        [attribute.sent]: call.sent,
        [attribute.argumentBytes]: call.argumentBytes,
        [attribute.resultBytes]: call.resultBytes,
        [attribute.personId]: call.person,
        [attribute.personName]: call.personName,
        [attribute.token]: call.token,
        [attribute.agent]: call.agent,
        [attribute.door]: call.door,
        [attribute.config]: call.config,
        [attribute.startedBy]: call.startedBy,
        [attribute.execution]: call.execution,
        [attribute.call]: call.call,
        [attribute.program]: call.program,
        [attribute.decision]: call.approval,
        [attribute.approval]: call.approvalId,
        [attribute.labels]: call.labels,
      }),
    });
  };
}

/** The attributes that are given, with texts of bounded length. */
function givenOf(known: Record<string, string | number | null | undefined>): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(known)) {
    if (value !== undefined && value !== null)
      attributes[name] = typeof value === "string" ? value.slice(0, maxNameChars) : value;
  }
  return attributes;
}
