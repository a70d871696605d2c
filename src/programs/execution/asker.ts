/**
 * Decides who may ask for an execution by its id. Ids cannot be guessed, but they occur in logs and in the names of workspace files, so
 * an agent gets only what it started itself. The command line runs as the user and gets everything of its config.
 */

/** The client of `serve --http` that starts an execution: stored with it. */
export interface Starter {
  /** Its token or person, whose programs have a share of the places. Undefined without tokens. */
  owner?: string | undefined;
  /** Its token, its address and the name that it gives itself. */
  client: string;
  /** A digest of its session's id, in the revisions that have sessions. */
  session?: string | undefined;
}

/**
 * The key of the token or the person whose client it is, such as `token:1a2b`: see `serve/owner.ts`. Undefined for agents of the user, which
 * are those on stdio and those with the token of the server itself.
 */
export function ownerIn(starter: Starter | undefined): string | undefined {
  return /^(?:token|person):\S+(?= )/.exec(starter?.client ?? "")?.[0];
}

/** An agent that asks. */
export interface RequestingAgent {
  /** Undefined for agents on stdio, which their user starts. They share what they start, with each other and with the command line. */
  starter: Starter | undefined;
  /** Whether the client of a session is connected, by the digest of the session's id. */
  isConnected(session: string): boolean | Promise<boolean>;
  /** Aborted when it may no longer call. What it runs is cancelled then. */
  ended?: AbortSignal | undefined;
}

export const agentOfUser: RequestingAgent = { starter: undefined, isConnected: () => false };

/**
 * An execution of a session belongs to it alone while its client is connected. Afterwards, and in another process, it belongs to the
 * client: one whose connection broke begins another session, and does not end the one before.
 */
export async function mayAsk(
  { starter: own, isConnected }: RequestingAgent,
  starter: Starter | undefined,
): Promise<boolean> {
  if (!own || !starter) return own === starter;
  if (own.client !== starter.client) return false;
  const { session } = starter;
  return session === undefined || session === own.session || !(await isConnected(session));
}
