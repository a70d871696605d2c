/**
 * The permit: one ordered list of steps. Every request to a server passes these steps. Each step names the kinds of requests that it
 * applies to.
 */
import { ClaudikinsError, wholeTextOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { jsonSize } from "../base/json-size.ts";
import type { ConditionFacts } from "../config/condition.ts";
import type { Label, ServerPolicy } from "../config/policy.ts";
import { Asking, type AskingOptions, allowanceOf } from "./asking.ts";
import type { Call } from "./call.ts";
import { closingLine, confirmationOf, denialOf } from "./decision.ts";
import type { ToolDefinition } from "./definition.ts";
import { isEcho } from "./flow/echo.ts";
import { leavingIn, leavingInAnswer } from "./flow/leaving.ts";
import { type Caller, ProgramReads, type Read } from "./flow/session-reads.ts";
import type { ToolLabels } from "./flow/tool-labels.ts";
import type { WrittenServers } from "./flow/written-servers.ts";
import { maxEchoChars } from "./limits.ts";
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
import type { UsageQuotas } from "./quotas.ts";
import { denied, heldBack, shownId } from "./refusals.ts";
import { type ArgumentNames, Rules, ruleText } from "./rules.ts";

/** Attempts of a request that is permitted for one connection, if its server is restarted each time. */
const maxSendAttempts = 3;

export interface PermitOptions extends ServerFacts, AskingOptions {
  policyOf: (server: string) => ServerPolicy | undefined;
  quotas?: UsageQuotas | undefined;
  /** The agent of the connection. */
  caller: () => Caller;
}

/** The steps for one kind of request. */
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
  /** The steps that can refuse a request without looking at its arguments. */
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
    call: Call,
    send: (permission: Permission | undefined) => Promise<T | undefined>,
    meanwhile?: () => void,
  ): Promise<T> {
    const passing = this.#begin(request, call, send);
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

  /** Throws if a request may not be sent with any arguments: TOOL_NOT_FOUND, POLICY_DENIED, DEFINITION_CHANGED. */
  refuse(request: Outgoing): void {
    this.#refuse(this.#begin(request, {}));
  }

  /** Like `refuse`, for a protocol message. Tools have their own names in it. Methods that MCP does not define are denied. */
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
   * Why a person would be asked about a request; undefined if nobody would. `annotations` are the tool's. Throws what `send` throws
   * before it asks.
   */
  async wouldAsk(
    request: Outgoing,
    annotations: ToolDefinition["annotations"],
    call: Call,
  ): Promise<string | undefined> {
    const passing = this.#begin(request, call);
    await this.#prepare(passing);
    this.#check(passing);
    return this.#asking.why(passing, annotations);
  }

  #begin(request: Outgoing, call: Call, send: Send = unsent): Passing {
    return {
      request,
      kind: kindOf(request.method) ?? "call",
      call,
      caller: call.caller ?? this.#options.caller(),
      policy: this.#options.policyOf(request.server),
      send,
      reasons: undefined,
      labels: undefined,
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
    passing.labels = undefined;
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

/** Facts about the servers. */
interface ServerFacts {
  /** Whether the tool may be known here. */
  exists: (server: string, tool: string) => boolean;
  /** Compares the tools with the accepted definitions, if calls must wait for this. Undefined if they need not wait. */
  verified?: ((server: string, signal: AbortSignal | undefined) => Promise<unknown> | undefined) | undefined;
  /** Why the tool is held until a person has seen its changed definition. Undefined if it is not. */
  whyHeld?: ((server: string, tool: string) => string | undefined) | undefined;
  /** The labels of the tools' data. */
  labels: Pick<ToolLabels<never>, "load" | "of" | "ofAll" | "isStrange">;
  argumentNames: ArgumentNames;
  /** The servers into which text of strangers was written. */
  written?: WrittenServers | undefined;
  /** The tool whose description has the letters, such as an address. */
  describedIn: (letters: string) => string | undefined;
  /** Whether a call of the tool may change something. */
  changes: (server: string, tool: string) => boolean;
  /** Returns a tool whose description seems to talk to the agent. Agents read descriptions like results. */
  suspiciousTool: () => string | undefined;
  /** Whether the server asks a model: its answers may say what it was given. */
  isModel: (server: string) => boolean;
  /** Returns data that the tool's definition asks for besides its own, such as the result of another tool. */
  asksFor: (server: string, tool: string) => string | undefined;
  /** The door and the person that requests are made for, for rules. */
  place: { door: string; person: string };
  /** A result as JSON. */
  jsonOf: (result: JsonObject) => string;
  /** Whether an error of a request may have text of its server. */
  hasServerText: (error: unknown) => boolean;
}

/** Refuses tools that the config denies, and servers that it closes. */
function deniedStep({ exists }: ServerFacts): Step {
  return {
    name: "denied",
    kinds: ["call", "inquiry", "list", "sampling", "answer", "reply"],
    check({ request, kind, policy }) {
      const { server, tool, shownAs } = request;
      if (kind !== "call") {
        const line = policy && closingLine(policy);
        if (line === undefined) return;
        throw denied(request, `is denied in the config by ${line}`);
      }
      if (!exists(server, tool)) {
        throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${shownAs ?? tool}"`);
      }
      const denial = policy && denialOf(policy, tool, { isRenamed: shownAs !== undefined });
      if (denial !== undefined) throw denied(request, denial);
    },
  };
}

/** Refuses tools whose definition has changed since a person accepted it. */
function heldStep({ verified, whyHeld }: ServerFacts): Step {
  return {
    name: "held",
    kinds: ["call"],
    prepare: ({ request, call }) => verified?.(request.server, call.signal),
    check({ request }) {
      const why = whyHeld?.(request.server, request.tool);
      if (why !== undefined) throw heldBack(request, why);
    },
  };
}

/** Applies the config's rules and `confirm`. */
function rulesStep(facts: ServerFacts): Step {
  const rules = new Rules();
  return {
    name: "rules",
    kinds: ["call", "inquiry", "sampling", "answer", "reply"],
    prepare: ({ policy }) => rules.load(policy?.rules ?? []),
    check(passing) {
      const { request, kind, policy } = passing;
      if (!policy) return;
      // The agent's user answers the other requests.
      const isConfirmed = kind === "call" || kind === "inquiry";
      const confirmation = isConfirmed ? confirmationOf(policy, kind === "call" ? request.tool : undefined) : undefined;
      const rule = policy.rules && appliedRule(rules, facts, passing);
      if (rule?.effect === "deny") throw denied(request, `is denied in the config: ${ruleText(rule)}`);
      if (confirmation || rule) passing.reasons = { ...passing.reasons, confirmation, rule };
    },
  };
}

function appliedRule(rules: Rules, facts: ServerFacts, passing: Passing) {
  const { request, caller, policy } = passing;
  const { server, args } = request;
  const tool = `${server}.${request.tool}`;
  const labels = labelsOf(passing, facts);
  const factsOf = (): ConditionFacts => ({
    server,
    tool,
    args,
    labels,
    // Computed only on demand, because few conditions use these.
    get reads() {
      noteDescriptions(passing, facts);
      return caller.reads.labels;
    },
    get agent() {
      return { ...caller.agent, ...facts.place };
    },
  });
  return rules.applied(policy?.rules ?? [], { tool, labels }, factsOf, () => facts.argumentNames(server, request.tool));
}

/**
 * Asks a person before private data leaves if strangers may have asked for it, and before anything goes to a place that a stranger has
 * named.
 */
function labelsStep(facts: ServerFacts): Step {
  return {
    name: "labels",
    kinds: ["call", "inquiry", "sampling", "reply"],
    prepare({ request, caller }) {
      const loading = facts.labels.load(request.server);
      const { pending } = caller.reads;
      return loading && pending ? Promise.all([loading, pending]) : (loading ?? pending);
    },
    check(passing) {
      const { caller, policy } = passing;
      const { request, kind } = passing;
      const { flow: mode = "ask" } = policy ?? {};
      // The call that asks our own model was judged before.
      if (mode === "off" || (kind === "sampling" && facts.isModel(request.server))) return;
      const labels = labelsOf(passing, facts);
      const isCall = kind === "call";
      noteDescriptions(passing, facts);
      const leaving =
        kind === "sampling"
          ? leavingInAnswer(request.server, caller.reads)
          : leavingIn({
              server: request.server,
              tool: request.tool,
              asksFor: () => (isCall ? facts.asksFor(request.server, request.tool) : undefined),
              isStrange: () => facts.labels.isStrange(request.server, isCall ? request.tool : undefined),
              changes: () => isCall && facts.changes(request.server, request.tool),
              describedIn: facts.describedIn,
              args: request.args,
              labels,
              reads: caller.reads,
              mode,
            });
      if (!leaving || isAllowed(caller, allowanceOf(request, leaving))) return;
      passing.reasons = { ...passing.reasons, leaving };
    },
  };
}

function isAllowed({ reads }: Caller, allowance: string): boolean {
  return reads instanceof ProgramReads && reads.allowed.has(allowance);
}

/** Other requests than calls have the labels of their whole server. They are looked up once for each attempt. */
function labelsOf(passing: Passing, { labels }: ServerFacts): ReadonlySet<Label> {
  const { server, tool } = passing.request;
  passing.labels ??= passing.kind === "call" ? labels.of(server, tool) : labels.ofAll(server);
  return passing.labels;
}

/** Descriptions of tools may also contain instructions of strangers, so they count as read. */
function noteDescriptions({ caller: { reads } }: Passing, { suspiciousTool }: ServerFacts): void {
  if (reads.isRisky || !reads.labels.has("private")) return;
  const described = suspiciousTool();
  if (described !== undefined) void reads.add([{ label: "untrusted", source: `the description of ${described}` }]);
}

/** The quotas count requests, and bound how many are sent at once. `again` repeats the checks after the wait. */
function quotaStep(quotas: UsageQuotas | undefined, { jsonOf }: ServerFacts, again: (passing: Passing) => void): Step {
  return {
    name: "quota",
    kinds: ["call", "inquiry"],
    around(passing, next) {
      const { request, call } = passing;
      const { server } = request;
      if (!quotas?.counts(server) || passing.isCounted) return next(passing);
      passing.isCounted = true;
      const counted = {
        server,
        execution: call.made?.execution,
        owner: passing.caller.owner,
        signal: call.signal,
        argumentBytes: () => Buffer.byteLength(JSON.stringify(request.args)),
        resultBytes: (result: JsonObject | undefined) => (result ? Buffer.byteLength(jsonOf(result)) : 0),
      };
      return quotas.call(counted, () => {
        again(passing);
        return next(passing);
      });
    },
  };
}

/**
 * Records the data that is read before anyone gets the server's answer or error, and whether text of strangers was written into the server.
 */
function recordStep(facts: ServerFacts): Step {
  return {
    name: "record",
    kinds: ["call", "inquiry", "list"],
    prepare: ({ request }) => facts.written?.load(request.server),
    around(passing, next) {
      const { request, kind, caller } = passing;
      const { server, tool, args } = request;
      const writing =
        facts.written && kind === "call" && !labelsOf(passing, facts).has("public") && facts.changes(server, tool)
          ? facts.written.wrote(server, args, caller.reads)
          : undefined;
      const sending = writing ? writing.then(() => next(passing)) : next(passing);
      const labelled =
        kind === "list"
          ? listReads(server)
          : readsOf(labelsOf(passing, facts), kind === "call" ? shownId(request) : server);
      const written = facts.written?.in(server) ?? [];
      const given = kind === "call" && facts.isModel(server) ? givenTo(request, caller) : [];
      const reads = written.length + given.length === 0 ? labelled : [...labelled, ...written, ...given];
      if (reads.length === 0) return sending;
      // Not async: each async function on the path of a call adds to its time.
      return sending.then(
        (result) => {
          if (!result) return result;
          const size = jsonSize(result);
          const text = () => facts.jsonOf(result);
          if (kind === "call" && size <= maxEchoChars && isEcho(text(), request)) return result;
          return caller.reads.add(reads, { size, text })?.then(() => result) ?? result;
        },
        async (error: unknown) => {
          const text = wholeTextOf(error);
          if (facts.hasServerText(error)) await caller.reads.add(reads, { size: text.length, text });
          throw error;
        },
      );
    },
  };
}

/** A model may repeat its input in other words. */
function givenTo(request: Outgoing, { reads }: Caller): readonly Read[] {
  return reads.labels.has("private") ? [{ label: "private", source: shownId(request) }] : [];
}

/** The lists of a server contain texts of the server's author. */
function listReads(server: string): readonly Read[] {
  return lists.getOrInsertComputed(server, () => [{ label: "untrusted", source: `the lists of ${server}` }]);
}

const lists = new Map<string, readonly Read[]>();

/** The reads of requests by their labels. The labels are the same object while nothing changes. */
const known = new WeakMap<ReadonlySet<Label>, { source: string; reads: readonly Read[] }>();

function readsOf(labels: ReadonlySet<Label>, source: string): readonly Read[] {
  const found = known.get(labels);
  if (found?.source === source) return found.reads;
  const reads = [...labels].flatMap((label): Read[] => (label === "public" ? [] : [{ label, source }]));
  known.set(labels, { source, reads });
  return reads;
}
