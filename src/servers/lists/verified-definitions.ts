/** Whether the definitions of a server's tools were compared with the accepted ones over its present connection, and which tools are held. */
import type { Connection } from "../connection/connect.ts";

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
