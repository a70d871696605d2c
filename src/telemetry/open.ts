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
  WatchedState,
} from "../programs/telemetry.ts";
import type { Outcome } from "../sandbox/contract.ts";
import { onAudited, type WrittenEvent } from "../store/audit/heard.ts";
import { ObservedCallSpans } from "./call-spans.ts";
import { attribute, executesTool } from "./conventions.ts";
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
  readonly #unfinished = new Set<Promise<void>>();
  #stopLines: (() => void) | undefined;
  #stopAudit: (() => void) | undefined;

  constructor(pipelines: Pipelines, { contents, audit }: TelemetrySettings) {
    const { tracer, meter, logger, prometheus } = pipelines;
    const lines: SpanOfLines | undefined = logger && new AsyncLocalStorage();
    this.#pipelines = pipelines;
    this.prometheus = prometheus;
    this.#contents = contents;
    this.#tracing = new Tracing(tracer, lines);
    this.#metrics = new Metrics(meter);
    if (logger && audit) this.#stopAudit = onAudited(auditSender(logger));
    if (logger && lines) this.#stopLines = sendLinesTo(lineSender(logger, lines));
  }

  request({ method, tool, trace, id, session, protocol, transport, door }: ObservedRequest): RequestSpan {
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

  execution({ id, trace, door, startedBy, program, isContinued }: ObservedExecution): ExecutionSpan {
    const startedAt = performance.now();
    const shared: Attributes = {
      [attribute.startedBy]: startedBy,
      ...(door === undefined ? {} : { [attribute.door]: door }),
    };
    const attributes = {
      ...shared,
      [attribute.execution]: id,
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
      later: (work) => this.#finish(work),
    });
  }

  #finish(work: Promise<void>): void {
    // Contents that cannot be shown are left out.
    const done = work.catch(() => {}).finally(() => this.#unfinished.delete(done));
    this.#unfinished.add(done);
  }

  watch(state: WatchedState): Disposable {
    return this.#metrics.watch(state);
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
    const attributes: Attributes = {};
    for (const [name, value] of Object.entries(known)) {
      if (value !== undefined) attributes[name] = typeof value === "string" ? value.slice(0, maxNameChars) : value;
    }
    const about = server === undefined ? "" : ` ${tool === undefined ? server : `${server}.${tool}`}`;
    logger.emit({
      eventName: `claudikins.audit.${decision}`,
      timestamp: at,
      severityNumber: decision === "broken" ? SeverityNumber.WARN : SeverityNumber.INFO,
      severityText: decision === "broken" ? "WARN" : "INFO",
      body: `${decision}${about}`.slice(0, maxNameChars),
      attributes,
    });
  };
}
