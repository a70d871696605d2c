/** Requests to servers: their kinds in MCP, and the facts about one request that the steps of the permit share. */
import type { JsonObject } from "../base/json-object.ts";
import type { Label, ServerPolicy } from "../config/policy.ts";
import type { Call } from "./call.ts";
import type { Confirmation } from "./decision.ts";
import type { Leaving } from "./flow/leaving.ts";
import type { Caller } from "./flow/session-reads.ts";
import type { AppliedRule } from "./rules.ts";

/**
 * Every request and notification of both eras that may be sent to a server, and the servers' requests that are answered, grouped by the
 * data that they carry.
 */
const methods = {
  call: ["tools/call"],
  /** Texts that a program or an agent has chosen. */
  inquiry: ["resources/read", "resources/subscribe", "prompts/get", "skills/get", "completion/complete"],
  /** Only the cursor of a page that the server has named. */
  list: ["resources/list", "resources/templates/list", "prompts/list", "skills/list"],
  /** A text that the agent's model writes for a server. */
  sampling: ["sampling/createMessage"],
  /** Values that a person enters in a form that names the server, and the folders of the agent. */
  answer: ["elicitation/create", "roots/list"],
  /** The values of a form when they are sent back to the server. The method name is ours, because MCP sends them in an answer. */
  reply: ["elicitation/reply"],
  /** No data of a session, or a part of a permitted request: its task, or a subscription that ends or is renewed. */
  service: [
    "initialize",
    "server/discover",
    "ping",
    "logging/setLevel",
    "tools/list",
    "resources/unsubscribe",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
  ],
} as const;

export type Kind = keyof typeof methods;
export type Method = (typeof methods)[Kind][number];

const kinds: ReadonlyMap<string, Kind> = new Map(
  Object.entries(methods).flatMap(([kind, all]) => all.map((method) => [method, kind as Kind] as const)),
);

/** Undefined for a method that MCP does not define. */
export function kindOf(method: string): Kind | undefined {
  return kinds.get(method);
}

export interface ToolCall {
  server: string;
  /** The tool's own name. Other requests have the name of their function in programs, such as `resources.read`. */
  tool: string;
  /** The name that agents know it by, if that is a different name. */
  shownAs?: string | undefined;
  args: object;
  /** Removes secrets from arguments that the config has added. Without it, all arguments come from the caller. */
  redact?: ((args: object) => object) | undefined;
}

export interface Outgoing extends ToolCall {
  method: Method;
}

/** Makes a request that is not a tool call. Rules and questions name it as programs do. */
export function inquiryOf(server: string, method: Method, args: object): Outgoing {
  return { server, method, tool: method.replaceAll("/", "."), args };
}

/** The connection and the arguments for which a request is permitted. */
export interface Permission {
  /** The connection for which it counts. */
  connection: object | undefined;
  /** The arguments that the user was shown, with the secrets that the config has added. */
  args: object;
}

/** Why a person must be asked about a request. */
export interface Reasons {
  confirmation?: Confirmation | undefined;
  /** A rule that requires it. */
  rule?: AppliedRule | undefined;
  /** Set if the request may show private data to others, or sends anything to a place that a stranger has named. */
  leaving?: Leaving | undefined;
}

/** Sends the request. Undefined if its connection is not the one that it was permitted for. */
export type Send = (permission: Permission | undefined) => Promise<JsonObject | undefined>;

/** A request on its way through the steps. */
export interface Passing {
  readonly request: Outgoing;
  readonly kind: Kind;
  readonly call: Call;
  readonly caller: Caller;
  readonly policy: ServerPolicy | undefined;
  readonly send: Send;
  /** The findings of the checks. Undefined if no person must be asked. */
  reasons: Reasons | undefined;
  /** The labels of the requested tool or resource, once they were looked up. */
  labels: ReadonlySet<Label> | undefined;
  /** The permission of a person, if one was needed. */
  permission: Permission | undefined;
  /** Whether a quota has counted it. */
  isCounted: boolean;
}

/** The remaining steps, and then the sending. */
export type Next = (passing: Passing) => Promise<JsonObject | undefined>;

/** A step of the permit. */
export interface Step {
  readonly name: string;
  /** The requests that it decides about. */
  readonly kinds: readonly Kind[];
  /** Loads the data that the check needs. Undefined if the data is already loaded. */
  prepare?(passing: Passing): Promise<unknown> | undefined;
  /**
   * Throws if the request may not be sent, or adds a reason to ask a person. It also runs for callers that only want to know the decision.
   */
  check?(passing: Passing): void;
  /** Calls `next`, before or after its own work. */
  around?(passing: Passing, next: Next): Promise<JsonObject | undefined>;
}
