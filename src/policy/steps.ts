/** The steps of the permit that decide by themselves. `asking.ts` has the one that asks a person. */
import { ClaudikinsError, type ErrorCode, messageOf } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { ConditionFacts } from "../config/condition.ts";
import type { Label } from "../config/policy.ts";
import { closingLine, confirmationOf, denialOf } from "./decision.ts";
import type { Read } from "./flow/session-reads.ts";
import type { ToolLabels } from "./flow/tool-labels.ts";
import type { Passing, Step } from "./outgoing.ts";
import type { UsageQuotas } from "./quotas.ts";
import { denied, heldBack, shownId } from "./refusals.ts";
import { type ArgumentNames, Rules, ruleText } from "./rules.ts";

/** What is known of the servers. */
export interface ServerFacts {
  /** Whether the tool may be known here. */
  exists: (server: string, tool: string) => boolean;
  /** Compares the tools with the accepted definitions, if calls must wait for that. Undefined if they need not. */
  verified?: ((server: string, signal: AbortSignal | undefined) => Promise<unknown> | undefined) | undefined;
  /** Why the tool is held until a person has seen its changed definition. Undefined if it is not. */
  whyHeld?: ((server: string, tool: string) => string | undefined) | undefined;
  /** The labels of the tools' data. */
  labels: Pick<ToolLabels<never>, "load" | "of" | "ofAll">;
  argumentNames: ArgumentNames;
  /** A tool whose description seems to talk to the agent. Descriptions are read like results. */
  suspiciousTool: () => string | undefined;
  /** The door and the person that requests are made for, for rules. */
  place: { door: string; person: string };
  /** A result as JSON. */
  jsonOf: (result: JsonObject) => string;
}

/** What servers are asked for or ask for, in texts. */
const nouns: ReadonlyMap<string, string> = new Map([
  ["completion", "completions"],
  ["sampling", "requests to the model"],
  ["elicitation", "questions"],
  ["roots", "requests for roots"],
]);

/** The config denies the tool, or everything of the server. */
export function deniedStep({ exists }: ServerFacts): Step {
  return {
    name: "denied",
    kinds: ["call", "inquiry", "list", "sampling", "answer"],
    check({ request, kind, policy }) {
      const { server, tool, shownAs, method } = request;
      if (kind !== "call") {
        const line = policy && closingLine(policy);
        if (line === undefined) return;
        const first = method.split("/")[0] ?? "";
        const what = `The ${nouns.get(first) ?? first} of ${server} are denied in the config by ${line}`;
        throw new ClaudikinsError("POLICY_DENIED", what);
      }
      if (!exists(server, tool)) {
        throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${shownAs ?? tool}"`);
      }
      const denial = policy && denialOf(policy, tool, { isRenamed: shownAs !== undefined });
      if (denial !== undefined) throw denied(request, denial);
    },
  };
}

/** The definition of the tool has changed since a person accepted it. */
export function heldStep({ verified, whyHeld }: ServerFacts): Step {
  return {
    name: "held",
    kinds: ["call"],
    prepare: ({ request, context }) => verified?.(request.server, context.signal),
    check({ request }) {
      const why = whyHeld?.(request.server, request.tool);
      if (why !== undefined) throw heldBack(request, why);
    },
  };
}

/** The config's rules and `confirm`. */
export function rulesStep(facts: ServerFacts): Step {
  const rules = new Rules();
  return {
    name: "rules",
    kinds: ["call", "inquiry", "sampling", "answer"],
    prepare: ({ policy }) => rules.load(policy?.rules ?? []),
    check(passing) {
      const { request, kind, policy } = passing;
      if (!policy) return;
      // The agent's person answers the others.
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
    // Few conditions ask for these.
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

/** Private data that the session has read does not leave if strangers may have told it to send that. */
export function labelsStep(facts: ServerFacts): Step {
  return {
    name: "labels",
    kinds: ["call", "inquiry", "sampling"],
    prepare({ request, caller }) {
      const loading = facts.labels.load(request.server);
      const { pending } = caller.reads;
      return loading && pending ? Promise.all([loading, pending]) : (loading ?? pending);
    },
    check(passing) {
      const { caller, policy } = passing;
      if (policy?.flow === "off" || !labelsOf(passing, facts).has("public")) return;
      noteDescriptions(passing, facts);
      if (caller.reads.isRisky) passing.reasons = { ...passing.reasons, reads: caller.reads };
    },
  };
}

/** What is not a tool has the labels of all of its server. */
function labelsOf({ request: { server, tool }, kind }: Passing, { labels }: ServerFacts): ReadonlySet<Label> {
  return kind === "call" ? labels.of(server, tool) : labels.ofAll(server);
}

/** Strangers may have told the session what to do with private data in descriptions of tools, too. */
function noteDescriptions({ caller: { reads } }: Passing, { suspiciousTool }: ServerFacts): void {
  if (reads.isRisky || !reads.labels.has("private")) return;
  const described = suspiciousTool();
  if (described !== undefined) void reads.add([{ label: "untrusted", source: `the description of ${described}` }]);
}

/** The quotas count requests, and bound how many are sent at once. `again` repeats the checks after the wait. */
export function quotaStep(
  quotas: UsageQuotas | undefined,
  { jsonOf }: ServerFacts,
  again: (passing: Passing) => void,
): Step {
  return {
    name: "quota",
    kinds: ["call", "inquiry"],
    around(passing, next) {
      const { request, context } = passing;
      const { server } = request;
      if (!quotas?.counts(server) || passing.isCounted) return next(passing);
      passing.isCounted = true;
      const counted = {
        server,
        execution: context.made?.execution,
        owner: passing.caller.owner,
        signal: context.signal,
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

/** Errors with which a server has answered. Others say nothing that it has written. */
const answers: ReadonlySet<ErrorCode | undefined> = new Set(["TOOL_FAILED", "INVALID_ARGUMENTS", "PROTOCOL_ERROR"]);

/** Records what the session reads, before it gets the answer or the error of the server. */
export function recordStep(facts: ServerFacts): Step {
  return {
    name: "record",
    kinds: ["call", "inquiry"],
    around(passing, next) {
      const { request, kind, caller } = passing;
      const sending = next(passing);
      const reads = readsOf(labelsOf(passing, facts), kind === "call" ? shownId(request) : request.server);
      if (reads.length === 0) return sending;
      // Not async: each async function on the path of a call adds to its time.
      return sending.then(
        (result) => (result && caller.reads.add(reads, () => facts.jsonOf(result)))?.then(() => result) ?? result,
        async (error: unknown) => {
          if (answers.has((error as { code?: ErrorCode }).code)) await caller.reads.add(reads, () => messageOf(error));
          throw error;
        },
      );
    },
  };
}

/** What requests return, by their labels, which stay the same object while nothing changes. */
const known = new WeakMap<ReadonlySet<Label>, { source: string; reads: readonly Read[] }>();

function readsOf(labels: ReadonlySet<Label>, source: string): readonly Read[] {
  const found = known.get(labels);
  if (found?.source === source) return found.reads;
  const reads = [...labels].flatMap((label): Read[] => (label === "public" ? [] : [{ label, source }]));
  known.set(labels, { source, reads });
  return reads;
}
