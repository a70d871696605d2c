/** The step of the permit that asks a person, unless the tool's definition needs no permission or is allowed for the session. */
import type { ClaudikinsError } from "../base/errors.ts";
import { copyExact } from "../base/exact-json.ts";
import { pathText } from "../config/policy.ts";
import { digestOf } from "../config/trust/marks.ts";
import { type ApprovalQueue, ImmediateQueue, type MadeCall } from "./approval-queue.ts";
import { exceededLimit, turnFor } from "./argument-size.ts";
import { allowingLine, type Confirmation, effectOf, isDestructive } from "./decision.ts";
import { changedParts, type ToolDefinition } from "./definition.ts";
import type { Leaving } from "./flow/leaving.ts";
import { ProgramReads, type SessionReads } from "./flow/session-reads.ts";
import type { Outgoing, Passing, Permission, Reasons, Step } from "./outgoing.ts";
import { type CurrentAsker, Questions } from "./questions.ts";
import { denied, keyOf } from "./refusals.ts";
import { ruleText } from "./rules.ts";

/** Questions about a tool that changes after each question. */
const maxQuestionRounds = 3;

export interface AskingOptions {
  /** Returns the person who can be asked now. */
  asker: CurrentAsker;
  definition: DefinitionOf;
  /** Without it, no call waits, and no answer is recorded. */
  queueFor?: QueueChoice | undefined;
  /** The account that the server acts for, if the user could confuse it with another one. */
  accountOf?: ((server: string) => string | undefined) | undefined;
}

/** Returns the queue of a question about a call. `made` is undefined for a call outside a program. */
export type QueueChoice = (made: MadeCall | undefined) => ApprovalQueue;

/**
 * Returns the definition of the tool, or of the server if no tool is given. With `isFresh`, the server is asked now, because a server may
 * change a tool without a notification. Otherwise the last list of the same connection is used until the server announces a change.
 */
export type DefinitionOf = (
  server: string,
  tool: string | undefined,
  options: { signal: AbortSignal | undefined; isFresh: boolean },
) => Promise<ToolDefinition>;

interface Grant {
  /** The definition that the user allowed. */
  digests: ToolDefinition["digests"];
  /** The tool's definition has changed since. The permission is void even if the old definition comes back. */
  isVoid: boolean;
}

export class Asking {
  readonly #options: AskingOptions;
  readonly #queueFor: QueueChoice;
  readonly #questions: Questions;
  /** Permissions for a session or one program of it. Several sessions may use the same connections. */
  readonly #granted = new WeakMap<SessionReads, Map<string, Grant>>();

  constructor(options: AskingOptions) {
    this.#options = options;
    const unrecorded = new ImmediateQueue();
    this.#queueFor = options.queueFor ?? (() => unrecorded);
    this.#questions = new Questions(options.asker);
  }

  /** `again` repeats the checks after the answer: the config or the tool may have changed while a person was asked. */
  step(again: (passing: Passing) => Promise<void>): Step {
    return {
      name: "ask",
      kinds: ["call", "inquiry", "sampling", "answer", "reply"],
      around: (passing, next) => {
        const { reasons } = passing;
        if (!reasons) return next(passing);
        return this.#permission(passing, reasons).then(async (permission) => {
          await again(passing);
          passing.permission = permission;
          return next(passing);
        });
      },
    };
  }

  /**
   * Why a person would be asked; undefined if nobody would. `annotations` are the tool's. Throws what the step throws before it
   * asks.
   */
  why({ request, caller, reasons, policy }: Passing, annotations: ToolDefinition["annotations"]): string | undefined {
    const grants = [caller.reads, caller.reads.session].map((scope) => this.#grantsOf(scope).get(keyOf(request)));
    const isGranted = grants.some(
      (grant) => grant && !grant.isVoid && (!reasons?.leaving || covers(grant, reasons.leaving)),
    );
    if (!reasons || isGranted) return undefined;
    const why = whyAsked(reasons, { annotations }, request, false)?.why;
    const limit = why === undefined ? undefined : exceededLimit(request.args);
    if (limit === undefined) return why;
    throw unreadable(request, limit, hintFor(request, reasons, policy));
  }

  async #permission({ request, call, caller, policy }: Passing, reasons: Reasons): Promise<Permission> {
    const turn = turnFor(request.args);
    if (turn) await turn;
    const limit = exceededLimit(request.args);
    // A copy: the caller may change its object while the user reads the arguments. Arguments beyond the limit are never shown.
    const args = limit === undefined ? copyExact(request.args) : request.args;
    const permissionFor = ({ connection }: ToolDefinition): Permission => ({ connection, args });
    const { server, tool, shownAs } = request;
    const shownArgs = limit === undefined && request.redact ? request.redact(args) : args;
    const key = keyOf(request);
    const { reads } = caller;
    const { session } = reads;
    // A call without a program has no permission for one.
    const scopes = reads === session ? [session] : [reads, session];
    const grantFor = () => {
      const grants = scopes.flatMap((scope) => this.#grantsOf(scope).get(key) ?? []);
      return grants.find((each) => !each.isVoid) ?? grants[0];
    };
    const isAlways = reasons.confirmation?.mode === "always" || reasons.rule || reasons.leaving;
    let changed: string[] | undefined;
    for (let questions = 0; questions < maxQuestionRounds; ) {
      const grant = grantFor();
      // A tool is trusted until the server announces a change only if the server calls it harmless.
      const isFresh = Boolean(isAlways) || grant !== undefined;
      const definition = withLeaving(await this.#definition(request, call.signal, isFresh), reasons.leaving);
      if (grant) {
        const differences = changedParts(grant.digests, definition.digests);
        if (differences.length === 0 && !grant.isVoid) {
          call.onDecided?.({ decision: "session" });
          return permissionFor(definition);
        }
        grant.isVoid = true;
        changed = differences;
      }
      const asking = whyAsked(reasons, definition, request, changed !== undefined);
      if (asking === undefined) return permissionFor(definition);
      const { why, told } = asking;
      const hint = hintFor(request, reasons, policy);
      if (limit !== undefined) throw unreadable(request, limit, hint);
      const names = shownAs === undefined ? undefined : `agents know the tool as ${shownAs}`;
      const whole = [why, names, this.#options.accountOf?.(server)].filter((each) => each !== undefined).join("; ");
      const question = { server, tool, shownAs, args: shownArgs, why: whole, told, changed };
      const queue = call.queue ?? this.#queueFor(call.made);
      const asked = { question, definition, queue, call, session, program: reads, hint };

      using _place = await this.#questions.place(asked);
      // Meanwhile, the user may have allowed the tool for the session or the program.
      if (grantFor() !== grant) continue;
      questions += 1;
      const { scope, entry } = await this.#questions.approval(asked);
      // The tool may have changed since, and the approval counts only for what was shown.
      const after = withLeaving(await this.#definition(request, call.signal, true), reasons.leaving);
      changed = changedParts(definition.digests, after.digests);
      if (changed.length > 0) {
        await entry.withdraw();
        continue;
      }
      allowForProgram(reasons, request);
      const place = scope === "session" ? session : scope === "program" && reads !== session ? reads : undefined;
      if (place) {
        this.#grantsOf(place).set(key, { digests: after.digests, isVoid: false });
        this.#questions.approveOthers(asked, place === session ? "session" : "program");
      }
      return permissionFor(after);
    }
    throw denied(request, "was not called: its definition kept changing while the person was asked");
  }

  #grantsOf(session: SessionReads): Map<string, Grant> {
    return this.#granted.getOrInsertComputed(session, () => new Map());
  }

  /** The method is part of the definition that a permission is bound to, because a tool may have the name of another request. */
  async #definition({ server, tool, method }: Outgoing, signal: AbortSignal | undefined, isFresh: boolean) {
    const isCall = method === "tools/call";
    const definition = await this.#options.definition(server, isCall ? tool : undefined, { signal, isFresh });
    return isCall ? definition : { ...definition, digests: new Map([...definition.digests, ["its method", method]]) };
  }
}

/** The error for a call whose arguments no user would read. */
function unreadable(request: Outgoing, limit: string, allowing: string): ClaudikinsError {
  const why = `was not called: a person must confirm it, and nobody reads arguments of more than ${limit}`;
  return denied(request, why, `Make several calls with fewer arguments each. ${allowing}`);
}

function covers({ digests }: Grant, { key }: Leaving): boolean {
  return digests.get(leavingPart) === digestOf(key);
}

/** A permission counts only for the same data, to the same place. */
function withLeaving(definition: ToolDefinition, leaving: Leaving | undefined): ToolDefinition {
  if (!leaving) return definition;
  return { ...definition, digests: new Map([...definition.digests, [leavingPart, digestOf(leaving.key)]]) };
}

/** A program that sends the same data to the same place in many calls asks once. */
function allowForProgram({ leaving, confirmation, rule }: Reasons, request: Outgoing): void {
  if (leaving?.reads instanceof ProgramReads && !confirmation && !rule)
    leaving.reads.allowed.add(allowanceOf(request, leaving));
}

export function allowanceOf(request: Outgoing, { key }: Leaving): string {
  return `${keyOf(request)}\n${key}`;
}

/** The change of the config with which the request needs no permission. */
function hintFor(
  { server, tool, shownAs, method }: Outgoing,
  { confirmation, rule, leaving }: Reasons,
  policy: Passing["policy"],
): string {
  const isRenamed = shownAs !== undefined;
  if (rule) return `To call it without confirmation, change ${rule.line} of the config`;
  const isCall = method === "tools/call";
  if (leaving && !confirmation) {
    const place = pathText(["mcpServers", server, "labels"]);
    const what = isCall ? (isRenamed ? "the tool" : tool) : server;
    return `If nobody else can see what ${what} is given, say so with ${place} in the config`;
  }
  if (!policy) return "";
  return isCall
    ? allowingLine(server, policy, tool, { isRenamed })
    : `This is required by ${confirmation?.line} of the config`;
}

/** The reason for asking the user, and the same reason for the agent without any data. Undefined if no permission is needed. */
function whyAsked(
  { confirmation, rule, leaving }: Reasons,
  definition: Pick<ToolDefinition, "annotations">,
  { tool }: Pick<Outgoing, "tool">,
  isChanged: boolean,
): { why: string; told: string } | undefined {
  const confirmed = confirmation && whyConfirmed(confirmation, definition, tool, isChanged);
  const calls = confirmation?.mode === "always" ? "every call" : "calls that may destroy something";
  const all = [
    rule && { why: ruleText(rule), told: ruleText(rule) },
    leaving,
    confirmed === undefined ? undefined : { why: confirmed, told: `the user confirms ${calls} of this tool` },
  ].filter((each) => each !== undefined);
  if (all.length === 0) return undefined;
  return { why: all.map(({ why }) => why).join("; "), told: all.map(({ told }) => told).join("; ") };
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

/** The name, for the user, of the part of a permission that is bound to the data that leaves. */
const leavingPart = "what was read before";
