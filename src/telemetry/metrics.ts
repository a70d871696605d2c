/** The metrics. Some are counted and measured when something ends, others are read when metrics are sent. */
import type { Attributes, Meter, ObservableResult } from "@opentelemetry/api";
import { atMost } from "../base/time-limit.ts";
import type { ExecutionStates, WatchedServing, WatchedState } from "../programs/telemetry.ts";
import { attribute, durationBounds } from "./conventions.ts";
import { databaseLookMs } from "./limits.ts";
import { metricNames } from "./metric-names.ts";
import { servingMetrics } from "./serving-metrics.ts";

const duration = { unit: "s", advice: { explicitBucketBoundaries: durationBounds } };

export class Metrics {
  readonly #watched = new Set<WatchedState>();
  readonly request: (seconds: number, attributes: Attributes) => void;
  readonly sentCall: (seconds: number, attributes: Attributes) => void;
  readonly call: (attributes: Attributes) => void;
  readonly execution: (seconds: number, attributes: Attributes) => void;

  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
    const description = "Duration of a request of an agent, until its answer is ready";
    const requests = meter.createHistogram(metricNames.serverDuration, { description, ...duration });
    const sent = meter.createHistogram(metricNames.clientDuration, {
      description: "Duration of a request to a server, from when it left until its answer came",
      ...duration,
    });
    const calls = meter.createCounter(metricNames.calls, {
      description: "Calls of programs, commands and agents, including those that were denied or not sent",
      unit: "{call}",
    });
    const executions = meter.createCounter(metricNames.executions, {
      description: "Executions that have ended",
      unit: "{execution}",
    });
    const lengths = meter.createHistogram(metricNames.executionDuration, {
      description: "Duration of an execution in the process that ended it",
      ...duration,
    });
    this.request = (seconds, attributes) => requests.record(seconds, attributes);
    this.sentCall = (seconds, attributes) => sent.record(seconds, attributes);
    this.call = (attributes) => calls.add(1, attributes);
    this.execution = (seconds, attributes) => {
      executions.add(1, attributes);
      lengths.record(seconds, attributes);
    };
    this.#observe(meter);
  }

  /** Reports the state of an app until the result is disposed of. */
  watch(state: WatchedState): Disposable {
    this.#watched.add(state);
    return { [Symbol.dispose]: () => void this.#watched.delete(state) };
  }

  /** Reports the state of a process that serves over HTTP. */
  watchServing(state: WatchedServing): Disposable {
    const stops = servingMetrics(this.#meter, state);
    return {
      [Symbol.dispose]: () => {
        for (const stop of stops) stop();
      },
    };
  }

  #observe(meter: Meter): void {
    const gauge = (name: string, unit: string, description: string, look: (result: ObservableResult) => unknown) =>
      meter.createObservableGauge(name, { unit, description }).addCallback(async (result) => void (await look(result)));
    gauge(
      metricNames.activeExecutions,
      "{execution}",
      "Executions that run, that wait for a person or a timer, and that wait for their turn",
      (result) => this.#executions(result),
    );
    gauge(metricNames.approvals, "{approval}", "Calls that wait for a person's decision, in all processes", (result) =>
      this.#approvals(result),
    );
    gauge(metricNames.connections, "{connection}", "Open connections to a server", (result) =>
      this.#servers(result, ({ isConnected }) => Number(isConnected)),
    );
    gauge(metricNames.queued, "{call}", "Calls that wait for their turn at a server", (result) =>
      this.#servers(result, ({ queued }) => queued),
    );
    gauge(
      metricNames.tokensKeptOut,
      "{token}",
      "Tokens that stayed out of agents' contexts since the process started, as claudikins stats counts them",
      (result) => this.#tokens(result),
    );
    gauge(metricNames.memory, "By", "Resident memory of the process", (result) =>
      result.observe(process.memoryUsage.rss()),
    );
  }

  #executions(result: ObservableResult): void {
    const byDoor = new Map<string, ExecutionStates>();
    for (const { door = "", executions } of this.#watched) {
      const { running, waiting, queued } = executions();
      const sum = byDoor.get(door) ?? { running: 0, waiting: 0, queued: 0 };
      byDoor.set(door, {
        running: sum.running + running,
        waiting: sum.waiting + waiting,
        queued: sum.queued + queued,
      });
    }
    for (const [door, states] of byDoor) {
      for (const [state, count] of Object.entries(states)) {
        result.observe(count, { [attribute.state]: state, [attribute.door]: door });
      }
    }
  }

  async #approvals(result: ObservableResult): Promise<void> {
    for (const { approvals } of this.#watched) {
      let open: number | undefined;
      const look = async () => {
        open = await approvals?.();
      };
      await atMost(databaseLookMs, look());
      if (open !== undefined) result.observe(open);
    }
  }

  #servers(result: ObservableResult, count: (server: { isConnected: boolean; queued: number }) => number): void {
    const sums = new Map<string, number>();
    for (const { servers } of this.#watched) {
      for (const [name, server] of servers()) sums.set(name, (sums.get(name) ?? 0) + count(server));
    }
    for (const [name, sum] of sums) result.observe(sum, { [attribute.server]: name });
  }

  #tokens(result: ObservableResult): void {
    for (const { tokensKeptOut } of this.#watched) if (tokensKeptOut) result.observe(tokensKeptOut());
  }
}
