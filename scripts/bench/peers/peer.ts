/** What the others offer who run code for an agent: one way to call them all. */
import type { Entry } from "../../../test/support/servers.ts";

/** A program that is here, with the words that start it, or why it is not. */
export type Program = { command: string[]; version: string } | { missing: string };

/** The servers whose tools the code can call, by the name of the global. */
export type Servers = Record<string, Entry>;

export interface Peer extends AsyncDisposable {
  /** The value that the code returned. Throws when it fails. */
  execute(code: string): Promise<unknown>;
  /** Starts code that goes on for ever; it ends with the peer. */
  leave(code: string): void;
  /** The processes in which code runs now. */
  pids(): number[];
}
