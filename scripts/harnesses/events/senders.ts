/** The senders of webhooks: they sign as the four services do, and send again until they are answered. */
import { createHash, createHmac } from "node:crypto";
import type { WebhookForm } from "../../../src/programs/events/stored-triggers.ts";

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

/** The name under which the queue has an event. */
export function eventName(form: WebhookForm, body: string, id: string): string {
  return createHash("sha256")
    .update(form === "standard" ? id : body)
    .digest("hex");
}

/** The secrets of the examples that the services have published. Stripe has published none. */
export const publishedSecrets: Record<WebhookForm, string> = {
  github: "It's a Secret to Everybody",
  stripe: "whsec_test_secret",
  slack: "8f742231b10e8888abcd99yyyzzz85a5",
  standard: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
};

export interface PublishedExample {
  form: WebhookForm;
  body: string;
  headers: Record<string, string>;
  /** The answer: the signature of GitHub is right, but its body is not JSON. The others are years old. */
  status: 415 | 404;
}

/** From the pages of the services, see test/serve/webhook-signatures.test.ts. */
export const publishedExamples: readonly PublishedExample[] = [
  {
    form: "github",
    body: "Hello, World!",
    headers: {
      "content-type": "text/plain",
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
    status: 415,
  },
  {
    form: "slack",
    body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
    status: 404,
  },
  {
    form: "standard",
    body: '{"test": 2432232314}',
    headers: {
      "content-type": "application/json",
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
    status: 404,
  },
];
