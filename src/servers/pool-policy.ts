/** The policy of a pool: its permit, and what that must know of the servers and of the person who can be asked. */
import { isObject } from "../base/json-object.ts";
import { objectJson } from "../base/large-json.ts";
import { accountNote } from "../config/accounts.ts";
import { isInView } from "../config/doors.ts";
import type { ServerConfig } from "../config/load.ts";
import { calledTool } from "../config/tool-edits.ts";
import type { QueueChoice } from "../policy/asking.ts";
import { mayChange } from "../policy/decision.ts";
import { AsksFor } from "../policy/flow/asks-for.ts";
import { type Caller, noAgent, SessionReads } from "../policy/flow/session-reads.ts";
import { type LabelPatterns, ToolLabels } from "../policy/flow/tool-labels.ts";
import type { WrittenServers } from "../policy/flow/written-servers.ts";
import { inquiryOf, type Method } from "../policy/outgoing.ts";
import { Permit } from "../policy/permit.ts";
import type { Asker } from "../policy/questions.ts";
import type { UsageQuotas } from "../policy/quotas.ts";
import { askerOf, type QuestionContext, type Responder } from "./connection/responder.ts";
import type { ConnectionOptions, Host, ServerConnections, StoredTool } from "./connection/server-connections.ts";
import { hasServerText } from "./failures/server-failure.ts";
import { type DefinitionCheck, type ListedTools, LiveDefinitions, VerifiedDefinitions } from "./lists/definitions.ts";

export interface PoolPolicyOptions {
  /** The user at the terminal, who answers what the policy and servers ask. */
  person?: (Asker & Responder) | undefined;
  /** Returns the queue of a question about a call. Without it, no call waits, and no answer is recorded. */
  queueFor?: QueueChoice | undefined;
  /** The data that the agent of the connection has read. */
  reads?: SessionReads | undefined;
  /** The servers into which text of strangers was written. */
  written?: WrittenServers | undefined;
  /** The labels that the server catalog gives the tools of a server. */
  catalogLabels?: ((server: ServerConfig) => Promise<LabelPatterns | undefined>) | undefined;
  /** A tool whose description seems to talk to the agent. */
  suspiciousTool?: (() => string | undefined) | undefined;
  /** The door and the person that the connections are for. */
  place?: { door: string; person: string } | undefined;
  /** Whether a tool is held because its definition changed. Undefined: none is. */
  definitions?: DefinitionCheck | undefined;
  /** Keeps requests within the quotas of the config. */
  quotas?: UsageQuotas | undefined;
}

interface Surroundings {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: ServerConnections;
  stored: ConnectionOptions["stored"];
  /** The agent that the servers are connected for. */
  host: () => Host;
  /** Lists the tools of a server, to compare them with permissions. */
  list: (server: string) => Promise<ListedTools>;
}

export class PoolPolicy {
  readonly permit: Permit;
  readonly labels: ToolLabels<ServerConfig>;
  readonly definitions: LiveDefinitions;
  readonly verified: VerifiedDefinitions;
  /** The agent of the connection. */
  readonly ownCaller: Caller;
  readonly #given: Surroundings;
  readonly #person: PoolPolicyOptions["person"];
  /** Questions that a person is asked now. */
  #asking = 0;
  /** The tools of lists, by their names. */
  readonly #byName = new WeakMap<readonly StoredTool[], ReadonlyMap<string, StoredTool>>();
  /** The names of arguments, by the properties of their schemas. Asked for with each call if there are rules. */
  readonly #namesIn = new WeakMap<object, string[]>();

  constructor(given: Surroundings, options: PoolPolicyOptions) {
    const { servers, connections, list, stored } = given;
    const {
      person,
      queueFor,
      reads = new SessionReads(),
      catalogLabels,
      suspiciousTool,
      place,
      quotas,
      written,
    } = options;
    this.#given = given;
    this.#person = person;
    this.ownCaller = { reads, agent: noAgent };
    this.definitions = new LiveDefinitions({
      entries: servers,
      list,
      connection: (server) => connections.last(server),
    });
    this.verified = new VerifiedDefinitions({
      accepted: options.definitions,
      lastConnection: (server) => connections.last(server),
      changesOf: (server) => this.definitions.changesOf(server),
    });
    this.labels = new ToolLabels({
      servers,
      fromCatalog: catalogLabels,
      listed: (server, tool) => this.#lastListed(server, tool),
      toolsOf: (server) => stored?.(server)?.tools.flatMap(({ name }) => this.#ownName(server, name) ?? []) ?? [],
    });
    const asksFor = new AsksFor<StoredTool>({
      names: () => servers.keys(),
      toolsOf: (server) => stored?.(server)?.tools ?? [],
    });
    this.permit = new Permit({
      policyOf: (server) => servers.get(server)?.policy,
      exists: (server, tool) => isInView(servers.get(server)?.view, tool),
      verified: (server, signal) => (this.verified.isLocked(server) ? this.verified.verify(server, signal) : undefined),
      whyHeld: (server, tool) => this.verified.whyHeld(server, tool),
      accountOf: (server) => accountNote(server, servers),
      asker: () => this.#currentAsker(),
      definition: (server, tool, asked) => this.definitions.of(server, tool, asked),
      queueFor,
      labels: this.labels,
      argumentNames: (server, tool) => this.#argumentNames(server, tool),
      written,
      changes: (server, tool) => mayChange(this.#lastListed(server, tool)?.annotations, tool),
      describedIn: (letters) => asksFor.describedIn(letters),
      asksFor: (server, tool) => {
        const listed = this.#lastListed(server, tool);
        return listed && asksFor.of(server, listed);
      },
      isModel: (server) => servers.get(server)?.isModel === true,
      suspiciousTool: suspiciousTool ?? (() => undefined),
      place: place ?? { door: "", person: "" },
      quotas,
      caller: () => this.ownCaller,
      jsonOf: objectJson,
      hasServerText,
    });
  }

  /** Whether a person is being asked whether a tool may be called. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** The responder for servers: what they ask passes the permit. Its refusal is the answer. */
  answering(responder: Responder | undefined): Responder | undefined {
    if (!responder) return undefined;
    const passed = <Params extends object, Answer>(
      method: Method,
      ask: ((params: Params, asked: QuestionContext) => Promise<Answer>) | undefined,
    ) =>
      ask &&
      (async (params: Params, asked: QuestionContext): Promise<Answer> => {
        const { server, signal, origins, callers = [] } = asked;
        const caller = callers.find(({ reads }) => reads.isRisky) ?? callers[0];
        const send = async () => ({ answer: await ask.call(responder, params, asked) });
        const context = { signal, origin: origins?.[0], caller };
        const { answer } = await this.permit.send(inquiryOf(server, method, params), context, send);
        // An agent may have filled in the form.
        const { content } = Object(answer) as { content?: unknown };
        if (method !== "elicitation/create" || !isObject(content)) return answer;
        const reply = async () => ({ answer });
        return (await this.permit.send(inquiryOf(server, "elicitation/reply", content), context, reply)).answer;
      });
    const { sample, elicit, listRoots } = responder;
    return {
      get capabilities() {
        return responder.capabilities;
      },
      ...(sample ? { sample: passed("sampling/createMessage", sample)! } : {}),
      ...(elicit ? { elicit: passed("elicitation/create", elicit)! } : {}),
      ...(listRoots
        ? { listRoots: (asked) => passed("roots/list", () => listRoots.call(responder, asked))!({}, asked) }
        : {}),
      elicited: (id) => responder.elicited?.(id),
    };
  }

  async #currentAsker(): Promise<Asker | undefined> {
    const { responder } = this.#given.host();
    const asker = this.#person ?? askerOf(responder);
    if (!asker || (!this.#person && (await responder?.mayApprove?.()) === false)) return undefined;
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

  /** A tool by its own name, as it was last listed. Asked for several times by each call. */
  #lastListed(server: string, tool: string): StoredTool | undefined {
    const tools = this.#given.stored?.(server)?.tools;
    if (!tools || this.#given.servers.get(server)?.edits)
      return tools?.find(({ name }) => this.#ownName(server, name) === tool);
    return this.#byName
      .getOrInsertComputed(tools, () => new Map(tools.toReversed().map((each) => [each.name, each])))
      .get(tool);
  }

  #ownName(server: string, shown: string): string | undefined {
    const edits = this.#given.servers.get(server)?.edits;
    return edits ? calledTool(edits, shown, this.#given.stored?.(server)?.tools)?.tool : shown;
  }

  /** Undefined if a call may have others, or if agents see an edited schema. */
  #argumentNames(server: string, tool: string): readonly string[] | undefined {
    const { inputSchema, edit } = this.#lastListed(server, tool) ?? {};
    const properties = inputSchema?.["properties"];
    if (!isObject(properties) || edit !== undefined) return undefined;
    return this.#namesIn.getOrInsertComputed(properties, () => Object.keys(properties));
  }
}
