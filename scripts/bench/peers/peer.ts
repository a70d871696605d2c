/** Programs that run code for an agent, behind one interface. */
import type { Entry } from "../../../test/support/servers.ts";

/** A program with the words that start it, or why it is missing. */
export type Program = { command: string[]; version: string } | { missing: string };

/** The servers whose tools the code can call, by their global names. */
export type Servers = Record<string, Entry>;

export interface Peer extends AsyncDisposable {
  /** Runs code and returns its value. Throws if it fails. */
  execute(code: string): Promise<unknown>;
  /** Starts code that never ends; it is stopped with the peer. */
  leave(code: string): void;
  /** The processes in which code runs. */
  pids(): number[];
}
