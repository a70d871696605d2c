/** What servers may ask of the program that we work for, as far as it can answer. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from "@modelcontextprotocol/sdk/types.js";

export type HostCapabilities = Pick<ClientCapabilities, "sampling" | "elicitation" | "roots">;

export interface Asked {
  /** The config's name of the server that asks. */
  server: string;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** Answers are checked by who asks. What a method rejects with is told to the server. */
export interface Host {
  /** Read when a server is connected: it is told that we can do the same, where there is a method for it. */
  readonly capabilities: HostCapabilities;
  /** The server's name is in `_meta`, under `serverKey`. */
  sample?(
    params: CreateMessageRequest["params"],
    asked: Asked,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  /** The server's name stands in front of the message. */
  elicit?(params: ElicitRequest["params"], asked: Asked): Promise<ElicitResult>;
  listRoots?(asked: Asked): Promise<ListRootsResult>;
  /** What was asked for under an address is done; the id is that of the request. */
  elicited?(elicitationId: string): void;
}

/** Whether the person can be shown a form: a host that names no kind of elicitation has them. */
export function hasForms(host: Host | undefined): host is Host & Required<Pick<Host, "elicit">> {
  const { elicitation } = host?.capabilities ?? {};
  const isForm = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
  return isForm && host?.elicit !== undefined;
}

/** In the `_meta` of every request that is passed on. */
export const serverKey = "claudikins/server";
