/** What every call of a tool passes, just before it leaves for its server: the config may deny it, or a person be asked. */
import type { ServerPolicy } from "../config/policy.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
import { type Clock, personMs, TimeLimit } from "../time-limit.ts";
import { allowingLine, type Confirmation, closingLine, confirmationOf, denialOf, isDestructive } from "./decision.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import { type Question, questionText } from "./question.ts";
import { type Refusal, Refusals } from "./refusals.ts";

/**
 * Yes, this time; yes, and this tool again while we run; no, this time; no, and nothing more of this; the question was closed
 * without an answer, maybe by a program that has nobody to ask.
 */
export type Answer = "once" | "session" | "no" | "declined" | "cancelled";

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
  definition: DefinitionOf;
}

/**
 * What the server says of the tool. With `isFresh` the server is asked for it now, since a server may change a tool and tell
 * nobody; without it, what it has said over its present connection counts until it says that its tools have changed.
 */
export type DefinitionOf = (
  server: string,
  tool: string,
  options: { signal: AbortSignal | undefined; isFresh: boolean },
) => Promise<ToolDefinition>;

interface Grant {
  /** Of the definition that the person said yes to. */
  digests: ToolDefinition["digests"];
  /** The tool was seen with another definition since: the grant counts no more, even if the old definition comes back. */
  isVoid: boolean;
}

/** A tool that is another one after each question is not asked about for ever. */
const maxRounds = 3;

/** Requests that use nothing of a server. */
const harmlessMethods: ReadonlySet<string> = new Set(["initialize", "ping", "tools/list", "logging/setLevel"]);

/** What a server may have beside tools, as requests for it begin. */
const otherOffers: ReadonlySet<string> = new Set(["resources", "prompts", "completion"]);

export class Gate {
  readonly #options: GateOptions;
  /** One question at a time. */
  readonly #semaphore = new Semaphore(1);
  /** Tools that the person has allowed until we end. */
  readonly #granted = new Map<string, Grant>();
  readonly #refusals = new Refusals();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Undefined where the call may be made at once. Else a promise of the definition under which it may be made: over another
   * connection the call needs another permission. Throws POLICY_DENIED, and CANCELLED when the signal is aborted meanwhile.
   */
  permit(call: ToolCall, context: CallContext): Promise<ToolDefinition> | undefined {
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

  /**
   * A request in the protocol's own words, whoever has made it: throws POLICY_DENIED for what the config denies. Of a server with
   * a policy no request passes that is not of the protocol, since nobody knows what it would do.
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
  ): Promise<ToolDefinition> {
    const key = keyOf(call);
    let changed: string[] | undefined;
    for (let questions = 0; questions < maxRounds; ) {
      const grant = this.#granted.get(key);
      // Only what the server calls harmless is believed until it says otherwise.
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
        // Somebody else's answer may have settled this question, too.
        if (this.#granted.get(key) !== grant) return undefined;
        const said = await this.#ask({ ...call, why, changed }, context, hint);
        // A person takes their time, and the answer counts for what they were asked about.
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

  /** Time stands still for the call until it is done. Throws CANCELLED. */
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

  /** Throws POLICY_DENIED where the person says no, cannot be asked, or has refused often enough. */
  async #ask(question: Question, { signal }: CallContext, hint: string): Promise<"once" | "session"> {
    const key = keyOf(question);
    const refusal = this.#refusals.standing(key, signal);
    if (refusal !== undefined) throw denied(question, refusal.why, wayOut(refusal.how, hint));
    const asker = this.#options.asker();
    if (!asker) throw denied(question, "needs a person's confirmation, and nobody can be asked here", hint);
    this.#refusals.asked(signal);
    const answer = await answerOf(asker, questionText(question), question, hint, signal);
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

/** What to do next; a person's no is not to be got round. */
function wayOut(how: Refusal, allowing: string): string {
  if (how === "no" || how === "declined") return "Go on without it, or ask the person what to do instead.";
  if (how === "late") return allowing;
  return `Run the agent where a person can answer: without one, it cancels every question. ${allowing}`;
}

/** Undefined where the person need not be asked. */
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
  signal: AbortSignal | undefined,
): Promise<Answer | "late"> {
  const late = new AbortController();
  const limit = new TimeLimit(personMs, () => late.abort());
  try {
    return await asker.ask(text, question, signal ? AbortSignal.any([signal, late.signal]) : late.signal);
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
