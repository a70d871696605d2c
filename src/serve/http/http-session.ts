/** One session at an address: its transport, whose it is, and when its client was there last. */
import { disconnectedAfterMs } from "../limits.ts";
import type { Caller, ClientPlace } from "./clients.ts";
import type { SessionTransport } from "./transport.ts";

export class HttpSession implements ClientPlace {
  readonly transport: SessionTransport;
  readonly owner: string | undefined;
  readonly address: string;
  readonly client: string;
  usedAt = performance.now();
  /** When the client was last seen to be connected. */
  #seenAt = performance.now();

  constructor(transport: SessionTransport, { owner, address }: Caller, client: string) {
    this.transport = transport;
    this.owner = owner;
    this.address = address;
    this.client = client;
  }

  get isWorking(): boolean {
    return this.transport.running > 0;
  }

  get isInUse(): boolean {
    return this.transport.isInUse;
  }

  /** A client that never listens is connected only during its requests, and counts as connected for a while after each. */
  get isConnected(): boolean {
    const { isConnected, hasListened } = this.transport;
    return isConnected || (!hasListened && performance.now() - this.#seenAt < disconnectedAfterMs);
  }

  /** Its client has sent a request. */
  use(): void {
    this.usedAt = performance.now();
    this.#seenAt = this.usedAt;
  }

  tend(): void {
    this.transport.tend();
    const now = performance.now();
    if (this.transport.isInUse) this.usedAt = now;
    if (this.transport.isConnected) this.#seenAt = now;
  }
}
