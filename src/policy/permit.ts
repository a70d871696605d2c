/** The permit: one ordered list of steps, which everything passes that goes to a server. Each step says for which requests it counts. */
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { ServerPolicy } from "../config/policy.ts";
import { Asking, type AskingOptions } from "./asking.ts";
import type { ToolDefinition } from "./definition.ts";
import type { Caller } from "./flow/caller.ts";
import { maxSendAttempts } from "./limits.ts";
import {
  inquiryOf,
  type Kind,
  kindOf,
  type Method,
  type Next,
  type Outgoing,
  type Passing,
  type Permission,
  type Send,
  type Step,
} from "./outgoing.ts";
import type { PermissionContext } from "./questions.ts";
import type { UsageQuotas } from "./quotas.ts";
import { shownId } from "./refusals.ts";
import { deniedStep, heldStep, labelsStep, quotaStep, recordStep, rulesStep, type ServerFacts } from "./steps.ts";

export interface PermitOptions extends ServerFacts, AskingOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  quotas?: UsageQuotas | undefined;
  /** The agent of the connection. */
  caller: () => Caller;
}

/** The steps that count for one kind of request. */
interface Way {
  prepares: NonNullable<Step["prepare"]>[];
  checks: NonNullable<Step["check"]>[];
  go: Next;
}

export class Permit {
  /** In their order. */
  readonly steps: readonly Step[];
  readonly #options: PermitOptions;
  readonly #asking: Asking;
  readonly #ways = new Map<Kind, Way>();
  /** The steps that refuse a request whatever its arguments are. */
  readonly #refusing: readonly Step[];

  constructor(options: PermitOptions) {
    this.#options = options;
    this.#asking = new Asking(options);
    this.#refusing = [deniedStep(options), heldStep(options)];
    this.steps = [
      ...this.#refusing,
      rulesStep(options),
      labelsStep(options),
      quotaStep(options.quotas, options, (passing) => this.#check(passing)),
      this.#asking.step(async (passing) => {
        await this.#prepare(passing);
        this.#refuse(passing);
      }),
      recordStep(options),
    ];
  }

  /**
   * Sends a request once all steps have let it pass. A permission counts for one connection, because a restarted server may be another
   * program: if `send` returns nothing, the steps are repeated. `meanwhile` is called if a step has to load something first. Throws
   * POLICY_DENIED, TOOL_NOT_FOUND, DEFINITION_CHANGED, QUOTA_REACHED, CANCELLED, and what `send` throws.
   */
  async send<T extends JsonObject>(
    request: Outgoing,
    context: PermissionContext,
    send: (permission: Permission | undefined) => Promise<T | undefined>,
    meanwhile?: () => void,
  ): Promise<T> {
    const passing = this.#begin(request, context, send);
    for (let attempt = 1; attempt <= maxSendAttempts; attempt++) {
      const preparing = this.#prepare(passing);
      if (preparing) {
        meanwhile?.();
        await preparing;
      }
      this.#check(passing);
      const result = await this.#wayOf(passing.kind).go(passing);
      if (result) return result as T;
    }
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `${shownId(request)} was not called: its server keeps restarting`);
  }

  /** Throws if a request may not be sent whatever its arguments are: TOOL_NOT_FOUND, POLICY_DENIED, DEFINITION_CHANGED. */
  refuse(request: Outgoing): void {
    this.#refuse(this.#begin(request, {}));
  }

  /** As `refuse`, for a message of the protocol, in which tools have their own names. Methods that MCP does not define are denied. */
  refuseMessage(server: string, { method, params }: { method: string; params?: unknown }): void {
    const kind = kindOf(method);
    if (kind === undefined) throw new ClaudikinsError("POLICY_DENIED", `"${method}" is not an MCP request`);
    if (kind === "service") return;
    const { name } = Object(params) as { name?: unknown };
    if (kind === "call" && typeof name !== "string") {
      throw new ClaudikinsError("POLICY_DENIED", `${server}: tools/call has no tool name`);
    }
    const request = inquiryOf(server, method as Method, {});
    this.refuse(kind === "call" ? { ...request, tool: String(name) } : request);
  }

  /**
   * Why a person would be asked about a request; undefined if nobody would. `annotations` are those of the tool. Throws what `send` throws
   * before it asks.
   */
  async wouldAsk(
    request: Outgoing,
    annotations: ToolDefinition["annotations"],
    context: PermissionContext,
  ): Promise<string | undefined> {
    const passing = this.#begin(request, context);
    await this.#prepare(passing);
    this.#check(passing);
    return this.#asking.why(passing, annotations);
  }

  #begin(request: Outgoing, context: PermissionContext, send: Send = unsent): Passing {
    return {
      request,
      kind: kindOf(request.method) ?? "call",
      context,
      caller: context.caller ?? this.#options.caller(),
      policy: this.#options.policyOf(request.server),
      send,
      reasons: undefined,
      permission: undefined,
      isCounted: false,
    };
  }

  /** Undefined if the checks can be made now. */
  #prepare(passing: Passing): Promise<unknown> | undefined {
    let all: Promise<unknown> | undefined;
    for (const prepare of this.#wayOf(passing.kind).prepares) {
      const preparing = prepare(passing);
      if (preparing) all = all ? Promise.all([all, preparing]) : preparing;
    }
    return all;
  }

  #check(passing: Passing): void {
    passing.reasons = undefined;
    for (const check of this.#wayOf(passing.kind).checks) check(passing);
  }

  #refuse(passing: Passing): void {
    for (const step of this.#refusing) if (step.kinds.includes(passing.kind)) step.check?.(passing);
  }

  #wayOf(kind: Kind): Way {
    return this.#ways.getOrInsertComputed(kind, () => {
      const steps = this.steps.filter(({ kinds }) => kinds.includes(kind));
      const arounds = steps.flatMap(({ around }) => around ?? []);
      return {
        prepares: steps.flatMap(({ prepare }) => prepare ?? []),
        checks: steps.flatMap(({ check }) => check ?? []),
        go: arounds.reduceRight<Next>((next, around) => (passing) => around(passing, next), sendNow),
      };
    });
  }
}

const sendNow: Next = (passing) => passing.send(passing.permission);

const unsent: Send = async () => undefined;
