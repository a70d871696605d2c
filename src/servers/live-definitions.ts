/** The servers' current tool definitions, to which a person's permission is compared. The registry may be older. */
import type { ServerConfig } from "../config/load.ts";
import { definitionOf, type ToolDefinition } from "../policy/definition.ts";
import { unlessAborted } from "./abort.ts";
import type { Connection } from "./connect.ts";
import { maxDefinitionAnswers } from "./limits.ts";
import type { ListedTool } from "./result.ts";

/** A server's answer to `tools/list`. */
export interface Listing {
  tools: readonly ListedTool[];
  /** Undefined if the pages came over several connections. */
  connection: Connection | undefined;
}

interface Heard extends Listing {
  /** The number of changes that the server had announced when it was asked. */
  changes: number;
}

/** The lists of one server, and the requests for them. */
interface Known {
  /** The number of changes that it has announced. */
  changes: number;
  last?: Heard;
  running?: Promise<Heard> | undefined;
  /** The request after the running one, which began too early for some callers. */
  next?: Promise<Heard> | undefined;
}

interface Servers {
  entries: ReadonlyMap<string, ServerConfig>;
  list: (server: string) => Promise<Listing>;
  /** The server's last connection. */
  connection: (server: string) => Connection | undefined;
}

export class LiveDefinitions {
  readonly #servers: Servers;
  readonly #known = new Map<string, Known>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** Call this when the server announces that its tools have changed. */
  changed(server: string): void {
    this.#stateOf(server).changes += 1;
  }

  /** With `isFresh`, the server is asked after this call. Throws errors of `tools/list`, and CANCELLED. */
  async of(
    server: string,
    tool: string,
    { signal, isFresh }: { signal: AbortSignal | undefined; isFresh: boolean },
  ): Promise<ToolDefinition> {
    const { last } = this.#stateOf(server);
    const known = !isFresh && last && this.#isCurrent(server, last) ? last : undefined;
    const { tools, connection } = known ?? (await unlessAborted(this.#ask(server), signal, `tools/list of ${server}`));
    const about = [this.#servers.entries.get(server), connection?.serverInfo()];
    const found = tools.filter(({ name }) => name === tool);
    // If two tools have the same name, it is unknown which one is called. The definition contains both, and no annotation
    // counts as harmless.
    return definitionOf(found.length > 1 ? { description: found } : found[0], about, connection);
  }

  #isCurrent(server: string, { connection, changes }: Heard): boolean {
    return connection === this.#servers.connection(server) && changes === this.#stateOf(server).changes;
  }

  async #ask(server: string): Promise<Heard> {
    for (let answers = 1; ; answers++) {
      const heard = await this.#answer(server);
      if (this.#isCurrent(server, heard) || answers === maxDefinitionAnswers) return heard;
    }
  }

  /** Concurrent callers share a request, but never one that was sent before they came. */
  #answer(server: string): Promise<Heard> {
    const known = this.#stateOf(server);
    if (!known.running) return this.#begin(server, known);
    known.next ??= known.running
      .catch(() => {})
      .then(() => {
        known.next = undefined;
        return this.#begin(server, known);
      });
    return known.next;
  }

  #begin(server: string, known: Known): Promise<Heard> {
    const { changes } = known;
    const answer = this.#servers
      .list(server)
      .then((listing) => {
        known.last = { ...listing, changes };
        return known.last;
      })
      .finally(() => {
        if (known.running === answer) known.running = undefined;
      });
    known.running = answer;
    return answer;
  }

  #stateOf(server: string): Known {
    const known = this.#known.get(server) ?? { changes: 0 };
    this.#known.set(server, known);
    return known;
  }
}
