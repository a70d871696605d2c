/** Every tool call passes the gate just before it is sent: the config may deny the call, or require the user's permission. */

import { ClaudikinsError } from "../base/errors.ts";
import type { ConditionFacts } from "../config/condition.ts";
import { type Label, pathText, type ServerPolicy } from "../config/policy.ts";
import { type ApprovalQueue, ImmediateQueue, type MadeCall } from "./approval-queue.ts";
import { exceededLimit, turnFor } from "./argument-size.ts";
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
import type { Caller } from "./flow/caller.ts";
import { flowText, readsDigest, readsPart } from "./flow/question.ts";
import type { SessionReads } from "./flow/session-reads.ts";
import type { ToolLabels } from "./flow/tool-labels.ts";
import { maxQuestionRounds } from "./limits.ts";
import { type Asker, type PermissionContext, Questions } from "./questions.ts";
import { denied, heldBack, keyOf } from "./refusals.ts";
import { type AppliedRule, type ArgumentNames, Rules, ruleText } from "./rules.ts";

export interface ToolCall {
  server: string;
  /** The tool's original name. */
  tool: string;
  /** The name that agents know it by, if it is another. */
  shownAs?: string | undefined;
  args: object;
  /** Removes secrets from arguments that the config has added. Without it, all arguments come from the caller. */
  redact?: ((args: object) => object) | undefined;
}

export interface GateOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  /** Whether the tool may be known here. */
  exists: (server: string, tool: string) => boolean;
  /** Why the tool is held until a person has seen its changed definition. Undefined if it is not. */
  whyHeld?: ((server: string, tool: string) => string | undefined) | undefined;
  /** Returns which account the server acts for, if the user could confuse it with another one. */
  accountOf?: ((server: string) => string | undefined) | undefined;
  /** Returns who can be asked now. */
  asker: () => Asker | undefined;
  definition: DefinitionOf;
  queueFor?: QueueChoice | undefined;
  /** The labels of the tools' data. */
  labels: Pick<ToolLabels<never>, "load" | "of">;
  argumentNames: ArgumentNames;
  /** A tool whose description seems to talk to the agent. Descriptions are read like results. */
  suspiciousTool: () => string | undefined;
  /** The door and the person that calls are made for, for rules. */
  place: { door: string; person: string };
  /** The agent of the connection. */
  caller: () => Caller;
}

/** Returns the queue of a question about a call. `made` is undefined for a call outside a program. */
export type QueueChoice = (made: MadeCall | undefined) => ApprovalQueue;

/** What a call may be made with. */
export interface Permit {
  /** The connection that listed the tool. */
  connection: object | undefined;
  /** The arguments that the user was shown, with the secrets that the config has added. */
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
  /** The definition that the user allowed. */
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
  readonly #queueFor: QueueChoice;
  readonly #questions: Questions;
  readonly #rules = new Rules();
  /** Tools that the user has allowed for the session. */
  readonly #granted = new Map<string, Grant>();

  /** Without a choice of queues, no call waits, and no answer is recorded. */
  constructor(options: GateOptions) {
    this.#options = options;
    const unrecorded = new ImmediateQueue();
    this.#queueFor = options.queueFor ?? (() => unrecorded);
    this.#questions = new Questions(options.asker);
  }

  /** Loads what decisions about the server need, before they are asked for. Undefined if that was done. */
  prepare(server: string): Promise<unknown> | undefined {
    const rules = this.#rules.load(this.#options.policyOf(server)?.rules ?? []);
    const labels = this.#options.labels.load(server);
    return rules && labels ? Promise.all([rules, labels]) : (rules ?? labels);
  }

  /**
   * Undefined if the call may be made at once, otherwise a promise of what it may be made with. A call over another connection
   * needs another permission. Throws TOOL_NOT_FOUND, POLICY_DENIED, and CANCELLED if the signal is aborted.
   */
  permit(call: ToolCall, context: PermissionContext): Promise<Permit> | undefined {
    this.refuseDenied(call);
    const reasons = this.#reasons(call, context.caller);
    return reasons && this.#confirm(call, reasons, context);
  }

  /** Why a person must be asked; undefined if nothing requires it. Throws POLICY_DENIED if a rule denies the call. */
  #reasons(call: ToolCall, given: Caller | undefined): Reasons | undefined {
    const { server, tool, args } = call;
    const policy = this.#options.policyOf(server);
    const { reads, agent } = given ?? this.#options.caller();
    const labels = this.#options.labels.of(server, tool);
    const isPublic = policy?.flow !== "off" && labels.has("public") && this.#isRisky(reads);
    const confirmation = policy && confirmationOf(policy, tool);
    const rule = policy?.rules && this.#appliedRule(policy.rules, { server, tool, args }, labels, { reads, agent });
    if (rule?.effect === "deny") throw denied(call, `is denied in the config: ${ruleText(rule)}`);
    if (!confirmation && !rule && !isPublic) return undefined;
    return { confirmation, rule, reads: isPublic ? reads : undefined, policy };
  }

  /** Whether strangers may have told the session what to do with private data, in results or in descriptions of tools. */
  #isRisky(reads: SessionReads): boolean {
    if (reads.isRisky || !reads.labels.has("private")) return reads.isRisky;
    const described = this.#options.suspiciousTool();
    if (described === undefined) return false;
    void reads.add([{ label: "untrusted", source: `the description of ${described}` }]);
    return true;
  }

  #appliedRule(
    rules: NonNullable<ServerPolicy["rules"]>,
    { server, tool, args }: Pick<ToolCall, "server" | "tool" | "args">,
    labels: ReadonlySet<Label>,
    { reads, agent }: Caller,
  ): AppliedRule | undefined {
    const name = `${server}.${tool}`;
    const { place } = this.#options;
    const factsOf = (): ConditionFacts => ({
      server,
      tool: name,
      args,
      labels,
      reads: reads.labels,
      // Few conditions ask for it.
      get agent() {
        return { ...agent, ...place };
      },
    });
    return this.#rules.applied(rules, { tool: name, labels }, factsOf, () => this.#options.argumentNames(server, tool));
  }

  /**
   * Why a person would be asked about the call; undefined if nobody would. `annotations` are those of the tool. Throws what `permit` throws
   * before it asks.
   */
  wouldAsk(call: ToolCall, annotations: ToolDefinition["annotations"], caller?: Caller): string | undefined {
    this.refuseDenied(call);
    const reasons = this.#reasons(call, caller);
    const grant = this.#granted.get(keyOf(call));
    const isGranted = grant && !grant.isVoid && (!reasons?.reads || coversReads(grant, reasons.reads));
    if (!reasons || isGranted) return undefined;
    const why = whyAsked(reasons, { annotations }, call, false);
    const limit = why === undefined ? undefined : exceededLimit(call.args);
    if (limit === undefined) return why;
    throw unreadable(call, limit, hintFor(call, reasons));
  }

  /**
   * Throws TOOL_NOT_FOUND if the tool is not known here, POLICY_DENIED if the config denies it, and DEFINITION_CHANGED if it is held,
   * whatever its arguments are.
   */
  refuseDenied(call: Pick<ToolCall, "server" | "tool" | "shownAs">): void {
    const { server, tool, shownAs } = call;
    if (!this.#options.exists(server, tool)) {
      throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${shownAs ?? tool}"`);
    }
    const policy = this.#options.policyOf(server);
    const denial = policy && denialOf(policy, tool, { isRenamed: shownAs !== undefined });
    if (denial !== undefined) throw denied(call, denial);
    const why = this.#options.whyHeld?.(server, tool);
    if (why !== undefined) throw heldBack(call, why);
  }

  /**
   * Throws POLICY_DENIED if the config denies a request of the protocol, in which tools have their own names. If a server has a policy, methods that MCP does
   * not define are denied, because their effect is unknown.
   */
  refuseRequest(server: string, { method, params }: { method: string; params?: unknown }): void {
    if (method === "tools/call") {
      const { name } = Object(params) as { name?: unknown };
      if (typeof name === "string") this.refuseDenied({ server, tool: name });
      else if (this.#options.policyOf(server))
        throw new ClaudikinsError("POLICY_DENIED", `${server}: tools/call has no tool name`);
      return;
    }
    if (!this.#options.policyOf(server) || harmlessMethods.has(method)) return;
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

  /** Asks the user, unless the tool's definition needs no permission or is allowed for the session. */
  async #confirm(call: ToolCall, reasons: Reasons, context: PermissionContext): Promise<Permit> {
    const turn = turnFor(call.args);
    if (turn) await turn;
    const limit = exceededLimit(call.args);
    // A copy: the caller may change its object while the user reads the arguments. Arguments beyond the limit are never shown.
    const args = limit === undefined ? (JSON.parse(JSON.stringify(call.args)) as object) : call.args;
    const permitFor = ({ connection }: ToolDefinition): Permit => ({ connection, args });
    const { server, tool, shownAs } = call;
    const shownArgs = limit === undefined && call.redact ? call.redact(args) : args;
    const key = keyOf(call);
    const isAlways = reasons.confirmation?.mode === "always" || reasons.rule || reasons.reads;
    let changed: string[] | undefined;
    for (let questions = 0; questions < maxQuestionRounds; ) {
      const grant = this.#granted.get(key);
      // Only a tool that its server calls harmless is trusted until the server announces a change.
      const isFresh = Boolean(isAlways) || grant !== undefined;
      const definition = withReads(await this.#definition(call, context, isFresh), reasons.reads);
      if (grant) {
        const differences = changedParts(grant.digests, definition.digests);
        if (differences.length === 0 && !grant.isVoid) return permitFor(definition);
        grant.isVoid = true;
        changed = differences;
      }
      const why = whyAsked(reasons, definition, { ...call, args: shownArgs }, changed !== undefined);
      if (why === undefined) return permitFor(definition);
      const hint = hintFor(call, reasons);
      if (limit !== undefined) throw unreadable(call, limit, hint);
      const names = shownAs === undefined ? undefined : `agents know the tool as ${shownAs}`;
      const whole = [why, names, this.#options.accountOf?.(server)].filter((each) => each !== undefined).join("; ");
      const question = { server, tool, shownAs, args: shownArgs, why: whole, changed };
      const asked = { question, definition, queue: this.#queueFor(context.made), context, hint };

      using _place = await this.#questions.place(asked);
      // Meanwhile, the user may have allowed the tool for the session.
      if (this.#granted.get(key) !== grant) continue;
      questions += 1;
      const { scope, entry } = await this.#questions.approval(asked);
      // The tool may have changed since, and the approval counts only for what was shown.
      const after = withReads(await this.#definition(call, context, true), reasons.reads);
      changed = changedParts(definition.digests, after.digests);
      if (changed.length > 0) {
        await entry.withdraw();
        continue;
      }
      if (scope === "session") {
        this.#granted.set(key, { digests: after.digests, isVoid: false });
        this.#questions.approveOthers(asked);
      }
      return permitFor(after);
    }
    throw denied(call, "was not called: its definition kept changing while the person was asked");
  }

  #definition({ server, tool }: Omit<ToolCall, "args">, { signal }: PermissionContext, isFresh: boolean) {
    return this.#options.definition(server, tool, { signal, isFresh });
  }
}

/** The error for a call whose arguments no user would read. */
function unreadable(call: ToolCall, limit: string, allowing: string): ClaudikinsError {
  const why = `was not called: a person must confirm it, and nobody reads arguments of more than ${limit}`;
  return denied(call, why, `Make several calls with fewer arguments each. ${allowing}`);
}

/** Why a person must be asked about a call. */
interface Reasons {
  confirmation: Confirmation | undefined;
  /** A rule that requires it. */
  rule: AppliedRule | undefined;
  /** Given if the call may show to others what the session has read. */
  reads: SessionReads | undefined;
  policy: ServerPolicy | undefined;
}

function coversReads({ digests }: Grant, reads: SessionReads): boolean {
  return digests.get(readsPart) === readsDigest(reads);
}

/** A permission counts only for what was read until then. */
function withReads(definition: ToolDefinition, reads: SessionReads | undefined): ToolDefinition {
  if (!reads) return definition;
  return { ...definition, digests: new Map([...definition.digests, [readsPart, readsDigest(reads)]]) };
}

/** What to change in the config so that the call needs no permission. */
function hintFor({ server, tool, shownAs }: ToolCall, { confirmation, rule, reads, policy }: Reasons): string {
  const isRenamed = shownAs !== undefined;
  if (rule) return `To call it without confirmation, change ${rule.line} of the config`;
  if (reads && !confirmation) {
    const place = pathText(["mcpServers", server, "labels"]);
    return `If nobody else can see what ${isRenamed ? "the tool" : tool} is given, say so with ${place} in the config`;
  }
  return policy ? allowingLine(server, policy, tool, { isRenamed }) : "";
}

/** Undefined if no permission is needed. */
function whyAsked(
  { confirmation, rule, reads }: Reasons,
  definition: Pick<ToolDefinition, "annotations">,
  { tool, args }: Pick<ToolCall, "tool" | "args">,
  isChanged: boolean,
): string | undefined {
  const whys = [
    rule && ruleText(rule),
    reads && flowText(reads, args),
    confirmation && whyConfirmed(confirmation, definition, tool, isChanged),
  ].filter((each) => each !== undefined);
  return whys.length === 0 ? undefined : whys.join("; ");
}

function whyConfirmed(
  { mode, line }: Confirmation,
  { annotations }: Pick<ToolDefinition, "annotations">,
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
