/** A way to a held server, as the server knows it: somebody who uses it, and how that may end. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";

/** Somebody who uses the server. */
export interface Port {
  /** Whose it is; several may be of one. */
  readonly session: string;
  send(message: JSONRPCMessage): void;
  /** The last that it hears, but for the end of what it has left itself. */
  end(how: PortEnd): void;
}

export interface PortEnd {
  /** As the end of a sentence: "its process exited with code 1". */
  how: string;
  /** Of the server, on stderr. */
  lastWords: string[];
  /** Of the server: `failed`; or it is well and nobody's any more, `gone`; or `moved`, then what it was still asked it has not seen. */
  kind: "failed" | "gone" | "moved";
}
