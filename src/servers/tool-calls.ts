/** The way of a tool call through the pool: the names and arguments of the server, the permit, the sending. */

import { ClaudikinsError } from "../base/errors.ts";
import type { ServerConfig } from "../config/load.ts";
import { calledTool, sentArguments } from "../config/tool-edits.ts";
import type { Call } from "../policy/call.ts";
import type { Outgoing, Permission } from "../policy/outgoing.ts";
import { shownId } from "../policy/refusals.ts";
import type { Connection } from "./connection/connect.ts";
import type { ConnectionOptions, ServerConnections } from "./connection/server-connections.ts";
import type { PoolPolicy } from "./pool-policy.ts";
import { onlyText, type ToolResult } from "./result.ts";
import { redactTexts } from "./values/secrets.ts";

/** Only texts up to this length count as messages that a call is refused. */
const maxRefusalChars = 4_096;

/** After this many refused calls in a row, the next one is expected to be refused too. */
const minRefusedCalls = 2;

/** The params of `tools/call`. The tool and its arguments are those that agents see. */
export interface CallParams {
  [key: string]: unknown;
  name: string;
  arguments?: object | undefined;
}

interface ToolCallsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: ServerConnections;
  policy: PoolPolicy;
  stored: ConnectionOptions["stored"];
  /** Connections over which tools were listed, or whose calls were told. */
  listed: WeakSet<Connection>;
  /** Called once for each connection that has answered a call before its tools were listed. */
  unlistedCall: (server: string) => void;
}

const notSent = Promise.resolve(undefined);

export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** The refusals of the services behind the servers. */
  readonly refusals: AuthRefusals;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    this.refusals = new AuthRefusals(options.connections);
  }

  /** Calls a tool if the config, and if necessary a person, allows it. See `Pool.callTool`. */
  async call(server: string, params: CallParams, call: Call): Promise<ToolResult> {
    const request = this.asked(server, params.name, params.arguments ?? {});
    const result = await this.#options.policy.permit.send(
      request,
      call,
      (permission) => this.#send(request, params, call, permission),
      () => this.#startMeanwhile(server, call),
    );
    this.refusals.see(server, result);
    return result;
  }

  /** The call as its server gets it, of a tool that agents know by this name. Throws TOOL_NOT_FOUND if they know it by another. */
  asked(server: string, name: string, args: object): Outgoing {
    const method = "tools/call";
    const edits = this.#options.servers.get(server)?.edits;
    if (!edits) return { method, server, tool: name, args };
    const found = calledTool(edits, name, this.#options.stored?.(server)?.tools);
    if (!found) throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`);
    const { tool, edit } = found;
    const named = { method, server, tool, shownAs: tool === name ? undefined : name } as const;
    if (!edit) return { ...named, args };
    const redact = (sent: object) => redactTexts(sent, this.#options.connections.redactor(server));
    return { ...named, args: sentArguments(edit, args, `${server}.${name}`), redact };
  }

  /** Undefined if the connection is not the one that the call was permitted for. */
  #send(
    request: Outgoing,
    params: CallParams,
    call: Call,
    permission: Permission | undefined,
  ): Promise<ToolResult | undefined> {
    const { connections, policy, listed } = this.#options;
    const { server } = request;
    const sent = sentParams(request, params, permission);
    const isLocked = policy.verified.isLocked(server);
    // Not async, because each async function on the path of a call adds to its time.
    return connections.use(server, shownId(request), call, (send, connection) => {
      if (permission && permission.connection !== connection) return notSent;
      // The server was restarted. Its tools may be others now.
      if (isLocked && !policy.verified.isOver(server, connection)) return notSent;
      const ask = () => send({ method: "tools/call", params: sent });
      const noted = call.onSend?.(call.repeatable ?? false);
      const answer = noted ? noted.then(ask) : ask();
      return listed.has(connection) ? answer : answer.then((result) => this.#tellUnlisted(server, connection, result));
    });
  }

  #tellUnlisted<T>(server: string, connection: Connection, result: T): T {
    const { listed, unlistedCall } = this.#options;
    if (!listed.has(connection)) {
      listed.add(connection);
      unlistedCall(server);
    }
    return result;
  }

  /** Starts a server whose config has no rules, because nothing else can keep the call from it. */
  #startMeanwhile(server: string, call: Call): void {
    const { servers, connections } = this.#options;
    if (!servers.get(server)?.policy) connections.use(server, server, call, async () => {}).catch(() => {});
  }
}

/** The caller's own object if nothing is changed. A call without arguments stays one. */
function sentParams({ tool, args }: Outgoing, params: CallParams, permission: Permission | undefined): CallParams {
  const sent = permission?.args ?? args;
  const isSame = sent === params.arguments || (params.arguments === undefined && Object.keys(sent).length === 0);
  if (isSame) return params.name === tool ? params : { ...params, name: tool };
  return { ...params, name: tool, arguments: sent };
}

const refused =
  /\b(?:HTTP|status(?: code)?|error|code)\W{0,3}(?:401|403)\b|\b(?:401|403)\W{1,3}(?:unauthori[sz]ed|forbidden)|\bunauthori[sz]ed\b|\bbad credentials\b|\binvalid (?:api[ -]?key|access token|token)\b/i;

/** Keeps how many calls of a server were refused in a row, for other processes. */
type Notes = Pick<ServerConnections, "lastRefusals" | "noteRefusals">;

export class AuthRefusals {
  readonly #inARow = new Map<string, number>();
  /** The notes that other processes had left, read once for each server: a search asks for all servers. */
  readonly #noted = new Map<string, number>();
  readonly #notes: Notes;

  constructor(notes: Notes) {
    this.#notes = notes;
  }

  /** Notes the result of a call. */
  see(server: string, result: ToolResult): void {
    const text = result["isError"] === true ? onlyText(result["content"]) : undefined;
    const isRefused = text !== undefined && text.length <= maxRefusalChars && refused.test(text);
    const before = this.#inARow.get(server);
    if (!isRefused && before === 0) return;
    const count = isRefused ? (before ?? this.#before(server)) + 1 : 0;
    this.#inARow.set(server, count);
    this.#notes.noteRefusals(server, count);
  }

  /** The number of refused calls in a row, if there are enough to expect more; else 0. The last one was made here. */
  of(server: string): number {
    return enough(this.#inARow.get(server) ?? 0);
  }

  /** The same number before the first call of this process. */
  before(server: string): number {
    return this.#inARow.has(server) ? 0 : enough(this.#before(server));
  }

  #before(server: string): number {
    return this.#noted.getOrInsertComputed(server, () => this.#notes.lastRefusals(server));
  }
}

const enough = (count: number) => (count >= minRefusedCalls ? count : 0);
