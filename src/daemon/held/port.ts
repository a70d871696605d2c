/** A port connects one user to a held server. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

/** One user of the server. */
export interface Port {
  /** The user's session. Several users may have the same one. */
  readonly session: string;
  send(message: JSONRPCMessage): void;
  /** The last call, unless the user has detached itself. */
  end(how: PortEnd): void;
}

export interface PortEnd {
  /** The reason, as the end of a sentence: "its process exited with code 1". */
  how: string;
  /** The last lines of the server's stderr. */
  lastWords: string[];
  /**
   * `failed`: the server ended. `gone`: the server works, but is not available any more. `moved`: the same, and the server
   * has not seen the pending requests.
   */
  kind: "failed" | "gone" | "moved";
}
