/** One person of the storm: an agent, a browser, and what belongs to the person. */
import { type Cookies, PersonHosts } from "../../../test/support/person-hosts.ts";
import type { Random } from "../random.ts";
import { type Agent, type Answer, type CallOptions, type Era, eras, openAgent } from "./agent.ts";
import { kindOfText, kindOfThrown } from "./errors.ts";
import { type NewText, textsOf, watched } from "./marks.ts";
import type { Oracle } from "./oracle.ts";
import { doorOf, type Site, subjectOf } from "./site.ts";

/** Access tokens are used for this time, so that they outlive the longest request by far. */
const tokenUsedMs = 60_000;

/**
 * The line of an answer that says which file two programs have written. A program whose files could not be kept leaves them to the next one,
 * which may run after others have written the same file.
 */
const conflictLine = /\n\nLogs:\n\.\/workspace\/\S+ was changed by another program at the same time: [^\n]+$/;

/** How often an agent asks for the outcome of one program. */
const maxResumed = 5;

export class Person {
  readonly number: number;
  readonly random: Random;
  readonly site: Site;
  readonly oracle: Oracle;
  readonly door: "qa" | "ops";
  /** New texts with the mark of the person. */
  readonly text: NewText;
  readonly hosts: PersonHosts;
  /** What the person's files have: one of these texts. */
  readonly files = new Map<string, Set<string>>();
  cookies: Cookies = new Map();
  #agent: Agent | undefined;
  #connecting: Promise<Agent> | undefined;
  #token: { text: Promise<string>; at: number } | undefined;
  /** The text with which the person answers a question. */
  answer = "";
  #lastId = 0;

  constructor(number: number, random: Random, site: Site, oracle: Oracle) {
    this.number = number;
    this.random = random;
    this.site = site;
    this.oracle = oracle;
    this.door = doorOf(number);
    this.text = textsOf(number);
    this.hosts = new PersonHosts(site.balancer.origin, () => site.provider);
  }

  get subject(): string {
    return subjectOf(this.number);
  }

  /** The key of a call that the person is about to make. */
  key(options: { isRepeatable?: boolean } = {}): string {
    const key = this.text();
    this.oracle.calls(this.number, key, options);
    return key;
  }

  /** The same for the server `near`, whose keys are numbers. */
  nearKey(options: { isRepeatable?: boolean } = {}): number {
    this.#lastId += 1;
    const key = (this.number + 1) * 1_000_000 + this.#lastId;
    this.oracle.calls(this.number, String(key), options);
    return key;
  }

  /** Does something that may fail in an allowed way. Returns false then. */
  async attempt(what: string, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.oracle.did(what);
      return true;
    } catch (error) {
      if (error instanceof WrongAnswer)
        this.oracle.saw(kindOfText(error.message), `p${this.number} (${what})`, error.message);
      else this.oracle.saw(kindOfThrown(error), `p${this.number} (${what}, ${this.#agent?.era})`, textOf(error));
      await this.leave(true);
      // As clients are told to wait.
      await Bun.sleep(300 + this.random.below(1_200));
      return false;
    }
  }

  /** Runs a program and returns its value. Throws WrongAnswer if it has failed. */
  async execute(code: string, options: CallOptions = {}): Promise<string> {
    const { text, isError } = await this.run(code, options);
    if (isError) throw new WrongAnswer(text);
    return text;
  }

  /** Runs a program until it is over. A replica that ends answers with the id of a program that is not, and so does a slow one. */
  async run(code: string, options: CallOptions = {}): Promise<Answer> {
    let answer = await this.ask({ code }, options);
    for (let times = 0; times < maxResumed; times++) {
      const resume = executionIn(answer.text);
      if (resume === undefined) break;
      this.oracle.did("asked again for an outcome");
      answer = await this.ask({ resume }, options);
    }
    const text = answer.text.replace(conflictLine, "");
    if (text !== answer.text) this.oracle.saw("two versions of a file", `p${this.number}`, answer.text);
    return { ...answer, text };
  }

  /** Calls execute_code. */
  async ask(args: object, options: CallOptions = {}): Promise<Answer> {
    const agent = await this.#connected();
    return agent.execute(args, options);
  }

  async #connected(): Promise<Agent> {
    if (this.#agent) return this.#agent;
    this.#connecting ??= this.#connect();
    try {
      this.#agent = await this.#connecting;
      return this.#agent;
    } finally {
      this.#connecting = undefined;
    }
  }

  #connect(): Promise<Agent> {
    return openAgent({
      url: `${this.site.balancer.origin}/${this.door}`,
      era: this.#era(),
      canBeAsked: this.door === "qa",
      fetch: this.fetch as typeof fetch,
      answer: async ({ message, url }) => {
        this.oracle.got(this.number, message);
        if (url !== undefined) await this.hosts.browse(url, this.cookies, this.subject);
        return this.answer;
      },
    });
  }

  #era(): Era {
    return this.random.pick(eras);
  }

  /** Ends the session, or only the connection with `drops`. The next call begins a new one. An agent that connects does so first. */
  async leave(drops: boolean): Promise<void> {
    await this.#connecting?.catch(() => {});
    const agent = this.#agent;
    this.#agent = undefined;
    await agent?.leave(drops);
  }

  /** Sends a request with the person's token, and searches what comes back. */
  fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${await this.token()}`);
    const response = await fetch(input, { ...init, headers });
    if (response.body === null) return response;
    const body = watched(response.body, (text) => this.oracle.got(this.number, text));
    const { status, statusText } = response;
    return new Response(body, { status, statusText, headers: response.headers });
  };

  token(): Promise<string> {
    if (this.#token === undefined || Date.now() - this.#token.at > tokenUsedMs) {
      const text = this.site.provider.token(this.subject);
      this.#token = { text, at: Date.now() };
      text.catch(() => {
        this.#token = undefined;
      });
    }
    return this.#token.text;
  }
}

/** The id of an execution in an answer without its outcome. */
export function executionIn(text: string): string | undefined {
  return /\{"resume": "([\w-]+)"\}/.exec(text)?.[1];
}

/** An answer that is not what the program returns. */
export class WrongAnswer extends Error {}

/** An error with its status and its cause. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status } = error as { status?: unknown };
  return `${error.name}${status === undefined ? "" : ` ${status}`}: ${error.message}${error.cause === undefined ? "" : ` (${textOf(error.cause)})`}`;
}
