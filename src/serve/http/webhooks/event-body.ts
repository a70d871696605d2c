/** The body of a webhook as an event: JSON, or a form. */
import { isUtf8 } from "node:buffer";
import { parsedExact } from "../../../base/exact-json.ts";
import { isObject, type JsonObject, parsedJson } from "../../../base/json-object.ts";
import { tooHeavy } from "../../../base/json-weight.ts";
import type { WebhookForm } from "../../../programs/events/stored-triggers.ts";

/** Fields of a form. */
const maxFields = 1_000;

/** Characters of the name that a sender gives a kind of event. */
const maxTypeChars = 100;

/** Undefined for a body that is neither, or that takes long to read. */
export function bodyValue(bytes: Buffer, contentType: string | null): unknown {
  if (!isUtf8(bytes)) return undefined;
  const type = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  if (type === "application/x-www-form-urlencoded") return formValue(bytes.toString());
  const isJson = type === "application/json" || type.endsWith("+json");
  if (!isJson || tooHeavy(bytes) !== undefined) return undefined;
  return parsedExact(bytes.toString());
}

/** A field that is there several times is a list. GitHub and Slack put JSON into the field `payload`. */
function formValue(text: string): JsonObject | undefined {
  const fields = new Map<string, string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(text)) {
    count += 1;
    if (count > maxFields) return undefined;
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  const payload = fields.size === 1 ? fields.get("payload") : undefined;
  const parsed = payload?.length === 1 && tooHeavy(Buffer.from(payload[0]!)) === undefined && parsedJson(payload[0]!);
  if (isObject(parsed)) return parsed;
  return Object.fromEntries([...fields].map(([name, all]) => [name, all.length === 1 ? all[0] : all]));
}

/** The name that the sender gives this kind of event, such as `issues` or `invoice.paid`. */
export function typeOf(form: WebhookForm, headers: Pick<Headers, "get">, body: unknown): string | undefined {
  const { type, event, command } = isObject(body) ? body : {};
  const inner = isObject(event) ? event["type"] : undefined;
  const found =
    form === "github" ? headers.get("x-github-event") : form === "slack" ? (inner ?? command ?? type) : type;
  return typeof found === "string" ? found.slice(0, maxTypeChars) : undefined;
}

/** The sender checks whether the address answers: nothing is started. Undefined for an event. */
export function checkAnswer(form: WebhookForm, type: string | undefined, body: unknown): Response | undefined {
  const { challenge } = isObject(body) ? body : {};
  if (form === "slack" && type === "url_verification") {
    return new Response(String(challenge ?? ""), { headers: { "content-type": "text/plain; charset=utf-8" } });
  }
  const isCheck =
    (form === "github" && type === "ping") || (form === "stripe" && type === "v2.core.event_destination.ping");
  return isCheck ? Response.json({ ok: true }) : undefined;
}
