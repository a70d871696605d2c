/** What the jobs of a writer use. */
import type { JobName, StoreJobs } from "../jobs.ts";
import type { Database } from "../work.ts";
import type { Changes } from "./changes.ts";
import type { Claims } from "./claims.ts";
import type { Connections } from "./connections.ts";
import type { Owners } from "./owners.ts";
import type { Room } from "./room.ts";

/** The parts of the store. */
export interface StoreParts {
  connections: Connections;
  owners: Owners;
  changes: Changes;
  room: Room;
}

/** The parts of one writer. */
export interface JobParts extends Omit<StoreParts, "connections"> {
  connections: Database;
  claims: Claims;
}

/** The functions that do some of the jobs. */
export type Jobs<Name extends JobName> = {
  [Each in Name]: (execution: string, input: StoreJobs[Each]["input"]) => Promise<StoreJobs[Each]["output"]>;
};
