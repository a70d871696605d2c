/** The live connections to servers, opened when first needed and shared by everything that calls tools. */
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { didYouMean } from "../near-names.ts";
import type { Connection, Offer } from "./connect.ts";
import { type JsonObject, type ListedTool, objectsOf, readTools, type ToolResult } from "./result.ts";

export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** Pages of `tools/list` that one server may send before we stop believing its cursors. */
const maxPages = 1_000;

export interface PoolOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
}

export class Pool implements AsyncDisposable {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  readonly #options: PoolOptions;
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #closing = new AbortController();

  constructor(servers: ReadonlyMap<string, ServerConfig>, options: PoolOptions) {
    this.servers = servers;
    this.#options = options;
  }

  /** All tools of one server, every page. Throws SERVER_NOT_FOUND, NEEDS_VARIABLE, SERVER_UNAVAILABLE, PROTOCOL_ERROR. */
  async listTools(server: string, options: CallOptions = {}): Promise<ListedTool[]> {
    return this.#list(server, "tools/list", (page) => readTools(page, server), options);
  }

  /** All resources, as the server describes them. Throws as `listTools` does. */
  async listResources(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#list(server, "resources/list", (page) => objectsOf(page["resources"]), options);
  }

  /** All templates of addresses of resources. Throws as `listTools` does. */
  async listResourceTemplates(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#list(server, "resources/templates/list", (page) => objectsOf(page["resourceTemplates"]), options);
  }

  /** All prompts. Throws as `listTools` does. */
  async listPrompts(server: string, options: CallOptions = {}): Promise<JsonObject[]> {
    return this.#list(server, "prompts/list", (page) => objectsOf(page["prompts"]), options);
  }

  /** One resource: `{ contents }` as the server sent it. Throws PROTOCOL_ERROR when there is no such thing. */
  async readResource(server: string, uri: string, options: CallOptions = {}): Promise<JsonObject> {
    const what = `${server}: the resource ${uri}`;
    await this.#offered(server, "resources", what, options);
    return this.#request(server, { method: "resources/read", params: { uri } }, what, options);
  }

  /** One prompt: `{ description?, messages }` as the server sent it. Throws PROTOCOL_ERROR when there is no such thing. */
  async getPrompt(server: string, name: string, args: object, options: CallOptions = {}): Promise<JsonObject> {
    const what = `${server}: the prompt ${name}`;
    await this.#offered(server, "prompts", what, options);
    return this.#request(server, { method: "prompts/get", params: { name, arguments: args } }, what, options);
  }

  /** One tool call. The result is as the server sent it, `isError` included; throws when there is no result at all. */
  async callTool(server: string, tool: string, args: object, options: CallOptions = {}): Promise<ToolResult> {
    const params = { name: tool, arguments: args };
    const result = await this.#request(server, { method: "tools/call", params }, `${server}.${tool}`, options);
    return result as ToolResult;
  }

  /** Ends every server, those still starting included. The pool cannot be used afterwards. */
  async close(): Promise<void> {
    this.#closing.abort(new ClaudikinsError("CANCELLED", "claudikins is closing"));
    const open = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(open.map((connection) => connection.then((each) => each.close()).catch(() => {})));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Every page of a list; nothing where the server says that it has no such things. */
  async #list<T>(server: string, method: string, read: (page: JsonObject) => T[], options: CallOptions): Promise<T[]> {
    const what = `${method} of ${server}`;
    const connection = await unlessAborted(this.#connection(server), options.signal, what);
    if (!connection.offers(method.split("/")[0] as Offer)) return [];
    const all: T[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = await this.#request(server, { method, params }, what, options);
      all.push(...read(page));
      cursor = typeof page["nextCursor"] === "string" && page["nextCursor"] !== "" ? page["nextCursor"] : undefined;
      if (cursor !== undefined && (seen.has(cursor) || seen.size >= maxPages)) {
        throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" sends pages of its ${method} without end`);
      }
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return all;
  }

  async #offered(server: string, offer: Offer, what: string, { signal }: CallOptions): Promise<void> {
    const connection = await unlessAborted(this.#connection(server), signal, what);
    if (!connection.offers(offer)) {
      throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" has no ${offer}`);
    }
  }

  #connection(name: string): Promise<Connection> {
    const existing = this.#connections.get(name);
    if (existing) return existing;
    const opening: Promise<Connection> = this.#open(name, () => this.#forget(name, opening));
    this.#connections.set(name, opening);
    // A failed start is forgotten, so that the next call tries again.
    opening.catch(() => this.#forget(name, opening));
    return opening;
  }

  async #open(name: string, onClose: () => void): Promise<Connection> {
    const server = this.servers.get(name);
    if (!server) throw this.#unknown(name);
    this.#closing.signal.throwIfAborted();
    // The SDK is loaded with the first server that is needed.
    const { connect } = await import("./connect.ts");
    const { log } = this.#options;
    const startedAt = performance.now();
    try {
      const connection = await connect(server, { ...this.#options, onClose }, this.#closing.signal);
      log.info(`${name} is ready after ${Math.round(performance.now() - startedAt)} ms (process ${connection.pid})`);
      return connection;
    } catch (error) {
      log.warn(`${name}: ${messageOf(error)}`);
      throw error;
    }
  }

  #forget(name: string, connection: Promise<Connection>): void {
    if (this.#connections.get(name) === connection) this.#connections.delete(name);
  }

  #unknown(name: string): ClaudikinsError {
    const known = [...this.servers.keys()];
    const list = known.length > 0 ? `The config has: ${known.join(", ")}.` : "The config has no servers.";
    return new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${name}"`, {
      hint: [didYouMean(name, known), list].filter(Boolean).join(" "),
    });
  }

  async #request(
    server: string,
    request: { method: string; params: Record<string, unknown> },
    what: string,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    const connection = await unlessAborted(this.#connection(server), options.signal, what);
    const timeoutMs = options.timeoutMs ?? this.servers.get(server)?.callTimeoutMs ?? 60_000;
    return connection.request(request, { what, timeoutMs, signal: options.signal });
  }
}

/** Who gives up waiting for something shared does not end it: others may wait for the same. Throws CANCELLED. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, what: string): Promise<T> {
  if (!signal) return promise;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new ClaudikinsError("CANCELLED", `${what} was cancelled`));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
