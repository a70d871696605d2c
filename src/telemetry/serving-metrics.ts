/** The metrics of a process that serves over HTTP, and of the database that it shares with other replicas. */
import type { BatchObservableResult, Meter, Observable } from "@opentelemetry/api";
import { atMost } from "../base/time-limit.ts";
import type { WatchedServing, WatchedTeam } from "../programs/telemetry.ts";
import type { TeamState } from "../store/replicas.ts";
import { databaseLookMs } from "./limits.ts";
import { metricNames } from "./metric-names.ts";

/** Functions that end it. */
export function servingMetrics(meter: Meter, { sessions, requests, isLeaving, team }: WatchedServing): (() => void)[] {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description });
  const open = gauge(metricNames.sessions, "{session}", "Sessions of agents that are open in this process");
  const running = gauge(metricNames.requests, "{request}", "Requests that are open in this process");
  const leaving = gauge(metricNames.leaving, "1", "1 if the process ends and balancers should turn away, otherwise 0");
  const own = observed(meter, [open, running, leaving], (result) => {
    result.observe(open, sessions());
    result.observe(running, requests());
    result.observe(leaving, Number(isLeaving()));
  });
  return team ? [own, teamMetrics(meter, team)] : [own];
}

function teamMetrics(meter: Meter, { lease, look, roomBytes }: WatchedTeam): () => void {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description });
  const held = gauge(metricNames.leaseHeld, "1", "1 if other replicas surely count this one as alive, otherwise 0");
  const lapses = meter.createObservableCounter(metricNames.leaseLapses, {
    unit: "{lapse}",
    description: "How often other replicas may have counted this one as dead",
  });
  const up = gauge(metricNames.databaseUp, "1", "1 if the database could be written just now, otherwise 0");
  const answer = gauge(
    metricNames.databaseAnswer,
    "s",
    "Time in which the database answered, for one read and one write",
  );
  const replicas = gauge(metricNames.replicas, "{replica}", "Replicas that are alive");
  const programs = gauge(metricNames.savedPrograms, "{program}", "Saved programs that have not ended, at all replicas");
  const size = gauge(metricNames.storedSize, "By", "Size of saved programs and results, of all replicas");
  const limit = gauge(metricNames.storedLimit, "By", "The size that they may have together");
  const all = [held, lapses, up, answer, replicas, programs, size, limit];
  return observed(meter, all, async (result) => {
    const own = lease();
    result.observe(held, Number(own?.holds === true));
    result.observe(lapses, own?.lapses ?? 0);
    result.observe(limit, roomBytes());
    const begunAt = performance.now();
    let state: TeamState | undefined;
    await atMost(
      databaseLookMs,
      look().then(
        (found) => (state = found),
        () => {},
      ),
    );
    result.observe(up, Number(state !== undefined));
    if (!state) return;
    result.observe(answer, (performance.now() - begunAt) / 1_000);
    result.observe(replicas, state.replicas);
    result.observe(programs, state.programs);
    result.observe(size, state.bytes);
  });
}

/** Observes several instruments together until the result is called. */
function observed(meter: Meter, which: Observable[], look: (result: BatchObservableResult) => unknown): () => void {
  const callback = async (result: BatchObservableResult) => void (await look(result));
  meter.addBatchObservableCallback(callback, which);
  return () => meter.removeBatchObservableCallback(callback, which);
}
