/**
 * The functions that a server has beside its tools: `server.resources.list()`, `server.prompts.get(name, args)`. Values have the
 * shapes of MCP.
 */

import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { Call } from "../policy/call.ts";
import type { BindingCall } from "../sandbox/contract.ts";
import type { Request } from "../servers/connection/send-request.ts";
import type { Pool } from "../servers/pool.ts";

/** Maximum number of open subscriptions of one execution. */
const maxOpenSubscriptions = 100;

/** Changed resources that wait to be asked for. Several changes of one resource count once. */
const maxChangedResources = 1_000;

interface Around {
  pool: Pool;
  subscriptions: CodeSubscriptions;
  call: Call;
  /** Answers a request of a dry run that is not sent. Undefined if it is. */
  planned?: ((server: string, request: Request) => Promise<JsonObject | undefined>) | undefined;
}

type ServerFunction = (server: string, args: JsonObject, around: Around) => unknown;

/** By group and name. Calls that continue a subscription name no server. */
const functions: Record<string, ServerFunction> = {
  "resources.list": async (server, _, { pool, call }) => ({ resources: await pool.listResources(server, call) }),
  "resources.templates": async (server, _, { pool, call }) => ({
    resourceTemplates: await pool.listResourceTemplates(server, call),
  }),
  "resources.read": (server, { uri }, { pool, call }) => pool.readResource(server, String(uri), call),
  "resources.subscribe": (server, { uri }, { subscriptions, call }) =>
    subscriptions.subscribe(server, String(uri), call),
  "resources.next": (_, { id }, { subscriptions }) => subscriptions.next(Number(id)),
  "resources.unsubscribe": (_, { id }, { subscriptions }) => subscriptions.unsubscribe(Number(id)),
  "skills.list": async (server, _, { pool, call }) => ({ skills: await pool.listSkills(server, call) }),
  "skills.read": (server, { uri }, { pool, call }) => pool.readResource(server, String(uri), call),
  "prompts.list": async (server, _, { pool, call }) => ({ prompts: await pool.listPrompts(server, call) }),
  "prompts.get": (server, { name, arguments: given = {} }, { pool, call }) =>
    pool.getPrompt(server, String(name), Object(given), call),
};

/** The requests of the functions that send a text of the program, with checked arguments. */
const inquiries: Record<string, (server: string, args: JsonObject) => Request> = {
  "resources.read": (server, { uri }) => read(text(uri, `${server}.resources.read("<uri>")`)),
  "resources.subscribe": (server, { uri }) => ({
    method: "resources/subscribe",
    params: { uri: text(uri, `${server}.resources.subscribe("<uri>")`) },
  }),
  "skills.read": (server, { uri }) => read(text(uri, `${server}.skills.read("<uri>")`)),
  "prompts.get": (server, { name, arguments: given = {} }) => ({
    method: "prompts/get",
    params: { name: text(name, `${server}.prompts.get("<name>", { …arguments })`), arguments: Object(given) },
  }),
};

const read = (uri: string): Request => ({ method: "resources/read", params: { uri } });

function isServerFunction(group: string, name: string): boolean {
  return Object.hasOwn(functions, `${group}.${name}`);
}

/** Whether a call that is not of a tool can have this name: of a function for programs, or of a request in direct mode. */
export function isKnownFunction(group: string, name: string): boolean {
  return isServerFunction(group, name) || (group === "skills" && name === "get");
}

/** Throws what the pool throws. */
export async function serverFunction(wanted: BindingCall, around: Around): Promise<unknown> {
  const { namespace: server, group, name, args } = wanted;
  if (!isServerFunction(group, name)) {
    throw new ClaudikinsError("TOOL_NOT_FOUND", `${server}.${group} has no function "${name}"`);
  }
  const { pool, call, planned } = around;
  const inquiry = inquiries[`${group}.${name}`]?.(server, args);
  const run = async () =>
    (inquiry && (await planned?.(server, inquiry))) ?? functions[`${group}.${name}`]?.(server, args, around);
  return pool.signedIn(server, run, call);
}

function text(value: unknown, signature: string): string {
  if (typeof value === "string" && value !== "") return value;
  const name = signature.slice(0, signature.indexOf("("));
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${name} takes a string, got ${JSON.stringify(value) ?? "nothing"}`, {
    hint: signature,
  });
}

interface OpenSubscription {
  changed: Set<string>;
  /** Resolves on the next change, and when the subscription ends. Then it is replaced. */
  waiting: PromiseWithResolvers<void>;
  end: () => void;
}

/**
 * Resource subscriptions of one execution. The code asks for one update after another, and all subscriptions end with it.
 */
export class CodeSubscriptions {
  readonly #pool: Pool;
  readonly #open = new Map<number, OpenSubscription>();
  #lastId = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Returns an id for `next`. The subscription ends when the execution's signal is aborted. */
  async subscribe(server: string, uri: string, call: Call): Promise<{ id: number }> {
    const { signal } = call;
    if (this.#open.size >= maxOpenSubscriptions) {
      throw new ClaudikinsError(
        "INVALID_ARGUMENTS",
        `${server} already has ${maxOpenSubscriptions} open subscriptions`,
        {
          hint: "Close one: leave its loop, or call its return().",
        },
      );
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const open: OpenSubscription = { changed: new Set(), waiting: Promise.withResolvers(), end: () => {} };
    this.#open.set(id, open);
    const listener = (updated: string) => {
      if (open.changed.size < maxChangedResources) open.changed.add(updated);
      wake(open);
    };
    try {
      open.end = await this.#pool.subscribe(server, uri, listener, call);
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
    signal?.addEventListener("abort", () => this.unsubscribe(id), { once: true });
    if (signal?.aborted) this.unsubscribe(id);
    return { id };
  }

  /** Waits for the next update. */
  async next(id: number): Promise<{ done: boolean; value?: { uri: string } }> {
    for (let open = this.#open.get(id); open; open = this.#open.get(id)) {
      const [uri] = open.changed;
      if (uri !== undefined) {
        open.changed.delete(uri);
        return { done: false, value: { uri } };
      }
      await open.waiting.promise;
    }
    return { done: true };
  }

  unsubscribe(id: number): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.end();
    wake(open);
  }
}

function wake(open: OpenSubscription): void {
  open.waiting.resolve();
  open.waiting = Promise.withResolvers();
}
