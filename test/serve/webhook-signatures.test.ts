/** Signatures of webhooks: the examples that senders have published, and what must be refused. */

import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { bodyValue, checkAnswer, typeOf } from "../../src/serve/http/webhooks/event-body.ts";
import { signedEvent } from "../../src/serve/http/webhooks/signatures.ts";

interface Example {
  form: Parameters<typeof signedEvent>[0];
  secret: string;
  body: string;
  headers: Record<string, string>;
  /** Milliseconds since 1970. */
  now: number;
}

const hmac = (secret: string | Buffer, text: string, as: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(text).digest(as);

/** https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries */
const github: Example = {
  form: "github",
  secret: "It's a Secret to Everybody",
  body: "Hello, World!",
  headers: { "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17" },
  now: 0,
};

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const slack: Example = {
  form: "slack",
  secret: "8f742231b10e8888abcd99yyyzzz85a5",
  body: "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
  headers: {
    "x-slack-request-timestamp": "1531420618",
    "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
  },
  now: 1_531_420_618_000,
};

/** https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
const standard: Example = {
  form: "standard",
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  now: 1_614_265_330_000,
};

/** Made as https://docs.stripe.com/webhooks/signature says: Stripe has published the form and no example with a secret. */
const stripe: Example = {
  form: "stripe",
  secret: "whsec_test_secret",
  body: '{"id":"evt_1","type":"invoice.paid"}',
  headers: {
    "stripe-signature": `t=1492774577,v1=${hmac("whsec_test_secret", '1492774577.{"id":"evt_1","type":"invoice.paid"}')},v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39`,
  },
  now: 1_492_774_577_000,
};

const check = ({ form, secret, body, headers, now }: Example) =>
  signedEvent(form, { headers: new Headers(headers), body: Buffer.from(body) }, secret, now);

describe.each([github, slack, standard, stripe])("a request as $form signs it", (example) => {
  const [[header = "", value = ""] = []] = Object.entries(example.headers).filter(([name]) =>
    name.includes("signature"),
  );

  test("is accepted, and the same event has the same name", () => {
    expect(check(example)).toEqual({ event: expect.stringMatching(/^[\da-f]{64}$/) });
    expect(check(example)).toEqual(check({ ...example })!);
  });

  test("is refused with another body, another secret and another signature", () => {
    expect(check({ ...example, body: `${example.body} ` })).toBeUndefined();
    expect(check({ ...example, secret: `${example.secret}BBBB` })).toBeUndefined();
    expect(check({ ...example, secret: "" })).toBeUndefined();
    for (const other of [
      "",
      "sha256=",
      "v0=",
      "t=1,v1=",
      "v1,",
      value.replace(/v1=|v0=|sha256=|v1,/, "$&A"),
      value.replaceAll(/[\da-f]/g, "0"),
    ]) {
      expect(check({ ...example, headers: { ...example.headers, [header]: other } })).toBeUndefined();
    }
    expect(check({ ...example, headers: {} })).toBeUndefined();
  });
});

test.each([slack, standard, stripe])("a time that is more than five minutes away is refused ($form)", (example) => {
  for (const ms of [299_000, -299_000]) expect(check({ ...example, now: example.now + ms })).toBeDefined();
  for (const ms of [301_000, -301_000]) expect(check({ ...example, now: example.now + ms })).toBeUndefined();
});

test("one of several signatures is enough, and only some are looked at", () => {
  const wrong = "v1,AAAA";
  const { headers } = standard;
  const right = headers["webhook-signature"]!;
  const withAll = (all: string[]) =>
    check({ ...standard, headers: { ...headers, "webhook-signature": all.join(" ") } });
  expect(withAll([wrong, right])).toBeDefined();
  expect(withAll([...Array.from({ length: 10 }, () => wrong), right])).toBeUndefined();
});

describe("the body of a webhook", () => {
  test("a body of JSON or of a form is a value, and others are refused", () => {
    const value = (text: string | Buffer, type: string | null) => bodyValue(Buffer.from(text), type);
    expect(value('{"a":[1]}', "application/json; charset=utf-8")).toEqual({ a: [1] });
    expect(value('{"a":1}', "application/cloudevents+json")).toEqual({ a: 1 });
    expect(value("a=1&b=2&a=3", "application/x-www-form-urlencoded")).toEqual({ a: ["1", "3"], b: "2" });
    expect(value(`payload=${encodeURIComponent('{"x":1}')}`, "application/x-www-form-urlencoded")).toEqual({ x: 1 });
    expect(value("payload=text", "application/x-www-form-urlencoded")).toEqual({ payload: "text" });
    expect(value("__proto__=1", "application/x-www-form-urlencoded")).not.toEqual({});
    for (const [text, type] of [
      ["{", "application/json"],
      ["{}", "text/plain"],
      ["{}", null],
      [Buffer.from([0xff, 0xfe]), "application/json"],
      ["[".repeat(100_000), "application/json"],
      ["a=1&".repeat(2_000), "application/x-www-form-urlencoded"],
    ] as const) {
      expect(value(text, type)).toBeUndefined();
    }
  });

  test("the kind of an event has the name that its sender gives it", () => {
    const none = new Headers();
    expect(typeOf("github", new Headers({ "x-github-event": "issues" }), {})).toBe("issues");
    expect(typeOf("stripe", none, { type: "invoice.paid" })).toBe("invoice.paid");
    expect(typeOf("slack", none, { type: "event_callback", event: { type: "app_mention" } })).toBe("app_mention");
    expect(typeOf("slack", none, { command: "/go" })).toBe("/go");
    expect(typeOf("standard", none, { type: "user.created" })).toBe("user.created");
    expect(typeOf("standard", none, "text")).toBeUndefined();
  });

  test("a request that only checks the address is answered", async () => {
    const asked = checkAnswer("slack", "url_verification", { challenge: "3eZbrw1a" });
    expect(await asked?.text()).toBe("3eZbrw1a");
    expect(checkAnswer("github", "ping", {})?.status).toBe(200);
    expect(checkAnswer("stripe", "v2.core.event_destination.ping", {})?.status).toBe(200);
    expect(checkAnswer("stripe", "invoice.paid", {})).toBeUndefined();
  });
});
