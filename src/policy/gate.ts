/** What every call of a tool passes, just before it leaves for its server: the config may deny it, or a person be asked. */
import type { ServerPolicy } from "../config/policy.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { type Clock, personMs, TimeLimit } from "../time-limit.ts";
import { Turns } from "../turns.ts";
import { allowingLine, type Confirmation, closingLine, confirmationOf, denialOf, isDestructive } from "./decision.ts";
import { type Question, questionText } from "./question.ts";

/** Yes, this time; yes, and this tool again while we run; no, this time; no, and nothing more of this. */
export type Answer = "once" | "session" | "no" | "dismissed";

/** Somebody who can be asked. */
export interface Asker {
  /** Rejects when the signal is aborted, and where nobody could be asked after all. */
  ask(text: string, question: Question, signal: AbortSignal): Promise<Answer>;
}

export interface ToolCall {
  server: string;
  /** Its own name. */
  tool: string;
  args: object;
}

export interface CallContext {
  /** The same for all calls of one piece of code. */
  signal?: AbortSignal | undefined;
  /** Stands still while somebody is asked. */
  clock?: Clock | undefined;
}

export interface GateOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  /** Who can be asked now. */
  asker: () => Asker | undefined;
  /** What a server says now of what a tool does; where there is none, every tool counts as destructive. */
  annotations?: AnnotationsOf | undefined;
}

export type AnnotationsOf = (
  server: string,
  tool: string,
  signal: AbortSignal | undefined,
) => Promise<Record<string, unknown> | undefined>;

/** Longer questions are not asked: nobody reads them, and who shows them may cut them. */
const maxQuestionChars = 32_000;

export class Gate {
  readonly #options: GateOptions;
  /** One question at a time. */
  readonly #turns = new Turns(1);
  /** Tools that somebody has allowed for as long as we run. */
  readonly #granted = new Set<string>();
  /** Of code whose questions somebody does not want to hear any more. */
  readonly #dismissed = new WeakSet<AbortSignal>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Undefined where the call may be made at once, else a promise of it. Throws POLICY_DENIED, and CANCELLED when the signal is
   * aborted meanwhile.
   */
  permit(call: ToolCall, context: CallContext): Promise<void> | undefined {
    const policy = this.#options.policyOf(call.server);
    if (!policy) return undefined;
    this.refuseDenied(call);
    const confirmation = confirmationOf(policy, call.tool);
    return confirmation && this.#confirm(call, confirmation, policy, context);
  }

  /** Throws POLICY_DENIED where the config denies the tool, whatever its arguments and whoever is asked. */
  refuseDenied({ server, tool }: Pick<ToolCall, "server" | "tool">): void {
    const policy = this.#options.policyOf(server);
    const denial = policy && denialOf(policy, tool);
    if (denial !== undefined) throw denied({ server, tool }, denial);
  }

  /** Of a request in the protocol's own words: what it asks for decides. */
  async permitRequest(
    server: string,
    { method, params }: { method: string; params: Record<string, unknown> },
    context: CallContext,
  ): Promise<void> {
    if (method === "tools/call") {
      await this.permit({ server, tool: String(params["name"]), args: Object(params["arguments"]) }, context);
    } else if (!method.startsWith("tools/")) this.permitOther(server, method.split("/")[0] ?? method);
  }

  /** What else a server has: only a server that is closed as a whole keeps it to itself. Throws POLICY_DENIED. */
  permitOther(server: string, what: string): void {
    const policy = this.#options.policyOf(server);
    const line = policy && closingLine(policy);
    if (line !== undefined) {
      throw new ClaudikinsError("POLICY_DENIED", `The ${what} of ${server} are denied in the config by ${line}`);
    }
  }

  async #confirm(
    call: ToolCall,
    confirmation: Confirmation,
    policy: ServerPolicy,
    context: CallContext,
  ): Promise<void> {
    if (this.#granted.has(keyOf(call))) return;
    const why = await this.#whyAsked(call, confirmation, context);
    if (why !== undefined) await this.#ask(call, why, policy, context);
  }

  /** Undefined where nobody has to be. */
  async #whyAsked(
    { server, tool }: ToolCall,
    { mode, line }: Confirmation,
    { signal }: CallContext,
  ): Promise<string | undefined> {
    if (mode === "always") return `${line} of the config says "always"`;
    const annotations = await this.#options.annotations?.(server, tool, signal);
    if (!isDestructive(annotations)) return undefined;
    const says = annotations?.["destructiveHint"] === true ? "says that it may" : "does not say that it could not";
    return `${line} of the config says "destructive", and its server ${says} destroy something`;
  }

  async #ask(call: ToolCall, why: string, policy: ServerPolicy, { signal, clock }: CallContext): Promise<void> {
    const hint = allowingLine(call.server, policy, call.tool);
    const question = { ...call, why };
    const text = questionText(question);
    if (text.length > maxQuestionChars) {
      const length = `${text.length} characters, more than the ${maxQuestionChars} that somebody can be shown`;
      throw denied(call, `has to be confirmed, and its arguments make a question of ${length}`, hint);
    }
    clock?.hold();
    const turn = this.#turns.take(signal);
    let isMine = turn === undefined;
    try {
      isMine ||= (await turn) === true;
      if (!isMine) throw cancelled(call);
      // By now somebody may have answered for this one as well.
      if (this.#granted.has(keyOf(call))) return;
      if (signal && this.#dismissed.has(signal)) {
        throw denied(call, "has to be confirmed, and the person said no to the questions of this code");
      }
      const asker = this.#options.asker();
      if (!asker) throw denied(call, "has to be confirmed by a person, and nobody can be asked here", hint);
      this.#obey(await answerOf(asker, text, question, hint, signal), call, signal);
    } finally {
      if (isMine) this.#turns.giveBack();
      clock?.release();
    }
  }

  #obey(answer: Answer, call: ToolCall, signal: AbortSignal | undefined): void {
    if (answer === "once") return;
    if (answer === "session") {
      this.#granted.add(keyOf(call));
      return;
    }
    if (answer === "dismissed" && signal) this.#dismissed.add(signal);
    throw denied(call, "was not called: the person said no");
  }
}

async function answerOf(
  asker: Asker,
  text: string,
  question: Question,
  hint: string,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  try {
    return await asker.ask(text, question, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } catch (error) {
    if (signal?.aborted) throw cancelled(question);
    if (late.signal.aborted) throw denied(question, "was not called: nobody has answered the question", hint);
    throw denied(question, `has to be confirmed, and nobody could be asked: ${messageOf(error)}`, hint);
  } finally {
    limit.end();
  }
}

function keyOf({ server, tool }: { server: string; tool: string }): string {
  return JSON.stringify([server, tool]);
}

function denied({ server, tool }: { server: string; tool: string }, why: string, hint?: string): ClaudikinsError {
  return new ClaudikinsError("POLICY_DENIED", `${server}.${tool} ${why}`, { hint });
}

function cancelled({ server, tool }: { server: string; tool: string }): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `${server}.${tool} was cancelled`);
}
