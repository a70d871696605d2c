/** What decides about the calls of a pool: the gate, and what it must know of tools and of the person who can be asked. */
import { isObject } from "../base/json-object.ts";
import { accountNote } from "../config/accounts.ts";
import { isInView } from "../config/doors.ts";
import type { ServerConfig } from "../config/load.ts";
import { calledTool } from "../config/tool-edits.ts";
import { type Caller, noAgent } from "../policy/flow/caller.ts";
import { SessionReads } from "../policy/flow/session-reads.ts";
import { type LabelPatterns, ToolLabels } from "../policy/flow/tool-labels.ts";
import { Gate, type QueueChoice } from "../policy/gate.ts";
import type { Asker } from "../policy/questions.ts";
import { type ListedTools, LiveDefinitions } from "./live-definitions.ts";
import { askerOf, type Responder } from "./responder.ts";
import type { ConnectionOptions, Host, ServerConnections, StoredTool } from "./server-connections.ts";
import { type DefinitionCheck, VerifiedDefinitions } from "./verified-definitions.ts";

export interface CallPolicyOptions {
  /** The user at the terminal, who answers what the policy and servers ask. */
  person?: (Asker & Responder) | undefined;
  /** Returns the queue of a question about a call. Without it, no call waits, and no answer is recorded. */
  queueFor?: QueueChoice | undefined;
  /** The data that the agent of the connection has read. */
  reads?: SessionReads | undefined;
  /** The labels that the server catalog gives the tools of a server. */
  catalogLabels?: ((server: ServerConfig) => Promise<LabelPatterns | undefined>) | undefined;
  /** A tool whose description seems to talk to the agent. */
  suspiciousTool?: (() => string | undefined) | undefined;
  /** The door and the person that the connections are for. */
  place?: { door: string; person: string } | undefined;
  /** Whether a tool is held because its definition changed. Undefined: none is. */
  definitions?: DefinitionCheck | undefined;
}

interface PolicySurroundings {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: ServerConnections;
  stored: ConnectionOptions["stored"];
  /** The agent that the servers are connected for. */
  host: () => Host;
  /** Lists the tools of a server, to compare them with permissions. */
  list: (server: string) => Promise<ListedTools>;
}

export class CallPolicy {
  readonly gate: Gate;
  readonly labels: ToolLabels<ServerConfig>;
  readonly definitions: LiveDefinitions;
  readonly verified: VerifiedDefinitions;
  /** The agent of the connection. */
  readonly ownCaller: Caller;
  readonly #given: PolicySurroundings;
  readonly #person: CallPolicyOptions["person"];
  /** Questions that a person is asked now. */
  #asking = 0;
  /** The names of arguments, by the properties of their schemas. Asked for with each call if there are rules. */
  readonly #namesIn = new WeakMap<object, string[]>();

  constructor(given: PolicySurroundings, options: CallPolicyOptions) {
    const { servers, connections, list } = given;
    const { person, queueFor, reads = new SessionReads(), catalogLabels, suspiciousTool, place, definitions } = options;
    this.#given = given;
    this.#person = person;
    this.ownCaller = { reads, agent: noAgent };
    this.labels = new ToolLabels({
      servers,
      fromCatalog: catalogLabels,
      listed: (server, tool) => this.#lastListed(server, tool),
    });
    this.gate = new Gate({
      policyOf: (server) => servers.get(server)?.policy,
      exists: (server, tool) => isInView(servers.get(server)?.view, tool),
      whyHeld: (server, tool) => this.verified.whyHeld(server, tool),
      accountOf: (server) => accountNote(server, servers),
      asker: () => this.#currentAsker(),
      definition: (server, tool, asked) => this.definitions.of(server, tool, asked),
      queueFor,
      labels: this.labels,
      argumentNames: (server, tool) => this.#argumentNames(server, tool),
      suspiciousTool: suspiciousTool ?? (() => undefined),
      place: place ?? { door: "", person: "" },
      caller: () => this.ownCaller,
    });
    this.definitions = new LiveDefinitions({
      entries: servers,
      list,
      connection: (server) => connections.last(server),
    });
    this.verified = new VerifiedDefinitions({
      accepted: definitions,
      lastConnection: (server) => connections.last(server),
      changesOf: (server) => this.definitions.changesOf(server),
    });
  }

  /** Resolves when the gate can decide about calls of the server. Undefined if it can now. */
  prepared(server: string, { reads }: Caller): Promise<unknown> | undefined {
    const loading = this.gate.prepare(server);
    const { pending } = reads;
    return loading && pending ? Promise.all([loading, pending]) : (loading ?? pending);
  }

  /** Whether a person is being asked whether a tool may be called. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  #currentAsker(): Asker | undefined {
    const { responder, mayApprove } = this.#given.host();
    const asker = this.#person ?? (mayApprove?.() === false ? undefined : askerOf(responder));
    if (!asker) return undefined;
    return {
      ask: async (...asked) => {
        this.#asking += 1;
        try {
          return await asker.ask(...asked);
        } finally {
          this.#asking -= 1;
        }
      },
    };
  }

  /** A tool by its own name, as it was last listed. */
  #lastListed(server: string, tool: string): StoredTool | undefined {
    const tools = this.#given.stored?.(server)?.tools;
    const edits = this.#given.servers.get(server)?.edits;
    return tools?.find(({ name }) => (edits ? calledTool(edits, name, tools)?.tool : name) === tool);
  }

  /** Undefined if a call may have others, or if agents see an edited schema. */
  #argumentNames(server: string, tool: string): readonly string[] | undefined {
    const { inputSchema, edit } = this.#lastListed(server, tool) ?? {};
    const properties = inputSchema?.["properties"];
    if (!isObject(properties) || edit !== undefined) return undefined;
    return this.#namesIn.getOrInsertComputed(properties, () => Object.keys(properties));
  }
}
