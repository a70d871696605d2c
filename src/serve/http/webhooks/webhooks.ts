/**
 * Webhooks: requests of other services, which start saved programs. A request costs little until its signature was checked: its address is looked
 * up, what comes to it is counted, and its body is read within a limit.
 */

import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { megabyte } from "../../../base/units.ts";
import type { Environment } from "../../../config/environment.ts";
import { offer } from "../../../programs/events/event-queue.ts";
import type { ScheduledPlace } from "../../../programs/saved/scheduler.ts";
import { executionHolder } from "../../../store/labels.ts";
import type { Store } from "../../../store/store.ts";
import { bytesOf } from "../body.ts";
import { HttpRefusal } from "../refusal.ts";
import { AddressBook, type Webhook } from "./address-book.ts";
import { bodyValue, checkAnswer, typeOf } from "./event-body.ts";
import { signedEvent } from "./signatures.ts";

/** Size of a body. */
const maxWebhookBytes = megabyte;

/** How long a request waits for the outcome of its program. Senders give up after 10 to 30 seconds. */
const resultMs = 9_000;

/** How often the outcome is looked for meanwhile. */
const resultLookMs = 100;

/** Seconds after which a sender tries again. */
const retrySeconds = "60";

export interface WebhooksOptions {
  env: Environment;
  store: Store;
  log: Log;
  places: () => Promise<readonly ScheduledPlace[]>;
  /** Called when something is in the queue. */
  onOffered: () => void;
}

export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #addresses = new AddressBook();

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  async answer(request: Request, address: string): Promise<Response> {
    const webhook = request.method === "POST" ? await this.#addresses.find(address, this.#options.places) : undefined;
    if (!webhook) return nothingHere();
    if (webhook === "unknown") return notYet("The database cannot be reached");
    using admitted = this.#addresses.admit(address, Date.now());
    if (!admitted) return tooMuch();
    const body = await bodyOf(request);
    if (body === "too large") return refusal(413, `The body may have at most ${maxWebhookBytes} bytes`);
    return body === undefined ? nothingHere() : this.#signed(request, body, webhook);
  }

  async #signed(request: Request, body: Buffer, webhook: Webhook): Promise<Response> {
    const { trigger } = webhook;
    const { form, answer } = trigger.on;
    const { log } = this.#options;
    const secret = await this.#secretOf(webhook);
    if (secret === undefined) return notYet("The secret of this address cannot be read");
    const signed = signedEvent(form, { headers: request.headers, body }, secret, Date.now());
    if (!signed) {
      log.info(`The trigger ${trigger.id} refused a request: its signature is wrong, missing or too old`);
      return nothingHere();
    }
    const value = bodyValue(body, request.headers.get("content-type"));
    if (value === undefined) return refusal(415, "The body must be JSON or a form, and not too heavy");
    const type = typeOf(form, request.headers, value);
    const check = checkAnswer(form, type, value);
    if (check) return check;
    const content = { kind: "webhook", from: form, ...(type === undefined ? {} : { type }), body: value };
    const { place } = webhook.place;
    const { store, onOffered } = this.#options;
    const { result, id } = await offer(trigger, { name: signed.event, content }, { place, store });
    if (result === "full") return tooMuch();
    if (result === "ignored") return Response.json({ ignored: "the filter leaves it out" }, { status: 202 });
    if (result === "added") onOffered();
    const known = result === "known" ? { known: true } : {};
    const done = answer === "result" ? await this.#resultOf(id, webhook, request.signal) : undefined;
    return done ?? Response.json({ delivery: id, ...known }, { status: 202 });
  }

  /** Undefined if it cannot be read. The log says why, and no request is accepted. */
  async #secretOf({ trigger }: Webhook): Promise<string | undefined> {
    const { env, log } = this.#options;
    const { referencedValue } = await import("../../../programs/events/referenced-value.ts");
    try {
      return await referencedValue(trigger.on.secret, "Its secret", env);
    } catch (error) {
      log.warn(`The trigger ${trigger.id}: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Undefined if the program has not ended in time. */
  async #resultOf(id: string, { place }: Webhook, signal: AbortSignal): Promise<Response | undefined> {
    const { deliveries, labels } = this.#options.store;
    for (const end = performance.now() + resultMs; performance.now() < end && !signal.aborted; ) {
      const { state, execution } = (await deliveries.get(id)) ?? {};
      if (state === "failed" || state === "dead") return Response.json({ delivery: id, ok: false }, { status: 500 });
      if (state === "done" && typeof execution === "string") {
        const { executions, parts } = await place.open();
        const outcome = await executions.stored.outcomeOf(execution, parts).catch(() => undefined);
        const read = await labels.of({ holders: [executionHolder(execution)] });
        // The sender is a stranger: private data does not leave in an answer.
        if (!outcome?.ok || read.some(({ label }) => label === "private"))
          return Response.json({ delivery: id, ok: true });
        return Response.json({ delivery: id, ok: true, value: outcome.value });
      }
      await Bun.sleep(resultLookMs);
    }
    return undefined;
  }
}

/** Undefined if the body ended early. */
async function bodyOf(request: Request): Promise<Buffer | "too large" | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxWebhookBytes) return "too large";
  try {
    return await bytesOf(request, maxWebhookBytes);
  } catch (error) {
    return error instanceof HttpRefusal && error.status === 413 ? "too large" : undefined;
  }
}

/** The same for an address that does not exist and for a wrong signature, so that nobody learns of addresses. */
function nothingHere(): Response {
  return refusal(404, "Nothing is served here for this request");
}

function tooMuch(): Response {
  return refusal(429, "Too much comes to this address: try again later", { "retry-after": retrySeconds });
}

/** Some senders do not send again after a 404. */
function notYet(why: string): Response {
  return refusal(503, `${why}: try again later`, { "retry-after": retrySeconds });
}

function refusal(status: number, error: string, headers: Record<string, string> = {}): Response {
  return Response.json(
    { error },
    { status, headers: { ...headers, ...(status === 413 ? { connection: "close" } : {}) } },
  );
}
