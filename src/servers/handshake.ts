/** The first requests of a connection: which era of the protocol the server speaks. */
import { ProtocolError } from "@modelcontextprotocol/client";
import type { Era, OpeningRequest, ServerClient } from "./server-client.ts";
import { isEcho, networkFailureIn } from "./start-failure.ts";
import type { WatchedTransport } from "./watched-transport.ts";

interface HandshakeOptions {
  transport: WatchedTransport;
  newClient: (beginning: OpeningRequest) => ServerClient;
  timeoutMs: number;
  signal: AbortSignal;
  /** The era that the server spoke last time. */
  known: Era | undefined;
}

/**
 * Resolves with a connected client. The first request is `initialize`, because servers of both eras answer it, and some processes end
 * at any other. A server that refuses it is asked in the newer era, over the same connection; if it refuses that too, the first refusal
 * is the error. A server that is known to speak the newer era is asked in that era first.
 */
export async function handshake(options: HandshakeOptions): Promise<ServerClient> {
  const { transport, newClient, timeoutMs: timeout, signal, known } = options;
  const isNewer = known === "2026";
  const client = newClient(isNewer ? "newer first" : "older");
  try {
    await transport.lend(() => client.connect(transport, { timeout, signal }));
    return client;
  } catch (refusal) {
    if (!(refusal instanceof ProtocolError) || isNewer || isEcho(refusal)) throw refusal;
    const newer = newClient("newer");
    try {
      await transport.lend(() => newer.connect(transport, { timeout, signal }));
    } catch (error) {
      throw networkFailureIn(error) ? error : refusal;
    }
    return newer;
  }
}
