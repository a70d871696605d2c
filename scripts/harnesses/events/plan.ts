/** What happens in one round, determined by its seed and its number. */
import { createHmac } from "node:crypto";
import { type WebhookForm, webhookForms } from "../../../src/programs/events/triggers.ts";
import { Random } from "../random.ts";

/** Webhooks of one round. */
const mostWebhooks = 12;

/** Files of one round. */
const mostFiles = 4;

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
export const attacks = ["wrong signature", "old time", "unknown address", "too large"] as const;

export interface Plan {
  webhooks: PlannedWebhook[];
  files: { name: string; afterMs: number }[];
  attacks: { kind: (typeof attacks)[number]; form: WebhookForm; afterMs: number }[];
  /** Which process is killed, and when. It is started again. */
  kills: { process: "serve" | "daemon"; afterMs: number }[];
}

export function planOf(seed: number, index: number): Plan {
  const random = new Random(seed, index);
  const spanMs = 6_000;
  const list = <T>(count: number, make: (place: number) => T) =>
    Array.from({ length: count }, (_, place) => make(place));
  return {
    webhooks: list(3 + random.below(mostWebhooks - 2), (place) => ({
      id: `w${place}`,
      form: random.pick(webhookForms),
      kind: random.pick(["acts", "acts", "acts", ...kinds]),
      times: 1 + random.below(3),
      afterMs: random.below(spanMs),
    })),
    files: list(1 + random.below(mostFiles), (place) => ({ name: `f${place}.txt`, afterMs: random.below(spanMs) })),
    attacks: list(2 + random.below(5), () => ({
      kind: random.pick(attacks),
      form: random.pick(webhookForms),
      afterMs: random.below(spanMs),
    })),
    kills: list(1 + random.below(4), () => ({
      process: random.pick(["serve", "serve", "daemon"] as const),
      afterMs: 500 + random.below(spanMs),
    })),
  };
}

/** The headers with which a sender signs a body. */
export function signedHeaders(form: WebhookForm, secret: string, body: string, id: string, atMs: number) {
  const time = String(Math.floor(atMs / 1_000));
  const hmac = (text: string, key: string | Buffer = secret) => createHmac("sha256", key).update(text);
  const of: Record<WebhookForm, () => Record<string, string>> = {
    github: () => ({ "x-hub-signature-256": `sha256=${hmac(body).digest("hex")}`, "x-github-event": "issues" }),
    stripe: () => ({ "stripe-signature": `t=${time},v1=${hmac(`${time}.${body}`).digest("hex")}` }),
    slack: () => ({
      "x-slack-request-timestamp": time,
      "x-slack-signature": `v0=${hmac(`v0:${time}:${body}`).digest("hex")}`,
    }),
    standard: () => {
      const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
      const signature = hmac(`${id}.${time}.${body}`, key).digest("base64");
      return { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": `v1,${signature}` };
    },
  };
  return { "content-type": "application/json", ...of[form]() };
}
