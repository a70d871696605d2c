/** One host of the soak test: it calls, cancels, disconnects, leaves, and checks every message it receives. */

import {
  eventsOf,
  executeRequest,
  type RawSession,
  rawSession,
  type SentEvent,
} from "../../test/support/http-serve.ts";
import type { Random } from "./random.ts";

/** The figures of all hosts together. */
export interface Figures {
  sessions: number;
  executions: number;
  cancelled: number;
  /** Connections that were cut during a call, whose answer was fetched later. */
  resumed: number;
  /** Connections whose client never returned. */
  abandoned: number;
  asked: number;
  messages: number;
  /** Unexpected errors. */
  errors: string[];
  /** Messages with another host's data. */
  leaks: string[];
}

export const noFigures = (): Figures => ({
  sessions: 0,
  executions: 0,
  cancelled: 0,
  resumed: 0,
  abandoned: 0,
  asked: 0,
  messages: 0,
  errors: [],
  leaks: [],
});

type Message = NonNullable<SentEvent["message"]>;

/** Longer than any step takes, even on a busy machine. */
const patienceMs = 60_000;

const form = (message: string) => ({
  method: "elicitation/create",
  params: { message, requestedSchema: { type: "object", properties: { mark: { type: "string" } } } },
});

export class SoakHost {
  readonly #url: string;
  readonly #name: number;
  readonly #random: Random;
  readonly #figures: Figures;
  /** Whether servers can send it requests; hosts without this share servers. */
  readonly #canBeAsked: boolean;
  /** A server on the network, or a program on this machine. */
  readonly #server: "asker" | "near";
  #session: RawSession | undefined;
  #listening = new AbortController();
  #generation = 0;
  #lastId = 10;

  constructor(url: string, name: number, random: Random, figures: Figures) {
    this.#url = url;
    this.#name = name;
    this.#random = random;
    this.#figures = figures;
    this.#canBeAsked = name % 5 !== 0;
    this.#server = name % 6 === 0 ? "near" : "asker";
  }

  async workUntil(deadline: number): Promise<void> {
    while (performance.now() < deadline) {
      try {
        await this.#act();
      } catch (error) {
        this.#fail(error instanceof Error ? error.message : String(error));
      }
    }
    this.#listening.abort();
    await this.#session?.end();
  }

  /** A text that must be in every message to this host, and in none to others. */
  get #mark(): string {
    return `<h${this.#name}g${this.#generation}>`;
  }

  async #act(): Promise<void> {
    if (!this.#session) return this.#begin();
    const chance = this.#random.next();
    if (chance < 0.4) return this.#execute();
    if (chance < 0.55 && this.#canBeAsked) return this.#beAsked();
    if (chance < 0.7) return this.#cancel();
    if (chance < 0.85) return this.#loseConnection();
    if (chance < 0.9) return this.#abandon();
    if (chance < 0.95) return this.#together();
    return this.#leave();
  }

  async #begin(): Promise<void> {
    this.#generation += 1;
    this.#listening = new AbortController();
    this.#session = await rawSession(this.#url, "2025-11-25", this.#canBeAsked ? { elicitation: {} } : {});
    this.#figures.sessions += 1;
    void this.#listen(this.#session, this.#mark, this.#listening.signal);
  }

  async #listen(session: RawSession, mark: string, signal: AbortSignal): Promise<void> {
    try {
      const response = await session.get(undefined, { signal });
      for await (const { message } of eventsOf(response)) if (message) await this.#hear(message, session, mark);
    } catch (error) {
      if (!signal.aborted) this.#fail(`listening: ${error}`);
    }
  }

  async #execute(): Promise<void> {
    const ms = this.#random.below(60);
    const size = this.#random.chance(0.1) ? 100_000 : 10;
    await this.#expect(
      `await asker.wait({ ms: ${ms} }); const all = "x".repeat(${size}); return MARK + all.slice(-1)`,
      "x",
    );
  }

  async #beAsked(): Promise<void> {
    await this.#expect(`return (await asker.ask(${JSON.stringify(form(this.#mark))})).result.content.mark`, "");
  }

  async #together(): Promise<void> {
    await Promise.all([this.#execute(), this.#canBeAsked ? this.#beAsked() : this.#execute(), this.#cancel()]);
  }

  async #cancel(): Promise<void> {
    const session = this.#session!;
    const id = this.#nextId();
    const response = await this.#post(session, id, "await asker.wait({ ms: 600_000 }); return MARK");
    await Bun.sleep(this.#random.below(200));
    await session.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } });
    const answer = await this.#answer(response, session, id);
    if (answer.result !== undefined) this.#fail(`an answer to what was cancelled: ${answer.result}`);
    this.#figures.cancelled += 1;
  }

  /** Disconnects one or more times, until the answer arrives. */
  async #loseConnection(): Promise<void> {
    const session = this.#session!;
    const id = this.#nextId();
    let cut = new AbortController();
    let last = "";
    let answer: Answer = {};
    let response = await this.#post(session, id, "await asker.wait({ ms: 150 }); return MARK", cut.signal);
    for (let round = 0; answer.result === undefined; round++) {
      if (round > 0) {
        cut = new AbortController();
        response = await session.get(last, { signal: cut.signal });
        if (response.status !== 200) throw new Error(`${response.status} for a client that comes back`);
      }
      const timer = round < 3 ? setTimeout(() => cut.abort(), this.#random.below(120)) : undefined;
      answer = await this.#answer(response, session, id, (event) => {
        last = event.id ?? last;
      }).catch((error: unknown) => {
        if (cut.signal.aborted) return {};
        throw error;
      });
      clearTimeout(timer);
      if (round >= 3 && answer.result === undefined) throw new Error("no answer for a client that came back");
      // Without a first event, the stream cannot be resumed.
      if (last === "") return;
    }
    this.#check(answer.result, this.#mark);
    this.#figures.resumed += 1;
  }

  async #abandon(): Promise<void> {
    const cut = new AbortController();
    const response = await this.#post(
      this.#session!,
      this.#nextId(),
      "await asker.wait({ ms: 100 }); return MARK",
      cut.signal,
    );
    cut.abort();
    await response.text().catch(() => {});
    this.#figures.abandoned += 1;
  }

  /** Leaves with DELETE, during a call, or without notice. */
  async #leave(): Promise<void> {
    const session = this.#session!;
    this.#listening.abort();
    this.#session = undefined;
    if (this.#random.chance(0.3)) return;
    const running = this.#random.chance(0.5)
      ? await this.#post(session, this.#nextId(), "await asker.wait({ ms: 600_000 }); return MARK")
      : undefined;
    const { status } = await session.end();
    if (status !== 200) this.#fail(`${status} for the end of a session`);
    await running?.text();
  }

  async #expect(code: string, rest: string): Promise<void> {
    const session = this.#session!;
    const id = this.#nextId();
    const { result } = await this.#answer(await this.#post(session, id, code), session, id);
    this.#check(result, `${this.#mark}${rest}`);
    this.#figures.executions += 1;
  }

  #check(result: string | undefined, expected: string): void {
    if (result !== expected) this.#fail(`${expected} was expected, and there came ${result?.slice(0, 300)}`);
  }

  async #post(session: RawSession, id: number, code: string, signal?: AbortSignal): Promise<Response> {
    const source = code.replaceAll("MARK", JSON.stringify(this.#mark)).replaceAll("asker.", `${this.#server}.`);
    const message = executeRequest(id, source, { _meta: { progressToken: `${this.#mark}${id}` } });
    const response = await session.post(message, signal ? { signal } : {});
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return response;
  }

  /** The stream's answer to the request, or undefined if it ended without one. */
  async #answer(response: Response, session: RawSession, id: number, onEvent = (_: SentEvent) => {}): Promise<Answer> {
    const mark = this.#mark;
    const reading = async (): Promise<Answer> => {
      for await (const event of eventsOf(response)) {
        onEvent(event);
        const { message } = event;
        if (!message) continue;
        await this.#hear(message, session, mark);
        if (message.id !== id) continue;
        if (message.error) throw new Error(`an error: ${JSON.stringify(message.error)}`);
        if (message.result) return { result: message.result.content[0]!.text.replace(/\n\n\[[^\n]*\]$/, "") };
      }
      return {};
    };
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error(`no answer for ${patienceMs / 1_000} s`)), patienceMs);
    return Promise.race([reading(), late.promise]).finally(() => clearTimeout(timer));
  }

  async #hear(message: Message, session: RawSession, mark: string): Promise<void> {
    this.#figures.messages += 1;
    const text = JSON.stringify(message);
    for (const [found] of text.matchAll(/<h\d+g\d+>/g)) {
      if (found !== mark) this.#figures.leaks.push(`${mark} was sent ${text.slice(0, 300)}`);
    }
    if (message.method === "ping") await session.post({ jsonrpc: "2.0", id: message.id, result: {} });
    if (message.method !== "elicitation/create") return;
    this.#figures.asked += 1;
    const result = { action: "accept", content: { mark } };
    await session.post({ jsonrpc: "2.0", id: message.id, result });
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #fail(what: string): void {
    this.#figures.errors.push(`${this.#mark} ${what}`);
  }
}

interface Answer {
  result?: string;
}
