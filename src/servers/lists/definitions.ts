/** Compares the definitions that a server lists now with what a person has accepted, and with the permissions for its tools. */

import type { ServerConfig } from "../../config/load.ts";
import { definitionOf, type ToolDefinition } from "../../policy/definition.ts";
import { unlessAborted } from "../abort.ts";
import type { Connection } from "../connection/connect.ts";
import type { ListedTool } from "../result.ts";
import { Listings } from "./listings.ts";

/** Tools that are not called until a person has seen their changed definitions. */
export interface HeldTools {
  /** Changes when a definition is accepted. */
  mark: string;
  /** By their own names, with the reasons. */
  tools: readonly { name: string; why: string }[];
}

/** What the pool asks about definitions that were accepted. Tools have their own names. */
export interface DefinitionCheck {
  /** The tools that are held, as far as other connections and processes know. */
  held: (server: string) => HeldTools | undefined;
  /** Whether calls wait until the definitions of the current connection are compared. */
  isLocked: (server: string) => boolean;
  /** Whether something may have been accepted since tools were held with this mark. */
  isReviewed: (server: string, mark: string) => boolean;
  /** Lists the server, and compares its definitions. */
  verify: (server: string, signal: AbortSignal | undefined) => Promise<unknown>;
}

/** A listing of tools, from its beginning until its tools are compared with the accepted definitions. */
export interface ToolsListing {
  onConnection: (connection: Connection) => void;
  /**
   * Call this when the definitions are compared, with the tools that are held, and the own names of all that were compared. Calls over the
   * connection need no other listing until the server announces a change.
   */
  verified: (held: HeldTools | undefined, names: ReadonlySet<string>) => void;
}

interface VerifiedOptions {
  /** Undefined: nothing is held. */
  accepted: DefinitionCheck | undefined;
  lastConnection: (server: string) => Connection | undefined;
  /** The number of changes that the server has announced. */
  changesOf: (server: string) => number;
}

/** A comparison of definitions. */
interface Compared {
  connection: Connection;
  /** The number of changes that the server had announced. */
  changes: number;
  held: HeldTools | undefined;
  /** The own names of the tools that were compared. */
  names: ReadonlySet<string>;
}

export class VerifiedDefinitions {
  readonly #options: VerifiedOptions;
  /** The last comparison for each server. */
  readonly #last = new Map<string, Compared>();

  constructor(options: VerifiedOptions) {
    this.#options = options;
  }

  /** Begins a listing whose tools will be compared with the accepted definitions. */
  listing(server: string): ToolsListing {
    const changes = this.#options.changesOf(server);
    const connections = new Set<Connection>();
    return {
      onConnection: (connection) => void connections.add(connection),
      verified: (held, names) => {
        const [connection] = connections;
        if (connection && connections.size === 1) this.#last.set(server, { connection, changes, held, names });
      },
    };
  }

  /** Whether calls wait until the definitions of the current connection are compared. */
  isLocked(server: string): boolean {
    return this.#options.accepted?.isLocked(server) ?? false;
  }

  /** Resolves when the definitions of the last connection are compared. Undefined if they are. */
  verify(server: string, signal: AbortSignal | undefined): Promise<unknown> | undefined {
    const { accepted, lastConnection, changesOf } = this.#options;
    const last = this.#last.get(server);
    const isVerified =
      last !== undefined &&
      last.connection === lastConnection(server) &&
      last.changes === changesOf(server) &&
      !this.#isReviewed(server, last.held);
    return isVerified ? undefined : accepted?.verify(server, signal);
  }

  /** Whether the definitions that were compared last came over this connection. */
  isOver(server: string, connection: Connection): boolean {
    return this.#last.get(server)?.connection === connection;
  }

  /** Why a tool is held. Another session may have another process of the server, so what our own connection listed comes first. */
  whyHeld(server: string, tool: string): string | undefined {
    const last = this.#last.get(server);
    // A list that is too long is read in part: what was not compared may have changed.
    if (last && !last.names.has(tool) && this.isLocked(server))
      return "its server's list does not have it, or is too long";
    const held = last ? last.held : this.#options.accepted?.held(server);
    if (!held || this.#isReviewed(server, held)) return undefined;
    return held.tools.find(({ name }) => name === tool)?.why;
  }

  #isReviewed(server: string, held: HeldTools | undefined): boolean {
    return held !== undefined && this.#options.accepted?.isReviewed(server, held.mark) === true;
  }
}

/** After this many lists of tools, a server that announces a change during each one is believed. */
const maxDefinitionAnswers = 3;

/** A server's answer to `tools/list`. */
export interface ListedTools {
  tools: readonly ListedTool[];
  /** Undefined if the pages came over several connections. */
  connection: Connection | undefined;
}

interface Heard extends ListedTools {
  /** The number of changes that the server had announced when it was asked. */
  changes: number;
}

interface LiveServers {
  entries: ReadonlyMap<string, ServerConfig>;
  list: (server: string) => Promise<ListedTools>;
  /** The server's last connection. */
  connection: (server: string) => Connection | undefined;
}

export class LiveDefinitions {
  readonly #servers: LiveServers;
  readonly #listings = new Listings<Heard>();
  /** The last answer of each server. */
  readonly #last = new Map<string, Heard>();
  /** The number of changes that each server has announced. */
  readonly #changes = new Map<string, number>();

  constructor(servers: LiveServers) {
    this.#servers = servers;
  }

  /** Call this when the server announces that its tools have changed. */
  changed(server: string): void {
    this.#changes.set(server, this.changesOf(server) + 1);
  }

  /** Without a tool, only the server is described. With `isFresh`, it is asked after this call. Throws errors of `tools/list`, and CANCELLED. */
  async of(
    server: string,
    tool: string | undefined,
    { signal, isFresh }: { signal: AbortSignal | undefined; isFresh: boolean },
  ): Promise<ToolDefinition> {
    const last = this.#last.get(server);
    const known = !isFresh && last && this.#isCurrent(server, last) ? last : undefined;
    const { tools, connection } = known ?? (await unlessAborted(this.#ask(server), signal, `tools/list of ${server}`));
    const about = [this.#servers.entries.get(server), connection?.serverInfo()];
    const found = tool === undefined ? [] : tools.filter(({ name }) => name === tool);
    // If two tools have the same name, it is unknown which one is called. The definition contains both, and no annotation
    // counts as harmless.
    return definitionOf(found.length > 1 ? { description: found } : found[0], about, connection);
  }

  #isCurrent(server: string, { connection, changes }: Heard): boolean {
    return connection === this.#servers.connection(server) && changes === this.changesOf(server);
  }

  async #ask(server: string): Promise<Heard> {
    for (let answers = 1; ; answers++) {
      const heard = await this.#listings.join(server, () => this.#hear(server), { isNew: true });
      if (this.#isCurrent(server, heard) || answers === maxDefinitionAnswers) return heard;
    }
  }

  async #hear(server: string): Promise<Heard> {
    const changes = this.changesOf(server);
    const heard = { ...(await this.#servers.list(server)), changes };
    this.#last.set(server, heard);
    return heard;
  }

  /** The number of changes that the server has announced. */
  changesOf(server: string): number {
    return this.#changes.get(server) ?? 0;
  }
}
