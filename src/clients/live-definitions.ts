/** What servers say of their tools at this moment, which a person's permission is compared with. The registry may be older. */
import type { ServerConfig } from "../config/load.ts";
import { definitionOf, type ToolDefinition } from "../policy/definition.ts";
import { unlessAborted } from "./abort.ts";
import type { Connection } from "./connect.ts";
import type { ListedTool } from "./result.ts";

/** A server's answer to `tools/list`. */
export interface Listing {
  tools: readonly ListedTool[];
  /** Undefined where its pages came over several connections. */
  connection: Connection | undefined;
}

interface Heard extends Listing {
  /** How often the server had said that its tools changed when it was asked. */
  changes: number;
}

export interface Servers {
  entries: ReadonlyMap<string, ServerConfig>;
  list: (server: string) => Promise<Listing>;
  /** The server's last connection. */
  connection: (server: string) => Connection | undefined;
}

/** A server that says that its tools changed each time it is asked for them is believed after so many answers. */
const maxAnswers = 3;

export class LiveDefinitions {
  readonly #servers: Servers;
  readonly #last = new Map<string, Heard>();
  readonly #running = new Map<string, Promise<Heard>>();
  /** For whoever asks while a question is on its way, which may have been answered by then. */
  readonly #next = new Map<string, Promise<Heard>>();
  readonly #changes = new Map<string, number>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  /** The server has said that its tools changed. */
  changed(server: string): void {
    this.#changes.set(server, this.#changesOf(server) + 1);
  }

  /** With `isFresh` the server is asked after this call. Throws as `tools/list` does, and CANCELLED. */
  async of(
    server: string,
    tool: string,
    { signal, isFresh }: { signal: AbortSignal | undefined; isFresh: boolean },
  ): Promise<ToolDefinition> {
    const last = this.#last.get(server);
    const known = !isFresh && last && this.#isCurrent(server, last) ? last : undefined;
    const { tools, connection } = known ?? (await unlessAborted(this.#ask(server), signal, `tools/list of ${server}`));
    const about = [this.#servers.entries.get(server), connection?.serverInfo()];
    const found = tools.filter(({ name }) => name === tool);
    // Of two tools with one name nobody knows which is called: all that is said of both counts, and nothing as harmless.
    return definitionOf(found.length > 1 ? { description: found } : found[0], about, connection);
  }

  #isCurrent(server: string, { connection, changes }: Heard): boolean {
    return connection === this.#servers.connection(server) && changes === this.#changesOf(server);
  }

  async #ask(server: string): Promise<Heard> {
    for (let answers = 1; ; answers++) {
      const heard = await this.#answer(server);
      if (this.#isCurrent(server, heard) || answers === maxAnswers) return heard;
    }
  }

  /** Callers at the same time share an answer, but never one to a question that was asked before they came. */
  #answer(server: string): Promise<Heard> {
    const running = this.#running.get(server);
    if (!running) return this.#begin(server);
    const waiting = this.#next.get(server);
    if (waiting) return waiting;
    const next = running
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        this.#next.delete(server);
        return this.#begin(server);
      });
    this.#next.set(server, next);
    return next;
  }

  #begin(server: string): Promise<Heard> {
    const changes = this.#changesOf(server);
    const answer = this.#servers
      .list(server)
      .then((listing) => {
        const heard = { ...listing, changes };
        this.#last.set(server, heard);
        return heard;
      })
      .finally(() => {
        if (this.#running.get(server) === answer) this.#running.delete(server);
      });
    this.#running.set(server, answer);
    return answer;
  }

  #changesOf(server: string): number {
    return this.#changes.get(server) ?? 0;
  }
}
