/** The way to a server that is held for several, as the SDK's client knows ways. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Channel } from "../../clients/channel.ts";
import { NotWritten } from "../../clients/stdio.ts";
import type { PortEnd } from "./port.ts";

/** What lies between: a socket, or nothing. */
export interface Wire {
  /** Resolves when the server's process is started. Rejects with why it is not. */
  started: Promise<void>;
  /** False where it is closed. */
  send(message: JSONRPCMessage): boolean;
  close(): void;
}

export class SharedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #wire: Wire;
  /** What came before somebody listened. */
  #early: JSONRPCMessage[] | undefined = [];
  #end: PortEnd | undefined;
  #isClosed = false;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  async start(): Promise<void> {
    await this.#wire.started;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.onmessage?.(message);
    if (this.#end) setImmediate(() => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#end || !this.#wire.send(message)) throw new NotWritten("its connection is closed");
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#wire.close();
    if (!this.#end) this.onclose?.();
  }

  /** What the server says. */
  receive(message: JSONRPCMessage): void {
    if (this.#early) this.#early.push(message);
    else this.onmessage?.(message);
  }

  /** Told by the other end, once; after that nothing comes. */
  ended(end: PortEnd): void {
    if (this.#end || this.#isClosed) return;
    this.#end = end;
    this.#wire.close();
    // Who could not send hears of that first.
    if (!this.#early) setImmediate(() => this.onclose?.());
  }

  get end(): PortEnd | undefined {
    return this.#end;
  }
}

/** `pid` is that of the server's process, which is not ours. */
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
