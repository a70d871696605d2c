/** One stream of server-sent events: it goes on when its connection breaks, and the client comes back for the rest. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { EventLog } from "./event-log.ts";

export interface StreamOptions {
  id: number;
  log: EventLog;
  /** Whether an empty event comes first, so that the client can come back even if it gets nothing else. */
  primes: boolean;
  /** After which time it shall. */
  retryMs: number;
  /** Told when the client has gone, or reads no more. */
  onGone?: () => void;
}

/** Behind with reading so much, a client is let go: what it has not read waits in the log, not in a connection. */
const maxQueuedBytes = 4 * 1_048_576;

/** Beyond this much that waits to be read, nothing is sent to keep the connection alive. */
const queueBytes = 65_536;

const encoder = new TextEncoder();
const keepAlive = encoder.encode(": still here\n\n");

type Sink = ReadableStreamDefaultController<Uint8Array>;

export class EventStream {
  readonly id: number;
  /** Requests whose answers are to come in it. */
  readonly pending = new Set<RequestId>();
  readonly #options: StreamOptions;
  #sink: Sink | undefined;
  #openedAt = 0;
  /** Of the last event. */
  #number = 0;
  /** Of the last event that was put into a connection. */
  #sent = 0;
  #hasId = false;

  constructor(options: StreamOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isLive(): boolean {
    return this.#sink !== undefined;
  }

  /** Whether the client knows where to go on. */
  get isResumable(): boolean {
    return this.#hasId;
  }

  /** For how long the connection is open by now. */
  get liveMs(): number {
    return this.#sink ? performance.now() - this.#openedAt : 0;
  }

  /** A new connection in the place of any other: it begins with what comes after an event, or after what was sent. */
  open(after = this.#sent): ReadableStream<Uint8Array> {
    const { log, primes, retryMs, onGone } = this.#options;
    this.letGo();
    let own: Sink | undefined;
    const start = (controller: Sink) => {
      own = controller;
      this.#sink = controller;
      this.#openedAt = performance.now();
      if (primes) {
        controller.enqueue(encoder.encode(`id: ${this.id}-${after}\nretry: ${retryMs}\ndata:\n\n`));
        this.#hasId = true;
      } else {
        // Bun sends the headers with the first bytes, and the client waits for them.
        controller.enqueue(keepAlive);
      }
      for (const frame of log.after(this.id, after)) controller.enqueue(frame);
      this.#sent = this.#number;
    };
    const cancel = () => {
      if (this.#sink !== own) return;
      this.#sink = undefined;
      onGone?.();
    };
    return new ReadableStream({ start, cancel }, new ByteLengthQueuingStrategy({ highWaterMark: queueBytes }));
  }

  write(message: JSONRPCMessage): void {
    this.#number += 1;
    const frame = encoder.encode(
      `event: message\nid: ${this.id}-${this.#number}\ndata: ${JSON.stringify(message)}\n\n`,
    );
    this.#options.log.add(this.id, this.#number, frame);
    if (!this.#sink) return;
    if ((this.#sink.desiredSize ?? 0) < -maxQueuedBytes) {
      this.#breakOff(this.#sink);
      return;
    }
    this.#sink.enqueue(frame);
    this.#sent = this.#number;
    this.#hasId = true;
  }

  /** Something for those between us and the client who take silence for an end. */
  keepAlive(): void {
    if ((this.#sink?.desiredSize ?? 0) > 0) this.#sink?.enqueue(keepAlive);
  }

  /** Ends the connection, not the stream: the client comes back for what is still to come. */
  letGo(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.close();
  }

  #breakOff(sink: Sink): void {
    this.#sink = undefined;
    sink.error(new Error("The client reads too slowly"));
    this.#options.onGone?.();
  }
}
