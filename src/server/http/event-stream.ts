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

/** Beyond this much that waits to be read, nothing more is done to keep the connection open. */
const queueBytes = 65_536;

const encoder = new TextEncoder();
const keepAlive = encoder.encode(": still here\n\n");

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** To be called from time to time, as long as the connection is to stay open. */
export type StayOpen = () => void;

interface Sink {
  controller: Controller;
  openedAt: number;
  stayOpen: StayOpen;
}

export class EventStream {
  readonly id: number;
  /** Requests whose answers are to come in it. */
  readonly pending = new Set<RequestId>();
  readonly #options: StreamOptions;
  #sink: Sink | undefined;
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
    return this.#sink ? performance.now() - this.#sink.openedAt : 0;
  }

  /** A new connection in the place of any other: it begins with what comes after an event, or after what was sent. */
  open(stayOpen: StayOpen, after = this.#sent): ReadableStream<Uint8Array> {
    this.letGo();
    stayOpen();
    let own: Sink | undefined;
    const start = (controller: Controller) => {
      own = { controller, openedAt: performance.now(), stayOpen };
      this.#sink = own;
      this.#begin(controller, after);
    };
    const cancel = () => {
      if (this.#sink !== own) return;
      this.#sink = undefined;
      this.#options.onGone?.();
    };
    return new ReadableStream({ start, cancel }, new ByteLengthQueuingStrategy({ highWaterMark: queueBytes }));
  }

  write(message: JSONRPCMessage): void {
    this.#number += 1;
    const frame = encoder.encode(
      `event: message\nid: ${this.id}-${this.#number}\ndata: ${JSON.stringify(message)}\n\n`,
    );
    this.#options.log.add(this.id, this.#number, frame);
    const controller = this.#sink?.controller;
    if (!controller) return;
    if ((controller.desiredSize ?? 0) < -maxQueuedBytes) {
      this.#breakOff(controller);
      return;
    }
    controller.enqueue(frame);
    this.#sent = this.#number;
    this.#hasId = true;
  }

  /** Something for those between us and the client who take silence for an end. */
  keepAlive(): void {
    if (!this.#sink || (this.#sink.controller.desiredSize ?? 0) <= 0) return;
    this.#sink.controller.enqueue(keepAlive);
    this.#sink.stayOpen();
  }

  /** Ends the connection, not the stream: the client comes back for what is still to come. */
  letGo(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.controller.close();
  }

  #begin(controller: Controller, after: number): void {
    const { log, primes, retryMs } = this.#options;
    if (primes) {
      controller.enqueue(encoder.encode(`id: ${this.id}-${after}\nretry: ${retryMs}\ndata:\n\n`));
      this.#hasId = true;
    } else {
      // Bun sends the headers with the first bytes, and the client waits for them.
      controller.enqueue(keepAlive);
    }
    for (const frame of log.after(this.id, after)) controller.enqueue(frame);
    this.#sent = this.#number;
  }

  #breakOff(controller: Controller): void {
    this.#sink = undefined;
    controller.error(new Error("The client reads too slowly"));
    this.#options.onGone?.();
  }
}
