/** Sends one request to an address of the user's choice. Redirects are not followed. */
import { createHmac } from "node:crypto";
import { durationText } from "../../base/duration.ts";
import { version } from "../../base/version.ts";

/** Time for the address to answer. */
const webhookMs = 20_000;

interface Sent {
  /** The same in each attempt. */
  id: string;
  body: string;
  /** Milliseconds since 1970. */
  now: number;
  /** With it, the request is signed. */
  secret?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** `mayRetry`: the request did not arrive, or the receiver could not handle it now. */
export type SendEnd = { isSent: true } | { isSent: false; message: string; mayRetry: boolean };

/**
 * Sends the request as Standard Webhooks says. A request that was not answered may have arrived, so that it should not be sent again. The
 * message of a failure names the origin of the address, because the rest of it may be a secret.
 */
export async function sendWebhook(url: URL, { id, body, now, secret, headers: own = {} }: Sent): Promise<SendEnd> {
  const seconds = Math.floor(now / 1_000);
  const headers = {
    "content-type": "application/json",
    "user-agent": `claudikins/${version}`,
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    ...(secret === undefined ? {} : { "webhook-signature": signature(`${id}.${seconds}.${body}`, secret) }),
    ...own,
  };
  const signal = AbortSignal.timeout(webhookMs);
  let response: Response;
  try {
    response = await fetch(url, { method: "POST", body, headers, redirect: "manual", signal });
  } catch (error) {
    const isRefused = ["ConnectionRefused", "FailedToOpenSocket"].includes(String((error as { code?: unknown }).code));
    const why = signal.aborted ? `gave no answer within ${durationText(webhookMs)}` : "cannot be reached";
    return { isSent: false, message: `${url.origin} ${why}`, mayRetry: isRefused };
  }
  await response.body?.cancel();
  if (response.ok) return { isSent: true };
  const { status } = response;
  return { isSent: false, message: `${url.origin} answered ${status}`, mayRetry: status >= 500 || status === 429 };
}

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function signature(text: string, secret: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(text).digest("base64")}`;
}
