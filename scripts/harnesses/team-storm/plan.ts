/** The disturbances of a storm, determined by its seed. */
import { Random } from "../random.ts";

export const disturbances = [
  /** SIGKILL. A new replica is started. */
  "kill",
  /** SIGSTOP for longer than a lease, and SIGCONT. */
  "freeze",
  /** SIGTERM. A new replica is started. */
  "drain",
  /** A replica more, which is drained later. */
  "add",
  /** The database server ends and starts. */
  "restart of the database",
  /** All connections to the database are ended. */
  "cut",
] as const;

/** Disturbances of a trial only: a lock of a table of the database, and an administrator who revokes a person with an open request. */
type OfTrial = "lock" | "revoke";

export interface Disturbance {
  kind: (typeof disturbances)[number] | OfTrial;
  /** Since the beginning of the storm. */
  atMs: number;
  /** How long a replica is frozen, is missing, or stays. */
  forMs: number;
  /** Which of the replicas, or of the people, as a share of their number. */
  which: number;
  /** The table that is locked, with its schema. */
  table?: string;
}

/** Longer than the lease of a replica, which is 15 s. */
const freezeMs = 17_000;

/** The mean time between two disturbances. */
const everyMs = 12_000;

/** After a quiet beginning and before a quiet end, all kinds in turn, in an order of the seed. */
export function planOf(seed: number, seconds: number): Disturbance[] {
  const random = new Random(seed, -1);
  const plan: Disturbance[] = [];
  let kinds: (typeof disturbances)[number][] = [];
  for (let atMs = 5_000; ; atMs += everyMs * (0.3 + 1.4 * random.next())) {
    if (kinds.length === 0) kinds = shuffled(disturbances, random);
    const kind = kinds.pop()!;
    const forMs = kind === "freeze" ? freezeMs + random.below(10_000) : 500 + random.below(6_000);
    if (atMs + (kind === "freeze" ? forMs : 0) > seconds * 1_000) return plan;
    plan.push({ kind, atMs: Math.round(atMs), forMs, which: random.next() });
  }
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((each) => ({ each, place: random.next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ each }) => each);
}
