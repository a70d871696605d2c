/** The servers' current tool definitions, to which a person's permission is compared. The registry may be older. */
import type { ServerConfig } from "../../config/load.ts";
import { definitionOf, type ToolDefinition } from "../../policy/definition.ts";
import { unlessAborted } from "../abort.ts";
import type { Connection } from "../connection/connect.ts";
import type { ListedTool } from "../result.ts";
import { Listings } from "./listings.ts";

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
