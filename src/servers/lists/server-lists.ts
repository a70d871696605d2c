/** The lists of servers: their tools, resources, prompts and skills, page by page. */
import { counted } from "../../base/counted.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { isInView } from "../../config/doors.ts";
import type { NetworkServer, ServerConfig } from "../../config/load.ts";
import { isSourceKind } from "../../config/sources.ts";
import type { Call } from "../../policy/call.ts";
import type { Connection, ServerCapability } from "../connection/connect.ts";
import type { ServerConnections } from "../connection/server-connections.ts";
import { type ListedTool, objectsOf, readTools } from "../result.ts";
import { redactTexts } from "../values/secrets.ts";
import type { ListedTools } from "./definitions.ts";
import { boundedPage, sourceLimits, ToolBudget } from "./list-bounds.ts";
import { allPages } from "./list-pages.ts";

/** Hears how a list is read. */
export interface ListingNotes {
  /** Called with each connection over which a page of the list comes. */
  onConnection?: ((connection: Connection) => void) | undefined;
  /** Gets what is missing from the list, and why. Without it, the log gets it. */
  note?: ((problem: string) => void) | undefined;
}

/** How the pages of a list are read. */
interface Reading<T> {
  read: (page: JsonObject) => T[];
  note: (problem: string) => void;
  isEnough?: () => boolean;
  onConnection?: ((connection: Connection) => void) | undefined;
}

interface ServerListsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: ServerConnections;
  log: Log;
  /** Gets the connections over which tools are listed. */
  listed: WeakSet<Connection>;
  /** Throws POLICY_DENIED if the config denies the list. */
  refuse: (server: string, request: { method: string }) => void;
}

export class ServerLists {
  readonly #options: ServerListsOptions;

  constructor(options: ServerListsOptions) {
    this.#options = options;
  }

  /** See `Pool.listTools`. */
  async tools(server: string, call: Call, { onConnection, note }: ListingNotes): Promise<ListedTool[]> {
    const { listed, log, connections } = this.#options;
    const tell = note ?? ((problem) => log.warn(problem));
    const { tools, budget } = await this.#tools(server, call, tell, (connection) => {
      listed.add(connection);
      onConnection?.(connection);
    });
    if (budget.isFull || budget.left > 0) tell(`${server}: ${budget.problem}`);
    // Definitions are written to files. Names stay unchanged, or the tools could not be called.
    const redact = connections.redactor(server);
    return tools.map((tool) => ({ ...redactTexts(tool, redact), name: tool.name }));
  }

  /** The tools for comparison with permissions. Does not count as a listing for the registry. */
  async toolsForPermit(server: string): Promise<ListedTools> {
    const connections = new Set<Connection>();
    const { tools } = await this.#tools(
      server,
      {},
      () => {},
      (connection) => connections.add(connection),
    );
    const [connection] = connections;
    return { tools, connection: connections.size === 1 ? connection : undefined };
  }

  /** All entries of a list, unchanged. They stand in each page under `key`. */
  entries(server: string, method: string, key: string, call: Call): Promise<JsonObject[]> {
    const note = (problem: string) => this.#options.log.warn(problem);
    return this.#all(server, method, call, { read: (page) => objectsOf(boundedPage(page)[key]), note });
  }

  async #tools(
    server: string,
    call: Call,
    note: (problem: string) => void,
    onConnection: (connection: Connection) => void,
  ) {
    const { view, transport } = (this.#options.servers.get(server) ?? {}) as Partial<NetworkServer>;
    const budget = new ToolBudget(isSourceKind(transport) ? sourceLimits : undefined);
    const read = (page: JsonObject) => {
      const named = readTools(page, server);
      const unnamed = (page["tools"] as unknown[]).length - named.length;
      if (unnamed > 0)
        note(`${server}: ${counted(unnamed, "entry", "entries")} of tools/list without a name are left out`);
      return budget.take(named).filter(({ name }) => isInView(view, name));
    };
    const reading = { read, note, isEnough: () => budget.isFull, onConnection };
    return { tools: await this.#all(server, "tools/list", call, reading), budget };
  }

  /** All pages of a list. Empty if the server does not have such a list. */
  async #all<T>(
    server: string,
    method: string,
    call: Call,
    { read, isEnough, note, onConnection }: Reading<T>,
  ): Promise<T[]> {
    const { connections, refuse } = this.#options;
    refuse(server, { method });
    const what = `${method} of ${server}`;
    const offer = method.split("/")[0] as ServerCapability;
    const ask = (params: JsonObject) =>
      connections.use(server, what, call, async (send, connection) => {
        onConnection?.(connection);
        return connection.offers(offer) ? send({ method, params }) : undefined;
      });
    return allPages({ server, method, ask, read, note, isEnough });
  }
}
