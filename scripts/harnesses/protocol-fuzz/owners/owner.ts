/** One owner at the replicas: a token or a person, with sessions, texts with the owner's mark, and a look at everything that the owner gets. */
import { eventsOf, json, rawSession, type SentEvent } from "../../../../test/support/http-serve.ts";
import { envelope, modernVersion } from "../../../../test/support/modern-host.ts";
import { PersonHosts } from "../../../../test/support/person-hosts.ts";
import type { Random } from "../../random.ts";
import { type NewText, textsOf, watched } from "../../team-storm/marks.ts";
import { ownersIn } from "./marks.ts";
import type { OwnersSite } from "./site.ts";

export interface OwnerOptions {
  number: number;
  site: OwnersSite;
  door: string;
  /** How the command line names the owner. */
  id: string;
  token: string;
  /** The person's subject at the provider. Undefined for a token. */
  subject?: string;
}

export type Message = NonNullable<SentEvent["message"]>;

interface Session {
  id: string;
  /** Where it was begun. */
  replica: number;
  canBeAsked: boolean;
}

/** Honest requests are answered within this time. */
const lateMs = 30_000;

const version = "2025-11-25";

export class Owner {
  readonly number: number;
  readonly site: OwnersSite;
  readonly door: string;
  readonly id: string;
  readonly subject: string | undefined;
  readonly text: NewText;
  readonly headers: { authorization: string };
  /** The marks that the owner's saved programs return, by their names. */
  readonly saved = new Map<string, string>();
  /** The session of honest requests, which is used at every replica. */
  #session: Promise<Session> | undefined;
  #cookies: Map<string, string> | undefined;
  #lastId = 10;

  constructor({ number, site, door, id, token, subject }: OwnerOptions) {
    this.number = number;
    this.site = site;
    this.door = door;
    this.id = id;
    this.subject = subject;
    this.text = textsOf(number);
    this.headers = { authorization: `Bearer ${token}` };
  }

  /** Looks for data of others in what the owner got. */
  got(text: string, what: string): void {
    const others = [...ownersIn(text)].filter((each) => each !== this.number);
    if (others.length === 0) return;
    const place = text.search(new RegExp(`p${others[0]}\\b`));
    const shown = text.slice(Math.max(0, place - 200), place + 200);
    this.site.fail(`owner ${this.number} (${this.id}) got data of owner ${others.join(", ")} in ${what}`, shown);
  }

  /** Sends a request to a replica as this owner, and looks at the whole answer as it is read. */
  async fetch(replica: number, path: string, init: RequestInit & { what?: string } = {}): Promise<Response> {
    const { what = `${init.method ?? "GET"} ${path}`, ...more } = init;
    const headers = { ...this.headers, ...(more.headers as Record<string, string> | undefined) };
    const response = await fetch(new URL(path, this.site.originOf(replica)), { redirect: "manual", ...more, headers });
    this.got(JSON.stringify([...response.headers]), what);
    if (!response.body) return response;
    return new Response(
      watched(response.body, (text) => this.got(text, what)),
      response,
    );
  }

  /** The session of this owner, which `canBeAsked` or not. The one before is ended if it is another kind. */
  async session(random: Random, canBeAsked?: boolean): Promise<Session> {
    const session = await this.#session;
    if (session && session.canBeAsked === (canBeAsked ?? session.canBeAsked)) return session;
    await this.leave();
    // Several may wait for the same one.
    this.#session ??= this.#begin(random, canBeAsked ?? false);
    return await this.#session;
  }

  async #begin(random: Random, canBeAsked: boolean): Promise<Session> {
    const replica = random.below(this.site.replicas.length);
    const url = new URL(`/${this.door}`, this.site.originOf(replica)).href;
    const capabilities = canBeAsked ? { elicitation: { form: {} } } : {};
    const { id } = await rawSession(url, version, capabilities, "owner", this.headers);
    this.site.knows({ kind: "session", of: this.number, id, replica });
    return { id, replica, canBeAsked };
  }

  /** Ends the session. Others may know its id from then on. */
  async leave(): Promise<void> {
    const leaving = this.#session;
    this.#session = undefined;
    const session = await leaving?.catch(() => undefined);
    if (!session) return;
    const { id, replica } = session;
    const ended = await this.fetch(replica, `/${this.door}`, { method: "DELETE", headers: sessionHeaders(id) });
    await ended.text();
    this.site.forget(id);
    this.site.knows({ kind: "ended session", of: this.number, id, replica });
  }

  /** The answer to a request in the owner's session, at any replica. Questions meanwhile are answered, and approvals are refused. */
  async ask(random: Random, method: string, params: object, canBeAsked?: boolean): Promise<Message> {
    const session = await this.session(random, canBeAsked);
    this.#lastId += 1;
    const body = JSON.stringify({ jsonrpc: "2.0", id: this.#lastId, method, params });
    const headers = sessionHeaders(session.id);
    const replica = random.below(this.site.replicas.length);
    const signal = AbortSignal.timeout(lateMs);
    const response = await this.fetch(replica, `/${this.door}`, {
      method: "POST",
      headers,
      body,
      signal,
      what: method,
    });
    if (!response.ok) throw new Error(`${method} was answered with ${response.status}: ${await response.text()}`);
    for await (const { id, message } of eventsOf(response)) {
      if (id !== undefined) this.site.knows({ kind: "event", of: this.number, id, replica });
      if (message?.method !== undefined && message.id !== undefined) await this.#answer(session, message, random);
      else if (message?.id === this.#lastId) return message;
    }
    throw new Error(`the stream of ${method} has ended without an answer`);
  }

  /** The text of the result of `execute_code`, without its receipt. */
  async execute(random: Random, args: object, canBeAsked?: boolean): Promise<string> {
    const message = await this.ask(random, "tools/call", { name: "execute_code", arguments: args }, canBeAsked);
    return textOf(message);
  }

  /** The answer to a request of 2026-07-28, without a session. */
  async modern(random: Random, method: string, params: Record<string, unknown>, capabilities: object = {}) {
    const replica = random.below(this.site.replicas.length);
    const target = params["name"] ?? params["taskId"];
    this.#lastId += 1;
    const headers = {
      ...json,
      "mcp-protocol-version": modernVersion,
      "mcp-method": method,
      ...(typeof target === "string" ? { "mcp-name": target } : {}),
    };
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: this.#lastId,
      method,
      params: { ...params, _meta: envelope(capabilities, "owner") },
    });
    const signal = AbortSignal.timeout(lateMs);
    const response = await this.fetch(replica, `/${this.door}`, {
      method: "POST",
      headers,
      body,
      signal,
      what: method,
    });
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
      return (await response.json()) as Message;
    }
    for await (const { message } of eventsOf(response)) {
      if (message?.id === this.#lastId) return message;
    }
    throw new Error(`the stream of ${method} has ended without an answer`);
  }

  /** Reads the session's stream of notifications until the signal. */
  async listen(random: Random, signal: AbortSignal): Promise<void> {
    const { id } = await this.session(random);
    const replica = random.below(this.site.replicas.length);
    const headers = { ...sessionHeaders(id), accept: "text/event-stream" };
    const response = await this.fetch(replica, `/${this.door}`, { headers, signal, what: "the stream of the session" });
    await response.text();
  }

  /** Something of the page, as the browser of the person that has signed in gets it. */
  async page(path: string, init: RequestInit = {}): Promise<Response> {
    const origin = this.site.originOf(0);
    if (!this.#cookies) {
      const cookies = new Map<string, string>();
      await new PersonHosts(origin, () => this.site.provider).browse(`${origin}/ui/`, cookies, this.subject ?? "");
      this.#cookies = cookies;
    }
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, "sec-fetch-site": "same-origin", "content-type": "application/json" };
    return await this.fetch(0, `/ui/${path}`, { ...init, headers: { ...headers, authorization: "" } });
  }

  async #answer({ id: session }: Session, { id, method, params }: Message, random: Random): Promise<void> {
    const isOwn = String(params?.["message"]).startsWith("[owned]") || /Which one/.test(String(params?.["message"]));
    const result = isOwn ? { action: "accept", content: { answer: this.text() } } : { action: "decline" };
    const error = { code: -32_601, message: "no" };
    const answer = method === "elicitation/create" ? { result } : { error };
    const body = JSON.stringify({ jsonrpc: "2.0", id, ...answer });
    const replica = random.below(this.site.replicas.length);
    const headers = sessionHeaders(session);
    await (await this.fetch(replica, `/${this.door}`, { method: "POST", headers, body, what: "an answer" })).text();
  }
}

export function sessionHeaders(id: string): Record<string, string> {
  return { ...json, "mcp-session-id": id, "mcp-protocol-version": version };
}

/** The first text of a result, or its error. */
export function textOf({ result, error }: { result?: unknown; error?: unknown }): string {
  const { content } = Object(result) as { content?: { text?: string }[] };
  const text = content?.[0]?.text ?? JSON.stringify(error ?? result ?? null);
  return text.replace(/\n\n\[[^\n]*\]$/, "");
}
