/** What the page of `claudikins ui` is made of, and what the daemon does for it. */
import type { App } from "../app/app.ts";
import type { JsonObject } from "../base/json-object.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import type { Approvals } from "../policy/approvals/approvals.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import type { Continued } from "./approvals.ts";
import type { PageToken } from "./contract.ts";
import type { RunningServers } from "./servers.ts";
import type { PageStopped } from "./system-contract.ts";

export type StartedInBackground = { door: string | undefined } & (
  | { program: string; input: JsonObject }
  | { again: string; dryRun: boolean }
  | { source: string; dryRun?: boolean; isFromPage?: boolean; codeOf?: string | undefined }
);

/** The functions of the config's current daemon. The page may belong to an earlier daemon, which has left its place. */
export interface Background {
  /** Starts a saved program, or the code of an execution again. Returns the id of the new execution. Throws what the daemon throws. */
  start(program: StartedInBackground): Promise<string>;
  /** Ends the processes of a server, and starts it again. Throws what starting it throws. */
  restart(server: string): Promise<{ ended: number; tools: number }>;
  /** Makes the processes that use a server list its tools again, if a daemon runs. */
  relist(server: string): Promise<void>;
  /** The address of the page of another config. It works once, for a minute. */
  pageOf(file: string): Promise<string>;
  /** Starts a daemon if none is running. Returns false if there can be none. */
  wake(): Promise<boolean>;
}

/** A daemon of the user, as it describes itself. */
export interface RunningDaemon {
  pid: number;
  version: string;
  /** The config file; null for the demo. */
  config: string | null;
  startedAt: number;
  calls: { running: number; done: number };
  held: { server: string; pid: number | null }[];
  page: boolean;
  memoryBytes?: number;
}

/** A daemon that runs and does not answer. Only its log is known for certain. */
interface SilentDaemon {
  pid?: number | undefined;
  config?: string | null | undefined;
  log: string;
}

/** The daemons of the user, as `claudikins daemon` finds and stops them. */
export interface DaemonControl {
  list(): Promise<{ running: RunningDaemon[]; silent: SilentDaemon[] }>;
  /**
   * Stops a daemon once its calls are done; with `now`, cancels them, and ends a daemon that does not answer by force. Throws SERVER_UNAVAILABLE
   * if no daemon has this process, and without `now` if it does not answer.
   */
  stop(pid: number, now: boolean): Promise<PageStopped>;
}

/** What the parts of the page of `claudikins ui` share. */
export interface PageParts {
  /** The page's own app, which starts no programs, and the approvals of all processes. The API disposes of both. */
  app: App;
  approvals: Approvals;
  credentials: CredentialStore;
  env: Environment;
  /** Whether the user has confirmed the config, so that it need not be trusted. */
  isAnswered: boolean;
  continued: Continued;
  /** Opens the part of the config that is behind a door. Throws DOOR_NOT_FOUND. */
  openDoor(door: string): Promise<App>;
  /** Opens the part of the config, to run a program as a command does. */
  openToRecord(door: string | undefined): Promise<App>;
  background: Background;
  /** Opens an app with another config, to try a server before it is added. */
  openConfig(config: Config): Promise<App>;
  /** Opens an app with the servers that run already in the daemon. */
  openRunning(): Promise<App>;
  /** The tokens of serve --http for the config. Throws if they cannot be read. */
  tokens(): PageToken[];
  /** The servers' state in the daemon of the config. Undefined if no daemon is running. */
  running(): Promise<RunningServers | undefined>;
  daemons: DaemonControl;
}
