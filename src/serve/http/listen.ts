/** The port of `serve --http`. */
import { bracketed } from "../../base/bracketed.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { httpIdleSeconds } from "../limits.ts";

interface Listening {
  host: string;
  /** 0 means any free port. */
  port: number;
  /** Maximum bytes of one request. */
  maxBodyBytes: number;
}

type HttpHandler = (request: Request, server: Bun.Server<undefined>) => Promise<Response>;

/** Starts to listen. `::` is every address of the machine, of both families. Throws USAGE if that is not possible. */
export function listen({ host, port, maxBodyBytes }: Listening, fetch: HttpHandler): Bun.Server<undefined> {
  const at = `${bracketed(host)}:${port}`;
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: httpIdleSeconds,
      // Our own limit answers with JSON. Bun's limit is for bodies far beyond it.
      maxRequestBodySize: 4 * maxBodyBytes,
      development: false,
      // Otherwise Bun would share the port with another process that listens there.
      reusePort: false,
      fetch,
    });
  } catch (cause) {
    // A system without IPv6 has only addresses of IPv4.
    if (host === "::" && systemCodeOf(cause) === "EAFNOSUPPORT")
      return listen({ host: "0.0.0.0", port, maxBodyBytes }, fetch);
    const why = whyNot[systemCodeOf(cause) ?? ""] ?? messageOf(cause);
    throw new ClaudikinsError("USAGE", `Cannot listen on ${at}: ${why}`, {
      hint: "Choose another port, or 0 for any free port.",
      cause,
    });
  }
}

const whyNot: Record<string, string> = {
  EADDRINUSE: "the port is in use by another program",
  EADDRNOTAVAIL: "this machine has no such address",
  EACCES: "the port needs administrator rights",
};
