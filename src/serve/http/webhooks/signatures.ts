/** Checks the signatures of webhooks: as GitHub, Stripe, Slack and the Standard Webhooks specification define them. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { minuteMs } from "../../../base/units.ts";
import type { WebhookForm } from "../../../programs/events/stored-triggers.ts";

/** How far the time in a signature may be from ours. All of these senders name five minutes. */
const maxSkewMs = 5 * minuteMs;

/** Signatures in one header that are looked at: senders give several while a secret is changed. */
const maxSignatures = 10;

/** What was sent. */
export interface SignedRequest {
  headers: Pick<Headers, "get">;
  body: Uint8Array;
}

export interface SignedEvent {
  /** What the event is called: always the same for what is signed, so that it starts nothing twice. */
  event: string;
}

type Check = (request: SignedRequest, secret: string, now: number) => SignedEvent | undefined;

/** Undefined if the request was not signed with the secret, or its time is too far from `now`, in milliseconds since 1970. */
export function signedEvent(
  form: WebhookForm,
  request: SignedRequest,
  secret: string,
  now: number,
): SignedEvent | undefined {
  return checks[form](request, secret, now);
}

const checks: Record<WebhookForm, Check> = {
  /** It signs the body and no time. */
  github({ headers, body }, secret) {
    const given = [/^sha256=([\da-f]{64})$/i.exec(headers.get("x-hub-signature-256") ?? "")?.[1] ?? ""];
    return isAmong(given, "hex", hmac(secret, [body])) ? { event: digestOf(body) } : undefined;
  },
  stripe({ headers, body }, secret, now) {
    const parts = (headers.get("stripe-signature") ?? "").split(",").map((part) => part.trim().split("=", 2));
    const time = parts.find(([name]) => name === "t")?.[1] ?? "";
    if (!isNear(time, now)) return undefined;
    const given = parts.filter(([name]) => name === "v1").map(([, signature = ""]) => signature);
    return isAmong(given, "hex", hmac(secret, [`${time}.`, body])) ? { event: digestOf(body) } : undefined;
  },
  slack({ headers, body }, secret, now) {
    const time = headers.get("x-slack-request-timestamp") ?? "";
    if (!isNear(time, now)) return undefined;
    const given = [/^v0=([\da-f]{64})$/i.exec(headers.get("x-slack-signature") ?? "")?.[1] ?? ""];
    return isAmong(given, "hex", hmac(secret, [`v0:${time}:`, body])) ? { event: digestOf(body) } : undefined;
  },
  /** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
  standard({ headers, body }, secret, now) {
    const id = headers.get("webhook-id") ?? "";
    const time = headers.get("webhook-timestamp") ?? "";
    if (id === "" || !isNear(time, now)) return undefined;
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const all = (headers.get("webhook-signature") ?? "").split(" ").map((part) => part.split(",", 2));
    const given = all.filter(([version]) => version === "v1").map(([, signature = ""]) => signature);
    return isAmong(given, "base64", hmac(key, [`${id}.${time}.`, body])) ? { event: digestOf(id) } : undefined;
  },
};

function digestOf(signed: string | Uint8Array): string {
  return createHash("sha256").update(signed).digest("hex");
}

function hmac(key: string | Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const made = createHmac("sha256", key);
  for (const part of parts) made.update(part);
  return made.digest();
}

/** Compares in a time that does not depend on where the signatures differ. */
function isAmong(given: readonly string[], encoding: "hex" | "base64", expected: Buffer): boolean {
  let isFound = false;
  for (const each of given.slice(0, maxSignatures)) {
    const bytes = Buffer.from(each, encoding);
    if (bytes.length === expected.length && timingSafeEqual(bytes, expected)) isFound = true;
  }
  return isFound;
}

/** `seconds` since 1970, as senders write it. */
function isNear(seconds: string, now: number): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1_000 - now) <= maxSkewMs;
}
