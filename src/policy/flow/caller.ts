/** The agent that makes a call, as rules and labels see it. */
import type { SessionReads } from "./session-reads.ts";

export interface Caller {
  /** The data that the session has read. */
  reads: SessionReads;
  /** The agent, as it names itself. Empty texts if it does not, and for a shell. */
  agent: CallingAgent;
  /** Its token or person, among which places are shared. */
  owner?: string | undefined;
}

export interface CallingAgent {
  name: string;
  version: string;
}

export const noAgent: CallingAgent = { name: "", version: "" };
