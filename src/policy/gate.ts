/** Every tool call passes the gate just before it is sent: the config may deny the call, or require a person's permission. */

import { ClaudikinsError } from "../base/errors.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { ServerPolicy } from "../config/policy.ts";
import { type ApprovalQueue, boundTo } from "./approval-queue.ts";
import { excessOf, turnFor } from "./argument-size.ts";
import {
  type Asker,
  answerOf,
  cancelled,
  denied,
  isYes,
  keyOf,
  type PendingQuestion,
  type Permission,
  type PermissionContext,
  refused,
  saidBy,
} from "./asking.ts";
import {
  allowingLine,
  type Confirmation,
  closingLine,
  confirmationOf,
  denialOf,
  effectOf,
  isDestructive,
} from "./decision.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import { maxQuestionRounds } from "./limits.ts";
import { QueuedQuestions } from "./queued-questions.ts";
import { Refusals } from "./refusals.ts";

export interface ToolCall {
  server: string;
  /** The tool's original name. */
  tool: string;
  args: object;
}

export interface GateOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  /** Returns which account the server acts for, if a person could confuse it with another one. */
  accountOf?: ((server: string) => string | undefined) | undefined;
  /** Returns who can be asked now. */
  asker: () => Asker | undefined;
  definition: DefinitionOf;
  /** Where calls of programs wait for a decision. Undefined if no decision is recorded. */
  queue?: ApprovalQueue | undefined;
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

/** Methods that use nothing of a server. */
const harmlessMethods: ReadonlySet<string> = new Set(["initialize", "ping", "tools/list", "logging/setLevel"]);

/** What servers offer beside tools, by the beginning of the method's name. */
const otherOffers: ReadonlySet<string> = new Set(["resources", "prompts", "skills", "completion"]);

export class Gate {
  readonly #options: GateOptions;
  /** Limits the questions to a person to one at a time. */
  readonly #turns = new Semaphore(1);
  /** Tools that the person has allowed for the session. */
  readonly #granted = new Map<string, Grant>();
  readonly #refusals = new Refusals();
  readonly #queued: QueuedQuestions;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#queued = new QueuedQuestions({ asker: options.asker, turns: this.#turns, refusals: this.#refusals });
  }

  /**
   * Undefined if the call may be made at once, otherwise a promise of what it may be made with. A call over another connection
   * needs another permission. Throws POLICY_DENIED, and CANCELLED if the signal is aborted.
   */
  permit(call: ToolCall, context: PermissionContext): Promise<Permit> | undefined {
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
    context: PermissionContext,
  ): Promise<Permit> {
    const turn = turnFor(call.args);
    if (turn) await turn;
    const excess = excessOf(call.args);
    // A copy: the caller may change its object while a person reads the arguments. Nobody is asked about too many.
    const args = excess === undefined ? (JSON.parse(JSON.stringify(call.args)) as object) : call.args;
    const { connection } = await this.#confirm({ ...call, args }, confirmation, policy, context, excess);
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
    context: PermissionContext,
    excess: string | undefined,
  ): Promise<ToolDefinition> {
    const key = keyOf(call);
    let changed: string[] | undefined;
    for (let questions = 0; questions < maxQuestionRounds; ) {
      const grant = this.#granted.get(key);
      // Only a tool that its server calls harmless is trusted until the server announces a change.
      const definition = await this.#definition(call, context, confirmation.mode === "always" || grant !== undefined);
      if (grant) {
        const differences = changedParts(grant.digests, definition.digests);
        if (differences.length === 0 && !grant.isVoid) return definition;
        grant.isVoid = true;
        changed = differences;
      }
      const why = whyAsked(confirmation, definition, call.tool, changed !== undefined);
      if (why === undefined) return definition;
      const account = this.#options.accountOf?.(call.server);
      const hint = allowingLine(call.server, policy, call.tool);
      if (excess !== undefined) throw unreadable(call, excess, hint);
      const permission = await this.#settled(
        {
          question: { ...call, why: account === undefined ? why : `${why}; ${account}`, changed },
          definition,
          context,
          hint,
        },
        grant,
      );
      if (permission === undefined) continue;
      if ("allowed" in permission) return permission.allowed;
      changed = permission.changed;
      questions += 1;
    }
    throw denied(call, "was not called: its definition kept changing while the person was asked");
  }

  #definition({ server, tool }: Omit<ToolCall, "args">, { signal }: PermissionContext, isFresh: boolean) {
    return this.#options.definition(server, tool, { signal, isFresh });
  }

  /**
   * Asks when it is the question's turn. Returns undefined if another answer may have settled the question: `grant` is the permission
   * that does not suffice.
   */
  async #settled(asked: PendingQuestion, grant: Grant | undefined): Promise<Permission | undefined> {
    const { question, context } = asked;
    const { signal, clock, made } = context;
    const { queue } = this.#options;
    const mayWait = queue?.waits && made ? { queue, made } : undefined;
    const turns = mayWait ? this.#queued.placesOf(signal) : this.#turns;
    const allow = (scope: "once" | "session") => this.#allowed(scope, asked);
    clock?.hold();
    try {
      const turn = turns.acquire(signal);
      if (turn && !(await turn)) throw cancelled(question);
      try {
        if (this.#granted.get(keyOf(question)) !== grant) return undefined;
        if (mayWait) return await this.#queued.ask(mayWait.queue, mayWait.made, asked, allow);
        return await allow(await this.#ask(queue, asked));
      } finally {
        turns.release();
      }
    } finally {
      clock?.release();
    }
  }

  /** The tool may have changed while the person decided, and the answer counts only for what they saw. */
  async #allowed(scope: "once" | "session", { question, definition, context }: PendingQuestion): Promise<Permission> {
    const after = await this.#definition(question, context, true);
    const differences = changedParts(definition.digests, after.digests);
    if (differences.length > 0) return { changed: differences };
    if (scope === "session") this.#granted.set(keyOf(question), { digests: after.digests, isVoid: false });
    return { allowed: after };
  }

  /** Throws POLICY_DENIED if the person says no, cannot be asked, or has refused often enough. */
  async #ask(queue: ApprovalQueue | undefined, asked: PendingQuestion): Promise<"once" | "session"> {
    const { question, definition, context, hint } = asked;
    const { signal, origin = signal, made } = context;
    const key = keyOf(question);
    const standing = this.#refusals.standing(key, signal);
    if (standing !== undefined) throw refused(asked, standing.how, standing.why);
    const asker = this.#options.asker();
    if (!asker) throw denied(question, "needs a person's confirmation, and nobody can be asked here", hint);
    this.#refusals.asked(signal);
    const answer = await answerOf(asker, question, { signal, origin }, (why) => {
      throw denied(question, `needs confirmation, and nobody could be asked: ${why}`, hint);
    });
    const said = saidBy(answer);
    await turnFor(question.args);
    if (said) await queue?.note(question, boundTo(definition, question.args), said, made);
    if (isYes(answer)) return answer;
    this.#refusals.refused(key, signal, answer);
    throw refused(asked, answer);
  }
}

/** The error for a call whose arguments no person would read. */
function unreadable(call: ToolCall, excess: string, allowing: string): ClaudikinsError {
  const why = `was not called: a person must confirm it, and nobody reads arguments of more than ${excess}`;
  return denied(call, why, `Make several calls with fewer arguments each. ${allowing}`);
}

/** Undefined if no permission is needed. */
function whyAsked(
  { mode, line }: Confirmation,
  { annotations }: ToolDefinition,
  tool: string,
  isChanged: boolean,
): string | undefined {
  if (mode === "always") return `${line} says "always"`;
  const isDangerous = isDestructive(annotations, tool);
  if (!isDangerous && !isChanged) return undefined;
  const says =
    effectOf(annotations) === "unstated"
      ? "says nothing about what the tool changes"
      : annotations?.["destructiveHint"] === true
        ? "marks the tool as destructive"
        : isDangerous
          ? "does not mark the tool as non-destructive"
          : "now marks the tool as non-destructive";
  return `${line} says "destructive", and the server ${says}`;
}
