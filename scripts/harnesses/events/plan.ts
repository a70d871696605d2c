/** What happens in one round, determined by its seed and its number. */

import { hourMs, minuteMs } from "../../../src/base/units.ts";
import { type WebhookForm, webhookForms } from "../../../src/programs/events/stored-triggers.ts";
import { Random } from "../random.ts";

/** Webhooks of one round. */
const mostWebhooks = 10;

/** Time in which events come and processes fail. */
const spanMs = 5_000;

/** Longer than the time after which another process begins what one has claimed, and longer than the lease of a replica. */
const freezes = { short: 7_000, long: 17_000 };

/** The steps of a clock, both ways. */
const steps = [-hourMs, -90_000, -7_000, 7_000, minuteMs, 0.5 * hourMs, 2 * hourMs] as const;

/** How a program takes an event: it calls something and succeeds, fails after a call that changes something, or fails before any. */
export const kinds = ["acts", "breaks", "refuses"] as const;
export type Kind = (typeof kinds)[number];

export interface PlannedWebhook {
  id: string;
  form: WebhookForm;
  kind: Kind;
  /** How often it is sent, as senders do that get no answer. */
  times: number;
  afterMs: number;
}

/** What nobody with the secret sends. */
export const attacks = ["wrong signature", "old time", "unknown address", "too large", "published"] as const;

export interface PlannedAttack {
  kind: (typeof attacks)[number];
  form: WebhookForm;
  afterMs: number;
}

/** What a round disturbs. `which` is the process, as a share of their number. */
export type Disturbance = { atMs: number; which: number } & (
  | { kind: "kill" | "restart of the database" | "cut" }
  | { kind: "freeze"; forMs: number }
  | { kind: "clock"; byMs: number; isEverywhere: boolean }
);

/** `single`: a user with `serve --http` and the daemon. `team`: replicas and a daemon with one Postgres. */
export type Shape = "single" | "team";

export interface Plan {
  index: number;
  shape: Shape;
  webhooks: PlannedWebhook[];
  /** Events that come at once for the program with a limit per minute. */
  burst: number;
  files: { name: string; afterMs: number }[];
  /** Updates that the server announces. */
  updates: { afterMs: number }[];
  /** Tools that the server adds. */
  tools: { name: string; afterMs: number }[];
  attacks: PlannedAttack[];
  disturbances: Disturbance[];
  /** Failing deliveries are left alone until they are dead, and begun again by their user then. */
  isPatient: boolean;
}

export function planOf(seed: number, index: number): Plan {
  const random = new Random(seed, index);
  const shape = index % 2 === 0 ? "single" : "team";
  const at = () => random.below(spanMs);
  const list = <T>(count: number, make: (place: number) => T) =>
    Array.from({ length: count }, (_, place) => make(place));
  return {
    index,
    shape,
    webhooks: list(3 + random.below(mostWebhooks - 2), (place) => ({
      id: `${index}.w${place}`,
      form: random.pick(webhookForms),
      kind: random.pick(["acts", "acts", "acts", ...kinds]),
      times: 1 + random.below(3),
      afterMs: at(),
    })),
    burst: random.chance(0.3) ? 4 + random.below(4) : 0,
    files: list(1 + random.below(3), (place) => ({ name: `${index}.f${place}.txt`, afterMs: at() })),
    updates: list(1 + random.below(3), () => ({ afterMs: at() })),
    tools: list(random.below(3), (place) => ({ name: `tool_${index}_${place}`, afterMs: at() })),
    attacks: list(2 + random.below(4), () => ({
      kind: random.pick(attacks),
      form: random.pick(webhookForms),
      afterMs: at(),
    })),
    disturbances: list(1 + random.below(4), () => disturbanceOf(shape, random)),
    isPatient: random.chance(0.15),
  };
}

function disturbanceOf(shape: Shape, random: Random): Disturbance {
  const usual = ["kill", "kill", "kill", "freeze", "clock"] as const;
  const kind = random.pick([...usual, ...(shape === "team" ? (["restart of the database", "cut"] as const) : [])]);
  const common = { atMs: 300 + random.below(spanMs), which: random.next() };
  if (kind === "freeze") {
    const isLong = shape === "team" && random.chance(0.25);
    return { ...common, kind, forMs: isLong ? freezes.long : 500 + random.below(freezes.short) };
  }
  if (kind === "clock") return { ...common, kind, byMs: random.pick(steps), isEverywhere: random.chance(0.5) };
  return { ...common, kind };
}
