/** Every tool call passes the gate just before it is sent: the config may deny the call, or require a person's permission. */
import type { ServerPolicy } from "../config/policy.ts";
import { durationText } from "../duration.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
import { type Clock, personMs, TimeLimit } from "../time-limit.ts";
import { allowingLine, type Confirmation, closingLine, confirmationOf, denialOf, isDestructive } from "./decision.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import {
  boundTo,
  continuesElsewhere,
  type Desk,
  decidedElsewhere,
  type MadeCall,
  type Said,
  type Ticket,
  type Verdict,
} from "./desk.ts";
import { type Question, questionText } from "./question.ts";
import { type Refusal, Refusals } from "./refusals.ts";

/**
 * A person's answer: yes, once; yes, for the session; no; no to everything of this execution; or closed without an answer,
 * perhaps because the program has nobody to ask.
 */
export type Answer = "once" | "session" | "no" | "declined" | "cancelled";

/** Asks a person. */
export interface Asker {
  /** Rejects if the signal is aborted, or if nobody could be asked after all. */
  ask(text: string, question: Question, signal: AbortSignal, origin?: AbortSignal): Promise<Answer>;
}

export interface ToolCall {
  server: string;
  /** The tool's original name. */
  tool: string;
  args: object;
}

export interface CallContext {
  /** Shared by all calls of one execution. */
  signal?: AbortSignal | undefined;
  /** Paused while a person is asked. */
  clock?: Clock | undefined;
  /** The signal of the agent's request that the call is made for. Default `signal`. */
  origin?: AbortSignal | undefined;
  /** Undefined for a call outside a program. */
  made?: MadeCall | undefined;
}

export interface GateOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  /** Returns who can be asked now. */
  asker: () => Asker | undefined;
  definition: DefinitionOf;
  /** Where calls of programs wait for a decision. Undefined if no decision is recorded. */
  desk?: (() => Desk | undefined) | undefined;
}

/** What a call may be made with. */
export interface Permit {
  /** The connection that listed the tool. */
  connection: object | undefined;
  /** The arguments that the person was shown. */
  args: object;
}

/**
 * Returns the tool's definition. With `isFresh`, the server is asked now, because a server may change a tool without a
 * notification; otherwise the last list of the same connection counts until the server announces a change.
 */
export type DefinitionOf = (
  server: string,
  tool: string,
  options: { signal: AbortSignal | undefined; isFresh: boolean },
) => Promise<ToolDefinition>;

interface Grant {
  /** The definition that the person allowed. */
  digests: ToolDefinition["digests"];
  /** The tool had another definition since. The permission no longer counts, even if the old definition comes back. */
  isVoid: boolean;
}

/** A call that lies on the desk. */
interface Waiting {
  digests: ToolDefinition["digests"];
  ticket: Ticket;
}

/** Maximum number of calls of one execution that lie on the desk. Further calls wait until one of them is decided. */
const maxWaiting = 20;

/** Maximum number of questions about a tool that changes after each question. */
const maxRounds = 3;

/** Methods that use nothing of a server. */
const harmlessMethods: ReadonlySet<string> = new Set(["initialize", "ping", "tools/list", "logging/setLevel"]);

/** What servers offer beside tools, by the beginning of the method's name. */
const otherOffers: ReadonlySet<string> = new Set(["resources", "prompts", "skills", "completion"]);

export class Gate {
  readonly #options: GateOptions;
  /** Limits questions to one at a time. */
  readonly #semaphore = new Semaphore(1);
  /** Tools that the person has allowed for the session. */
  readonly #granted = new Map<string, Grant>();
  readonly #refusals = new Refusals();
  /** The calls on the desk by the key of their tool. */
  readonly #waiting = new Map<string, Set<Waiting>>();
  /** Limits the calls on the desk, by the signal that all calls of one execution share. */
  readonly #places = new WeakMap<AbortSignal, Semaphore>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Undefined if the call may be made at once, otherwise a promise of what it may be made with. A call over another connection
   * needs another permission. Throws POLICY_DENIED, and CANCELLED if the signal is aborted.
   */
  permit(call: ToolCall, context: CallContext): Promise<Permit> | undefined {
    const policy = this.#options.policyOf(call.server);
    if (!policy) return undefined;
    this.refuseDenied(call);
    const confirmation = confirmationOf(policy, call.tool);
    return confirmation && this.#permitAsked(call, confirmation, policy, context);
  }

  async #permitAsked(
    call: ToolCall,
    confirmation: Confirmation,
    policy: ServerPolicy,
    context: CallContext,
  ): Promise<Permit> {
    // A copy: the caller may change its object while a person reads the arguments.
    const args = JSON.parse(JSON.stringify(call.args)) as object;
    const { connection } = await this.#confirm({ ...call, args }, confirmation, policy, context);
    return { connection, args };
  }

  /** Throws POLICY_DENIED if the config denies the tool, whatever its arguments are. */
  refuseDenied({ server, tool }: Pick<ToolCall, "server" | "tool">): void {
    const policy = this.#options.policyOf(server);
    const denial = policy && denialOf(policy, tool);
    if (denial !== undefined) throw denied({ server, tool }, denial);
  }

  /**
   * Throws POLICY_DENIED if the config denies a request of the protocol. If a server has a policy, methods that MCP does
   * not define are denied, because their effect is unknown.
   */
  refuseRequest(server: string, { method, params }: { method: string; params?: unknown }): void {
    if (!this.#options.policyOf(server) || harmlessMethods.has(method)) return;
    if (method === "tools/call") {
      const { name } = Object(params) as { name?: unknown };
      if (typeof name !== "string")
        throw new ClaudikinsError("POLICY_DENIED", `${server}: tools/call has no tool name`);
      this.refuseDenied({ server, tool: name });
      return;
    }
    const what = method.split("/")[0] ?? "";
    if (!otherOffers.has(what)) {
      throw new ClaudikinsError(
        "POLICY_DENIED",
        `"${method}" is not an MCP request, and the policy of ${server} allows no others`,
      );
    }
    this.permitOther(server, what);
  }

  /** Throws POLICY_DENIED for resources, prompts and skills of a closed server. */
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
  ): Promise<ToolDefinition> {
    const key = keyOf(call);
    let changed: string[] | undefined;
    for (let questions = 0; questions < maxRounds; ) {
      const grant = this.#granted.get(key);
      // Only a tool that its server calls harmless is trusted until the server announces a change.
      const definition = await this.#definition(call, context, confirmation.mode === "always" || grant !== undefined);
      if (grant) {
        const differences = changedParts(grant.digests, definition.digests);
        if (differences.length === 0 && !grant.isVoid) return definition;
        grant.isVoid = true;
        changed = differences;
      }
      const why = whyAsked(confirmation, definition, changed !== undefined);
      if (why === undefined) return definition;
      const hint = allowingLine(call.server, policy, call.tool);
      const asked: Asked = { question: { ...call, why, changed }, definition, grant, context, hint };
      const { made } = context;
      const desk = this.#options.desk?.();
      const answer = await (desk?.waits && made ? this.#atDesk(desk, made, asked) : this.#here(desk, asked));
      if (answer === undefined) continue;
      if (!Array.isArray(answer)) return answer;
      changed = answer;
      questions += 1;
    }
    throw denied(call, "was not called: its definition kept changing while the person was asked");
  }

  #definition({ server, tool }: ToolCall, { signal }: CallContext, isFresh: boolean): Promise<ToolDefinition> {
    return this.#options.definition(server, tool, { signal, isFresh });
  }

  /**
   * Asks a person who can be reached now. Returns the definition that they allowed, the parts that have changed meanwhile, or
   * undefined if another answer may have settled the question.
   */
  #here(desk: Desk | undefined, asked: Asked): Promise<Settled> {
    const { question, context } = asked;
    const { signal, clock } = context;
    return holding(clock, async () => {
      const turn = this.#semaphore.acquire(signal);
      if (turn && !(await turn)) throw cancelled(question);
      try {
        if (this.#granted.get(keyOf(question)) !== asked.grant) return undefined;
        return await this.#allowed(await this.#ask(desk, asked), asked);
      } finally {
        this.#semaphore.release();
      }
    });
  }

  /** The tool may have changed while the person decided, and the answer counts only for what they saw. */
  async #allowed(
    scope: "once" | "session",
    { question, definition, context }: Asked,
  ): Promise<ToolDefinition | string[]> {
    const after = await this.#definition(question, context, true);
    const differences = changedParts(definition.digests, after.digests);
    if (differences.length > 0) return differences;
    if (scope === "session") this.#granted.set(keyOf(question), { digests: after.digests, isVoid: false });
    return after;
  }

  /** Throws POLICY_DENIED if the person says no, cannot be asked, or has refused often enough. */
  async #ask(desk: Desk | undefined, { question, definition, context, hint }: Asked): Promise<"once" | "session"> {
    const { signal, origin = signal, made } = context;
    const key = keyOf(question);
    const refusal = this.#refusals.standing(key, signal);
    if (refusal !== undefined) throw denied(question, refusal.why, wayOut(refusal.how, hint));
    const asker = this.#options.asker();
    if (!asker) throw denied(question, "needs a person's confirmation, and nobody can be asked here", hint);
    this.#refusals.asked(signal);
    const answer = await answerOf(asker, question, { signal, origin }, (why) => {
      throw denied(question, `needs confirmation, and nobody could be asked: ${why}`, hint);
    });
    const said = saidBy(answer);
    if (said) await desk?.note(question, boundTo(definition, question.args), said, made);
    if (answer === "once" || answer === "session") return answer;
    this.#refusals.refused(key, signal, answer);
    throw denied(question, `was not called: ${refusalWords[answer]}`, wayOut(answer, hint));
  }

  /** As `#here`, but the question also lies on the desk until somebody decides, wherever that is. */
  #atDesk(desk: Desk, made: MadeCall, asked: Asked): Promise<Settled> {
    const { question, context } = asked;
    const { signal, clock } = context;
    return holding(clock, async () => {
      const places = this.#placesOf(signal);
      const turn = places.acquire(signal);
      if (turn && !(await turn)) throw cancelled(question);
      try {
        if (this.#granted.get(keyOf(question)) !== asked.grant) return undefined;
        return await this.#decided(desk, made, asked);
      } finally {
        places.release();
      }
    });
  }

  #placesOf(signal: AbortSignal | undefined): Semaphore {
    const places = (signal && this.#places.get(signal)) ?? new Semaphore(maxWaiting);
    if (signal) this.#places.set(signal, places);
    return places;
  }

  /** Throws POLICY_DENIED if a person says no, nobody decides in time, or this code has asked too often. */
  async #decided(desk: Desk, made: MadeCall, asked: Asked): Promise<ToolDefinition | string[]> {
    const { question, definition, context, hint } = asked;
    const { signal } = context;
    const key = keyOf(question);
    const refusal = this.#refusals.standing(key, signal);
    const isRefused = refusal !== undefined && isNo(refusal.how);
    // A call that was approved stays so, whatever was said about others since. An execution that is continued asks again.
    if (isRefused && !(await desk.isApproved(made))) throw denied(question, refusal.why, wayOut(refusal.how, hint));
    this.#refusals.asked(signal);
    const ticket = await desk.place(question, boundTo(definition, question.args), made);
    if (isRefused && ticket.isOpen) {
      await ticket.withdraw();
      throw denied(question, refusal.why, wayOut(refusal.how, hint));
    }
    const waiting: Waiting = { digests: definition.digests, ticket };
    const ofTool = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, ofTool.add(waiting));
    let verdict: Verdict;
    try {
      verdict = await this.#verdict(ticket, asked);
    } finally {
      ofTool.delete(waiting);
      if (ofTool.size === 0) this.#waiting.delete(key);
    }
    if (verdict.state !== "approved") throw this.#refusalOf(verdict, asked);
    const allowed = await this.#allowed(verdict.scope, asked);
    if (Array.isArray(allowed)) await ticket.withdraw();
    else if (verdict.scope === "session") this.#settle(ofTool, definition);
    return allowed;
  }

  /** Waits until the question leaves the desk. Meanwhile, a person who can be reached now is asked as well. */
  async #verdict(ticket: Ticket, asked: Asked): Promise<Verdict> {
    const { signal } = asked.context;
    const ended = new AbortController();
    const over = Promise.withResolvers<never>();
    const cancel = () => over.reject(cancelled(asked.question));
    // The asker is not waited for: without an answer, the question stays on the desk.
    this.#askMeanwhile(ticket, asked, ended.signal).catch(over.reject);
    if (signal?.aborted) cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await Promise.race([ticket.verdict, over.promise]);
    } catch (error) {
      if (signal?.reason === continuesElsewhere) ticket.leave();
      else await ticket.withdraw().catch(() => {});
      throw error;
    } finally {
      signal?.removeEventListener("abort", cancel);
      ended.abort(decidedElsewhere);
    }
  }

  /** Asks a person who can be reached now, and records the answer. Rejects if it cannot be recorded. */
  async #askMeanwhile(ticket: Ticket, asked: Asked, ended: AbortSignal): Promise<void> {
    if (!ticket.isOpen) return;
    const { question, context } = asked;
    const { signal, origin = signal } = context;
    const key = keyOf(question);
    const both = signal ? AbortSignal.any([signal, ended]) : ended;
    const turn = this.#semaphore.acquire(both);
    if (turn && !(await turn)) return;
    try {
      const asker = this.#options.asker();
      if (!ticket.isOpen || both.aborted || !asker || this.#refusals.standing(key, signal) !== undefined) return;
      const shown = { ...question, changed: ticket.changed ?? question.changed };
      const answer = await answerOf(asker, shown, { signal: both, origin }, () => undefined).catch((error: unknown) => {
        if (!both.aborted) throw error;
      });
      if (answer === undefined) return;
      if (answer !== "once" && answer !== "session") this.#refusals.refused(key, signal, answer);
      const said = saidBy(answer);
      asked.isRefused = said?.state === "denied";
      if (said && said.state !== "expired") await ticket.decide(said);
    } finally {
      this.#semaphore.release();
    }
  }

  #refusalOf(verdict: Exclude<Verdict, { state: "approved" }>, asked: Asked): ClaudikinsError {
    const { question, context, hint } = asked;
    const { signal } = context;
    const key = keyOf(question);
    if (verdict.state === "withdrawn") return cancelled(question);
    if (verdict.state === "expired") {
      const why = `was not called: nobody decided about it within ${durationText(verdict.afterMs)}, so the question has expired`;
      return denied(question, why, wayOut("late", hint));
    }
    const refusal = this.#refusals.standing(key, signal);
    if (asked.isRefused) return denied(question, `was not called: ${refusalWords.no}`, wayOut("no", hint));
    if (refusal?.how === "declined") return denied(question, refusal.why, wayOut("declined", hint));
    // A denial elsewhere also decides the other open questions about the tool, and counts once.
    if (!refusal || !isNo(refusal.how)) this.#refusals.refused(key, signal, "no");
    return denied(question, `was not called: ${refusalWords.no}`, wayOut("no", hint));
  }

  /** Settles the questions about a tool that was just allowed for the session. */
  #settle(waiting: ReadonlySet<Waiting>, { digests }: ToolDefinition): void {
    for (const each of waiting) {
      if (changedParts(digests, each.digests).length > 0) continue;
      // A question that cannot be settled stays open.
      each.ticket.decide({ state: "approved", scope: "session" }).catch(() => {});
    }
  }
}

/** A question about a call, and everything that belongs to it. */
interface Asked {
  question: Question;
  /** The definition that the person is asked about. */
  definition: ToolDefinition;
  /** The permission that does not suffice. */
  grant: Grant | undefined;
  context: CallContext;
  /** How the config could allow the call. */
  hint: string;
  /** Whether a person who was asked about this call here has said no. */
  isRefused?: boolean;
}

/** The definition that a person allowed, or the parts that have changed meanwhile. Undefined: look again. */
type Settled = ToolDefinition | string[] | undefined;

/** Runs the work with the call's clock paused. */
async function holding<T>(clock: Clock | undefined, work: () => Promise<T>): Promise<T> {
  clock?.hold();
  try {
    return await work();
  } finally {
    clock?.release();
  }
}

const isNo = (how: Refusal) => how === "no" || how === "declined";

/** What a person said. Undefined if there was no answer. */
function saidBy(answer: Answer | "late"): Said | { state: "expired" } | undefined {
  if (answer === "once" || answer === "session") return { state: "approved", scope: answer };
  if (answer === "no") return { state: "denied" };
  if (answer === "declined") return { state: "denied", all: true };
  return answer === "late" ? { state: "expired" } : undefined;
}

const refusalWords: Record<Refusal, string> = {
  no: "the person said no",
  declined: "the person said no",
  cancelled: "the question was cancelled without an answer",
  late: "nobody answered the question",
};

/** The next step. A person's no must not be worked around. */
function wayOut(how: Refusal, allowing: string): string {
  if (isNo(how)) return "Go on without it, or ask the person what to do instead.";
  if (how === "late") return allowing;
  return `Run the agent where a person can answer: without one, it cancels every question. ${allowing}`;
}

/** Undefined if no permission is needed. */
function whyAsked(
  { mode, line }: Confirmation,
  { annotations }: ToolDefinition,
  isChanged: boolean,
): string | undefined {
  if (mode === "always") return `${line} says "always"`;
  const isDangerous = isDestructive(annotations);
  if (!isDangerous && !isChanged) return undefined;
  const says =
    annotations?.["destructiveHint"] === true
      ? "marks the tool as destructive"
      : isDangerous
        ? "does not mark the tool as non-destructive"
        : "now marks the tool as non-destructive";
  return `${line} says "destructive", and the server ${says}`;
}

/** `unreachable` is called with the reason if nobody could be asked. Throws CANCELLED if the signal is aborted. */
async function answerOf<T>(
  asker: Asker,
  question: Question,
  { signal, origin }: CallContext,
  unreachable: (why: string) => T,
): Promise<Answer | "late" | T> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    return await asker.ask(questionText(question), question, either, origin);
  } catch (error) {
    if (signal?.aborted) throw cancelled(question);
    if (late.signal.aborted) return "late";
    return unreachable(messageOf(error));
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
