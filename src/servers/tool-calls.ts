/** The way of a tool call through the pool: count it, ask the policy, send it, note what it has read. */
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { ServerConfig } from "../config/load.ts";
import { calledTool, type ServerEdits, sentArguments, type ToolEdit } from "../config/tool-edits.ts";
import type { Caller } from "../policy/flow/caller.ts";
import type { Permit, ToolCall } from "../policy/gate.ts";
import type { UsageQuotas } from "../policy/quotas.ts";
import { shownId } from "../policy/refusals.ts";
import type { CallOptions } from "./call-options.ts";
import type { CallPolicy } from "./call-policy.ts";
import type { Connection } from "./connect.ts";
import { objectJson } from "./decoding/large-json.ts";
import { maxCallAttempts } from "./limits.ts";
import { noteReads } from "./noted-reads.ts";
import { AuthRefusals } from "./refusals.ts";
import type { ToolResult } from "./result.ts";
import { redactTexts } from "./secrets.ts";
import type { ConnectionOptions, ServerConnections } from "./server-connections.ts";

/** The params of `tools/call`. The tool and its arguments are those that agents see. */
export interface CallParams {
  [key: string]: unknown;
  name: string;
  arguments?: object | undefined;
}

interface ToolCallsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: ServerConnections;
  policy: CallPolicy;
  quotas: UsageQuotas | undefined;
  stored: ConnectionOptions["stored"];
  /** Connections over which tools were listed, or whose calls were told. */
  listed: WeakSet<Connection>;
  /** Called once for each connection that has answered a call before its tools were listed. */
  unlistedCall: (server: string) => void;
}

const notSent = Promise.resolve(undefined);

export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #refusals = new AuthRefusals();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** The number of calls in a row that the service behind a server has refused. */
  refused(server: string): number {
    return this.#refusals.of(server);
  }

  /** Calls a tool if the config, and if necessary a person, allows it. See `Pool.callTool`. */
  call(server: string, params: CallParams, options: CallOptions): Promise<ToolResult> {
    const edits = this.#options.servers.get(server)?.edits;
    if (edits) return this.#callEdited(server, edits, params, options);
    return this.#callCounted({ server, tool: params.name, args: params.arguments ?? {} }, params, options);
  }

  async #callEdited(server: string, edits: ServerEdits, params: CallParams, options: CallOptions): Promise<ToolResult> {
    const { edit, ...named } = this.#named(server, params.name, edits);
    const args = edit ? sentArguments(edit, params.arguments ?? {}, `${server}.${params.name}`) : params.arguments;
    const redact = edit && ((sent: object) => redactTexts(sent, this.#options.connections.redactor(server)));
    return this.#callCounted(
      { ...named, args: args ?? {}, redact },
      { ...params, name: named.tool, arguments: args },
      options,
    );
  }

  /** The tool that agents know by this name. Throws TOOL_NOT_FOUND if they know it by another. */
  #named(server: string, name: string, edits: ServerEdits): Omit<ToolCall, "args"> & { edit: ToolEdit | undefined } {
    const found = calledTool(edits, name, this.#options.stored?.(server)?.tools);
    if (!found) throw new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`);
    return { server, ...found, shownAs: found.tool === name ? undefined : name };
  }

  #callCounted(called: ToolCall, params: CallParams, options: CallOptions): Promise<ToolResult> {
    const { quotas } = this.#options;
    const { server } = called;
    if (!quotas?.counts(server)) return this.#callPermitted(called, params, options);
    const counted = {
      server,
      execution: options.made?.execution,
      signal: options.signal,
      argumentBytes: () => Buffer.byteLength(JSON.stringify(params.arguments ?? {})),
      resultBytes: (result: JsonObject) => Buffer.byteLength(objectJson(result)),
    };
    return quotas.call(counted, () => this.#callPermitted(called, params, options));
  }

  /** A permission counts only for its connection: a restarted server may be another program. */
  async #callPermitted(called: ToolCall, params: CallParams, options: CallOptions): Promise<ToolResult> {
    const { policy } = this.#options;
    const { server, tool } = called;
    const { caller = policy.ownCaller } = options;
    const source = shownId(called);
    for (let attempt = 1; attempt <= maxCallAttempts; attempt++) {
      const isLocked = policy.verified.isLocked(server);
      const preparing = policy.prepared(server, caller);
      if (preparing) {
        this.#startMeanwhile(server, options);
        await preparing;
      }
      const verifying = isLocked ? policy.verified.verify(server, options.signal) : undefined;
      if (verifying) await verifying;
      const permitting = policy.gate.permit(called, options);
      const permit = permitting && (await permitting);
      if (permit && isLocked) {
        // The tool may have changed while a person was asked.
        await policy.verified.verify(server, options.signal);
        policy.gate.refuseDenied(called);
      }
      const sending = this.#send(server, source, params, options, permit, isLocked);
      const labels = policy.labels.of(server, tool);
      const result = await (labels.size === 0 ? sending : noteReads(sending, { labels, source, caller }));
      if (!result) continue;
      this.#refusals.see(server, result);
      return result;
    }
    throw new ClaudikinsError("SERVER_UNAVAILABLE", `${source} was not called: its server keeps restarting`);
  }

  /** Undefined if the connection is not the one that the call was permitted for. */
  #send(
    server: string,
    what: string,
    params: CallParams,
    options: CallOptions,
    permit: Permit | undefined,
    isLocked: boolean,
  ): Promise<ToolResult | undefined> {
    const { connections, policy, listed } = this.#options;
    const sent = permit && params.arguments ? { ...params, arguments: permit.args } : params;
    // Not async, because each async function on the path of a call adds to its time.
    return connections.use(server, what, options, (send, connection) => {
      if (permit && permit.connection !== connection) return notSent;
      // The server was restarted. Its tools may be others now.
      if (isLocked && !policy.verified.isOver(server, connection)) return notSent;
      const ask = () => send({ method: "tools/call", params: sent });
      const noted = options.onSend?.(options.repeatable ?? false);
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
  #startMeanwhile(server: string, options: CallOptions): void {
    const { servers, connections } = this.#options;
    if (!servers.get(server)?.policy) connections.use(server, server, options, async () => {}).catch(() => {});
  }

  /** See `Pool.refuseDenied`. */
  refuseDenied(server: string, tool: string): void {
    const edits = this.#options.servers.get(server)?.edits;
    this.#options.policy.gate.refuseDenied(edits ? this.#named(server, tool, edits) : { server, tool });
  }

  /** See `Pool.wouldAsk`. */
  async wouldAsk(
    { server, tool, args }: ToolCall,
    annotations: JsonObject | undefined,
    caller: Caller = this.#options.policy.ownCaller,
  ): Promise<string | undefined> {
    const { policy, servers } = this.#options;
    await policy.prepared(server, caller);
    const edits = servers.get(server)?.edits;
    if (!edits) return policy.gate.wouldAsk({ server, tool, args }, annotations, caller);
    const { edit, ...named } = this.#named(server, tool, edits);
    const sent = edit ? sentArguments(edit, args, `${server}.${tool}`) : args;
    return policy.gate.wouldAsk({ ...named, args: sent }, annotations, caller);
  }
}
