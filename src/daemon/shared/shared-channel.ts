/** The channel to a server that several users share. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Channel } from "../../servers/connection/channel.ts";
import { NotWritten } from "../../servers/process/outgoing-lines.ts";
import type { PortEnd } from "./shared-server.ts";

/** The other side of the transport: a connection to a daemon, or the shared server itself. */
interface Wire {
  /** Resolves when the server's process is started. Rejects if it cannot be started. */
  started: Promise<void>;
  /** False if the other side is closed. */
  send(message: JSONRPCMessage): boolean;
  close(): void;
}

const sent = Promise.resolve();

export class SharedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #wire: Wire;
  /** Messages that came before the transport was started. */
  #early: JSONRPCMessage[] | undefined = [];
  end: PortEnd | undefined;
  #isClosed = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async start(): Promise<void> {
    await this.#wire.started;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.onmessage?.(message);
    if (this.end) setImmediate(() => this.onclose?.());
  }

  send(message: JSONRPCMessage): Promise<void> {
    const isSent = !this.end && this.#wire.send(message);
    return isSent ? sent : Promise.reject(new NotWritten("its connection is closed"));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wire.close();
    if (!this.end) this.onclose?.();
  }

  /** Handles a message of the server. */
  receive(message: JSONRPCMessage): void {
    if (this.#early) this.#early.push(message);
    else this.onmessage?.(message);
  }

  /** Called once by the other side. No message follows. */
  ended(end: PortEnd): void {
    if (this.end || this.#isClosed) return;
    this.end = end;
    this.#wire.close();
    // A failed write is reported first.
    if (!this.#early) setImmediate(() => this.onclose?.());
  }
}

/** `pid` is the server's process, if another process has started it. */
export function sharedChannel(transport: SharedTransport, pid: () => number | undefined): Channel {
  return {
    transport,
    pid,
    ended: () => transport.end?.how ?? "",
    lastWords: () => transport.end?.lastWords ?? [],
    failure: () => undefined,
    isWell: () => transport.end !== undefined && transport.end.kind !== "failed",
    wasUnseen: () => transport.end?.kind === "moved",
  };
}
