/** Every tool call passes the gate just before it is sent: the config may deny the call, or require a person's permission. */
import type { ServerPolicy } from "../config/policy.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
import { type Clock, personMs, TimeLimit } from "../time-limit.ts";
import { allowingLine, type Confirmation, closingLine, confirmationOf, denialOf, isDestructive } from "./decision.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
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

/** The place of a call in its execution. */
export interface MadeCall {
  execution: string;
  call: number;
  /** The line of the code. */
  line: number | undefined;
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

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Undefined if the call may be made at once, otherwise a promise of the definition under which it may be made. A call
   * over another connection needs another permission. Throws POLICY_DENIED, and CANCELLED if the signal is aborted.
   */
  permit(call: ToolCall, context: CallContext): Promise<ToolDefinition> | undefined {
    const policy = this.#options.policyOf(call.server);
    if (!policy) return undefined;
    this.refuseDenied(call);
    const confirmation = confirmationOf(policy, call.tool);
    return confirmation && this.#confirm(call, confirmation, policy, context);
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
      const answer = await this.#inTurn(call, context, async () => {
        // An answer to another question may have settled this one.
        if (this.#granted.get(key) !== grant) return undefined;
        const said = await this.#ask({ ...call, why, changed }, context, hint);
        // The tool may have changed while the person decided, and the answer counts only for what they saw.
        const after = await this.#definition(call, context, true);
        const differences = changedParts(definition.digests, after.digests);
        if (differences.length > 0) return differences;
        if (said === "session") this.#granted.set(key, { digests: after.digests, isVoid: false });
        return after;
      });
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

  /** Runs one question at a time, with the call's clock paused. Throws CANCELLED. */
  async #inTurn<T>(call: ToolCall, { signal, clock }: CallContext, work: () => Promise<T>): Promise<T> {
    clock?.hold();
    const turn = this.#semaphore.acquire(signal);
    let isMine = turn === undefined;
    try {
      isMine ||= (await turn) === true;
      if (!isMine) throw cancelled(call);
      return await work();
    } finally {
      if (isMine) this.#semaphore.release();
      clock?.release();
    }
  }

  /** Throws POLICY_DENIED if the person says no, cannot be asked, or has refused often enough. */
  async #ask(question: Question, { signal, origin = signal }: CallContext, hint: string): Promise<"once" | "session"> {
    const key = keyOf(question);
    const refusal = this.#refusals.standing(key, signal);
    if (refusal !== undefined) throw denied(question, refusal.why, wayOut(refusal.how, hint));
    const asker = this.#options.asker();
    if (!asker) throw denied(question, "needs a person's confirmation, and nobody can be asked here", hint);
    this.#refusals.asked(signal);
    const answer = await answerOf(asker, questionText(question), question, hint, { signal, origin });
    if (answer === "once" || answer === "session") return answer;
    this.#refusals.refused(key, signal, answer);
    throw denied(question, `was not called: ${refusalWords[answer]}`, wayOut(answer, hint));
  }
}

const refusalWords: Record<Refusal, string> = {
  no: "the person said no",
  declined: "the person said no",
  cancelled: "the question was cancelled without an answer",
  late: "nobody answered the question",
};

/** The next step. A person's no must not be worked around. */
function wayOut(how: Refusal, allowing: string): string {
  if (how === "no" || how === "declined") return "Go on without it, or ask the person what to do instead.";
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

async function answerOf(
  asker: Asker,
  text: string,
  question: Question,
  hint: string,
  { signal, origin }: CallContext,
): Promise<Answer | "late"> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  try {
    return await asker.ask(text, question, signal ? AbortSignal.any([signal, late.signal]) : late.signal, origin);
  } catch (error) {
    if (signal?.aborted) throw cancelled(question);
    if (late.signal.aborted) return "late";
    throw denied(question, `needs confirmation, and nobody could be asked: ${messageOf(error)}`, hint);
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
