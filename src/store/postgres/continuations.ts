/** Gives executions that no process runs to the processes that can continue them, as jobs in the database. */
import type { ContinuationHandlers, Continuations, Continuing } from "../continuations.ts";
import type { Changes } from "./changes.ts";
import type { Connections } from "./connections.ts";

export class PostgresContinuations implements Continuations {
  readonly #connections: Connections;
  readonly #changes: Changes;

  constructor(connections: Connections, changes: Changes) {
    this.#connections = connections;
    this.#changes = changes;
  }

  async take(handlers: ContinuationHandlers): Promise<Continuing> {
    // Only a server of a team loads it.
    const { ContinuationJobs } = await import("./continuation-jobs.ts");
    return ContinuationJobs.start(handlers, this.#connections, this.#changes);
  }
}
