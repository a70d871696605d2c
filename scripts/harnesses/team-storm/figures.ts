/** The figures of a storm, and how they are shown. */
import type { Felt } from "./canary.ts";
import type { Made } from "./disturber.ts";

export interface StormOptions {
  seed: number;
  seconds: number;
  people: number;
  replicas: number;
  /** The mean pause of a person between two activities, for each person of the storm. With 80, all together do about twelve activities a second. */
  pauseMs: number;
  isCalm: boolean;
}

export interface StormResult extends StormOptions {
  balancer: string;
  executions: { count: number; perSecond: number; p50Ms: number; p95Ms: number; p99Ms: number };
  /** What people did. */
  done: Record<string, number>;
  /** Errors of allowed kinds that people saw. */
  errors: Record<string, number>;
  /** The first errors of each kind. */
  examples: Record<string, string[]>;
  calls: { far: number; near: number };
  tokens: { refreshed: number; exchanged: number };
  disturbances: Made[];
  /** During each disturbance of a trial. */
  felt: Felt[];
  /** The highest resident size of each replica. */
  replicasMb: number[];
  database: { connections: number; mb: number };
  wrong: string[];
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

/** For docs/scale.md. */
export function tableOf(results: readonly StormResult[]): string {
  const head = [
    "| replicas | people | executions per second | p50 | p95 | p99 | memory of a replica | connections | database |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
  const rows = results.map(({ replicas, people, executions, replicasMb, database }) => {
    const { perSecond, p50Ms, p95Ms, p99Ms } = executions;
    const memory = Math.max(...replicasMb, 0);
    return `| ${replicas} | ${people} | ${perSecond} | ${p50Ms} ms | ${p95Ms} ms | ${p99Ms} ms | ${memory} MB | ${database.connections} | ${database.mb} MB |`;
  });
  return [...head, ...rows].join("\n");
}
