/** A channel leads to one server: a transport, with what is known about the server's process and how it ended. */
import type { Transport } from "@modelcontextprotocol/client";
import type { Log } from "../../base/log.ts";
import type { Sealing } from "../../config/credentials.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { CredentialStore } from "../auth/credentials.ts";
import type { NetworkFailure } from "../failures/network-failure.ts";
import type { LogFiles } from "../logs/log-file.ts";
import type { HeadersHelper } from "../network/headers-helper.ts";
import type { PersonIdentity } from "../values/person-identity.ts";

export interface Channel {
  transport: Transport;
  /** The process of a server that runs on this machine. */
  pid(): number | undefined;
  /** Why the channel was lost, such as "its process exited with code 1". Empty while it is open, or if claudikins closed it. */
  ended(): string;
  /** The last lines that the server wrote to stderr. */
  lastWords(): string[];
  /** The network error that ended the channel. */
  failure(): NetworkFailure | undefined;
  /** The channel was lost although the server works: a new channel reaches it. */
  isWell?(): boolean;
  /** The server has not seen the requests that were pending when the channel was lost. */
  wasUnseen?(): boolean;
  /** Announces that claudikins is about to close the channel. */
  closing?(why: string): void;
}

export interface ChannelOptions {
  env: Environment;
  /** The environment of this process, for secrets and the commands that print them. Default: `env`. */
  ownEnv?: Environment | undefined;
  /** The folder whose files tools of web APIs may send, and into which they write files. Without it, there are none. */
  workspace?: string | undefined;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
  /** Removes the server's secrets. Applied before a text is cut, because half a secret would not be recognised. */
  redact?: ((text: string) => string) | undefined;
  /** The file with the sign-ins. Without it, claudikins does not sign in. */
  credentialsFile?: string | undefined;
  /** The keys of the config that seal the sign-ins of a team in its database. */
  sealing?: (() => Sealing | undefined) | undefined;
  /** The credentials of the person that the servers are connected for, for those that use each person's own. */
  own?: CredentialStore | undefined;
  /** What is known of this person now, for the programs of entries. */
  identity?: (() => PersonIdentity | undefined) | undefined;
  /** The headers of the server's `headersHelper`, for all its connections. */
  helper?: HeadersHelper | undefined;
  /** Receives the server's stderr, and when it starts and ends. */
  logs?: LogFiles | undefined;
}

/** Opens the channel to a server. A shared server needs to know what its client supports. `signal` aborts when the caller gives up. */
export type ChannelOpener = (
  server: ServerConfig,
  options: ChannelOptions & { capabilities: object; signal: AbortSignal },
) => Promise<Channel>;
