/** Opens the connection to each server when it is needed, and keeps it: one for all callers. */

import { existsSync } from "node:fs";
import { basename, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ClientCapabilities } from "@modelcontextprotocol/client";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { changed } from "../../base/log.ts";
import { didYouMean } from "../../base/near-names.ts";
import { metaWith } from "../../base/trace-context.ts";
import { usesOwn } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import { homeOf } from "../../config/locations.ts";
import type { Label } from "../../config/policy.ts";
import { hasReference } from "../../config/secrets/references.ts";
import type { Call } from "../../policy/call.ts";
import { programKey } from "../../sources/source.ts";
import { unlessAborted } from "../abort.ts";
import { allNeighbours, type Neighbours } from "../box/neighbours.ts";
import { forgetFailure, lastFailure, lastRefusals, noteFailure, noteRefusals } from "../failures/last-failures.ts";
import { missingFile } from "../failures/missing-module.ts";
import type { HeadersHelper } from "../network/headers-helper.ts";
import { missingCommand } from "../process/process-group.ts";
import type { BrokenState } from "../state.ts";
import type { EntryOptions } from "../values/entry-values.ts";
import { withOwnKeys } from "../values/own-keys.ts";
import { entryEnvironment } from "../values/person-identity.ts";
import { type Redact, redactError, redactorOf, redactTexts } from "../values/secrets.ts";
import type { ChannelOpener, ChannelOptions } from "./channel.ts";
import type { Connection } from "./connect.ts";
import { type BackoffTimes, type ConnectionOpener, Lifecycle } from "./lifecycle.ts";
import type { Notice } from "./notices.ts";
import type { Responder } from "./responder.ts";
import type { Request } from "./send-request.ts";
import type { Era } from "./server-client.ts";
import type { MessageTrace } from "./trace.ts";

/** Time for an agent to name its roots, before a server is started that could be shared. Agents know them, so they need no longer. */
const rootsMs = 2_000;

export interface ConnectionOptions extends Omit<ChannelOptions, "redact"> {
  backoff?: BackoffTimes | undefined;
  /** Opens channels to servers that are shared with other processes. */
  openChannel?: ChannelOpener | undefined;
  /** Records all messages. */
  trace?: MessageTrace | undefined;
  /**
   * Whether a server does the same in whatever folder it is started. It is started in the home folder then, and asks its agent nothing, so
   * that all agents can share it. `rootsOf` returns the paths of the agent's roots, if it has any.
   */
  isAnywhere?:
    | ((server: ServerConfig, rootsOf: (() => Promise<readonly string[]>) | undefined) => Promise<boolean>)
    | undefined;
  /** Returns what earlier connections said about a server. */
  stored?: ((server: string) => StoredServer | undefined) | undefined;
}

/** A tool, as its server was last listed. */
export interface StoredTool {
  name: string;
  description?: string | undefined;
  inputSchema: JsonObject;
  annotations?: Record<string, unknown> | undefined;
  edit?: string;
  labels?: readonly Label[];
}

interface StoredServer {
  /** The revision of the protocol that it spoke. */
  protocol?: string | undefined;
  tools: readonly StoredTool[];
}

/** The agent that servers are connected for. */
export interface Host {
  /** Answers what servers ask. */
  responder?: Responder | undefined;
  /** Its extensions of the protocol, which are announced to servers. */
  extensions?: ClientCapabilities["extensions"];
}

/** Learns of new and lost connections, and of notices. */
export interface ConnectionListener {
  connected(server: string, connection: Connection): void;
  lost(server: string): void;
  notice(server: string, notice: Notice): void;
}

export class ServerConnections {
  readonly #servers: ReadonlyMap<string, ServerConfig>;
  readonly #options: ConnectionOptions;
  readonly #neighbours: Neighbours;
  /** Returns the host of new connections. */
  readonly #host: () => Host;
  readonly #listener: ConnectionListener;
  #lives = new Map<string, Lifecycle>();
  /** Connections of changed entries. They close after their running calls. */
  readonly #retired = new Set<Lifecycle>();
  readonly #redactors = new Map<string, Redact>();
  readonly #closing = new AbortController();
  /** The last connection of each server, which may be closed. */
  readonly #last = new Map<string, Connection>();
  /** The headers of servers whose entries have a `headersHelper`. */
  readonly #helpers = new Map<string, HeadersHelper>();
  /** The era in which the next connection to a server begins. After a failure, it is found again. */
  readonly #eras = new Map<string, Era>();

  constructor(
    servers: ReadonlyMap<string, ServerConfig>,
    options: ConnectionOptions,
    host: () => Host,
    listener: ConnectionListener,
  ) {
    this.#servers = servers;
    this.#options = options;
    this.#host = host;
    this.#listener = listener;
    this.#neighbours = { servers, env: options.env, cwd: options.cwd };
    allNeighbours.add(this.#neighbours);
    this.replaced([]);
  }

  /** Call this after entries were added, changed or removed. Running calls finish on their old connection. */
  replaced(names: readonly string[]): void {
    for (const name of names) {
      const life = this.#lives.get(name);
      for (const each of [this.#lives, this.#redactors, this.#last, this.#eras, this.#helpers]) each.delete(name);
      if (!life) continue;
      this.#retired.add(life);
      void life.retire().finally(() => this.#retired.delete(life));
    }
    // The order of the config.
    const lives = [...this.#servers].map(
      ([name, server]) => [name, this.#lives.get(name) ?? this.#newLife(server)] as const,
    );
    this.#lives = new Map(lives);
  }

  /** The names of the servers, in the order of the config. */
  get names(): string[] {
    return [...this.#lives.keys()];
  }

  get all(): Lifecycle[] {
    return [...this.#lives.values()];
  }

  /** Throws SERVER_NOT_FOUND. */
  of(name: string): Lifecycle {
    const life = this.#lives.get(name);
    if (!life) throw this.#unknown(name);
    return life;
  }

  /**
   * Runs the work with the server's connection, which is opened if needed, and with a function that sends a request of the call. See
   * `Lifecycle.use`. Not async, because each async function on the path of a call adds to its time.
   */
  use<T>(
    server: string,
    what: string,
    call: Call,
    work: (send: (request: Request) => Promise<JsonObject>, connection: Connection) => Promise<T>,
  ): Promise<T> {
    const entry = this.#servers.get(server);
    const isApi = entry?.url !== undefined && entry.transport === "openapi";
    const isMarked = isApi || call.trace !== undefined;
    return this.of(server).use(
      (connection) =>
        work(
          (request) => connection.request(isMarked ? marked(request, isApi, call) : request, what, call),
          connection,
        ),
      what,
      call,
    );
  }

  /** Why a server will not start, as far as this can be seen without starting it. Its command or program may contain a secret. */
  foreseenFailure(name: string): ReturnType<typeof foreseenFailure> {
    const server = this.#servers.get(name);
    const failure = server && foreseenFailure(server, this.#options);
    return failure && redactTexts(failure, this.redactor(name));
  }

  /** The last connection of a server, which may be closed. */
  last(server: string): Connection | undefined {
    return this.#last.get(server);
  }

  /** Removes the secrets of the server's entry. */
  redactor(name: string): Redact {
    const server = this.#servers.get(name);
    const redact = this.#redactors.get(name) ?? (server ? redactorOf(server) : (text) => text);
    this.#redactors.set(name, redact);
    return redact;
  }

  /** Ends all servers, including those that are still starting. */
  async close(): Promise<void> {
    this.#closing.abort(new ClaudikinsError("CANCELLED", "claudikins is closing"));
    await Promise.all([...this.#lives.values(), ...this.#retired].map((life) => life.close()));
    allNeighbours.delete(this.#neighbours);
  }

  /** Why the server could not be connected last, by this or another process. */
  lastFailure(server: ServerConfig): BrokenState | undefined {
    return usesOwn(server) ? undefined : lastFailure(server, this.#options.env);
  }

  /** How many calls of the server were refused as unauthorized in a row, by any process. */
  lastRefusals(name: string): number {
    const server = this.#servers.get(name);
    return !server || usesOwn(server) ? 0 : lastRefusals(server, this.#options.env);
  }

  noteRefusals(name: string, count: number): void {
    const server = this.#servers.get(name);
    if (server && this.#keepsNotes(server)) noteRefusals(server, count, this.#options.env);
  }

  /** A process that writes no logs, such as a dry run, leaves no notes either. Servers with own credentials leave none, because notes would tell one person about another. */
  #keepsNotes(server: ServerConfig): boolean {
    return this.#options.logs !== undefined && !usesOwn(server);
  }

  #newLife(server: ServerConfig): Lifecycle {
    return new Lifecycle(server, (onClose) => this.#open(server, onClose), this.#options.backoff);
  }

  async #open(server: ServerConfig, onClose: Parameters<ConnectionOpener>[0]): Promise<Connection> {
    this.#closing.signal.throwIfAborted();
    // The SDK is loaded when the first server is needed.
    const { connect } = await import("./connect.ts");
    // All texts of a server pass here, and its secrets are removed. A person may have entered others since.
    if (usesOwn(server)) this.#redactors.set(server.name, redactorOf(withOwnKeys(server, this.#options.own)));
    const redact = this.redactor(server.name);
    const log = changed(this.#options.log, redact);
    const onEnd = (how: string, isWell: boolean) => {
      onClose(redact(how), isWell);
      if (!this.#closing.signal.aborted) this.#listener.lost(server.name);
    };
    const { stored } = this.#options;
    const onNotice = (notice: Notice) => {
      if (!this.#closing.signal.aborted) this.#listener.notice(server.name, notice);
    };
    const helper = await this.#helperOf(server);
    const era = this.#eras.get(server.name) ?? eraOf(stored?.(server.name)?.protocol);
    const options = {
      ...this.#options,
      ...(await this.#surroundingsOf(server)),
      log,
      redact,
      era,
      helper,
      // An edited tool has another schema. It is listed if the server needs it.
      storedSchema: (tool: string) =>
        stored?.(server.name)?.tools.find(({ name, edit }) => name === tool && edit === undefined)?.inputSchema,
      onClose: onEnd,
      onNotice,
    };
    const startedAt = performance.now();
    try {
      await this.#readValues(server);
      const connection = await connect(server, options, this.#closing.signal);
      const process = connection.pid === undefined ? "" : ` (process ${connection.pid})`;
      log.info(`${server.name} is ready after ${Math.round(performance.now() - startedAt)} ms${process}`);
      this.#eras.set(server.name, connection.era);
      this.#last.set(server.name, connection);
      this.#listener.connected(server.name, connection);
      if (this.#keepsNotes(server)) forgetFailure(server, this.#options.env);
      return connection;
    } catch (error) {
      this.#eras.set(server.name, "2025");
      log.warn(`${server.name}: ${messageOf(error)}`);
      const redacted = redactError(error, redact);
      // The values that commands have printed may be out of date.
      if (toClaudikinsError(redacted).code === "AUTH_REQUIRED") await this.#forgetPrinted(server);
      const isClosing = this.#closing.signal.aborted;
      if (this.#keepsNotes(server) && !isClosing) noteFailure(server, toClaudikinsError(redacted), this.#options.env);
      throw redacted;
    }
  }

  async #surroundingsOf(server: ServerConfig): Promise<Host & { cwd: string }> {
    const { isAnywhere, env, cwd } = this.#options;
    const host = this.#host();
    const { responder } = host;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(rootsMs)]);
    const rootsOf = async () => {
      const asked = unlessAborted(responder!.listRoots!({ server: server.name, signal }), signal, server.name);
      return (await asked).roots.map(({ uri }) => fileURLToPath(uri));
    };
    const hasRoots = responder?.capabilities.roots !== undefined && responder.listRoots !== undefined;
    return (await isAnywhere?.(server, hasRoots ? rootsOf : undefined)) ? { cwd: homeOf(env) } : { ...host, cwd };
  }

  /** Another process may start the server and fill in the values. This one reads them to remove them from texts. */
  async #readValues(server: ServerConfig): Promise<void> {
    if (!server.references || server.needs.length > 0) return;
    const { withEntryValues } = await import("../values/entry-values.ts");
    await withEntryValues(server, this.#entryOptions(server));
  }

  async #forgetPrinted(server: ServerConfig): Promise<void> {
    if (!server.references) return;
    const { forgetPrinted } = await import("../values/entry-values.ts");
    forgetPrinted(server, this.#entryOptions(server));
  }

  #entryOptions(server: ServerConfig): EntryOptions {
    const env = entryEnvironment(server, this.#options);
    return { env, signal: this.#closing.signal, warn: (message) => this.#options.log.warn(message) };
  }

  /** One for all connections to the server, so that its program does not run for each of them. */
  async #helperOf(server: ServerConfig): Promise<HeadersHelper | undefined> {
    if (server.url === undefined) return undefined;
    if (server.headersHelper === undefined && !server.references) return undefined;
    const { HeadersHelper, hasPrintedHeaders } = await import("../network/headers-helper.ts");
    if (!hasPrintedHeaders(server)) return undefined;
    const helper = this.#helpers.get(server.name) ?? new HeadersHelper(server, () => this.#entryOptions(server));
    this.#helpers.set(server.name, helper);
    return helper;
  }

  #unknown(name: string): ClaudikinsError {
    const known = [...this.#servers.keys()];
    const list = known.length > 0 ? `The config has: ${known.join(", ")}.` : "The config has no servers.";
    return new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${name}"`, {
      hint: [didYouMean(name, known), list].filter(Boolean).join(" "),
    });
  }
}

/** Adds the trace. A web API, for which claudikins speaks MCP itself, also gets the execution. */
function marked(request: Request, isApi: boolean, { trace, made }: Call): Request {
  const { _meta: meta } = request.params as { _meta?: JsonObject };
  const own = isApi && made ? { ...meta, [programKey]: made.execution } : meta;
  return { ...request, params: { ...request.params, ...(own || trace ? { _meta: metaWith(own, trace) } : {}) } };
}

/** Revisions are dates. */
function eraOf(revision = ""): Era {
  return revision >= "2026" ? "2026" : "2025";
}

interface Foreseen {
  why: string;
  hint: string;
  missing?: string | undefined;
}

/** Programs that run the file which their first argument names. */
const runtimes = /^(?:node|bun|deno|python[\d.]*|ruby|perl)$/;

/**
 * Sees without starting a server that it cannot start, because its command or its program does not exist. Undefined if the server may well
 * start. `cwd` is the working directory of servers that name none.
 */
export function foreseenFailure(
  server: ServerConfig,
  { env, cwd }: { env: Environment; cwd: string },
): Foreseen | undefined {
  // Windows finds commands differently.
  if (server.url !== undefined || server.mistake || server.needs.length > 0 || process.platform === "win32")
    return undefined;
  const { name, command, args } = server;
  if (hasReference([command, args, server.cwd])) return undefined;
  const folder = server.cwd ?? cwd;
  // Every server inherits the path.
  const paths = [server.env["PATH"], env["PATH"]];
  const isThere = command.includes("/") ? existsSync(resolve(folder, command)) : isOnPath(command, paths);
  if (!isThere) return missingCommand(command);
  const [file = ""] = args;
  if (!runtimes.test(basename(command)) || !isAbsolute(file) || existsSync(file)) return undefined;
  const { why, hint, path } = missingFile(file, name);
  return { why, hint, missing: path };
}

/** Without any path, the system looks in folders of its own. */
function isOnPath(command: string, paths: readonly (string | undefined)[]): boolean {
  const given = paths.filter((each) => each !== undefined);
  return given.length === 0 || given.some((each) => Bun.which(command, { PATH: each }) !== null);
}
