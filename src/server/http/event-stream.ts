/** One stream of server-sent events. It survives a broken connection: the client resumes it on a new one. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import type { EventLog } from "./event-log.ts";

export interface StreamOptions {
  id: number;
  log: EventLog;
  /** Whether to send an empty event first, so that the client can resume even if it got nothing else. */
  primes: boolean;
  /** The time after which the client should reconnect. */
  retryMs: number;
  /** Called when the client has disconnected or stopped reading. */
  onGone?: () => void;
}

/** A client that is this far behind is disconnected. The log keeps what it has not read. */
const maxQueuedBytes = 4 * 1_048_576;

/** With this much unread, no more keep-alive is sent. */
const queueBytes = 65_536;

const encoder = new TextEncoder();
const keepAlive = encoder.encode(": still here\n\n");

type Controller = ReadableStreamDefaultController<Uint8Array>;

/** Call this from time to time to keep the connection open. */
export type StayOpen = () => void;

interface Sink {
  controller: Controller;
  openedAt: number;
  stayOpen: StayOpen;
}

export class EventStream {
  readonly id: number;
  /** Requests that are answered on this stream. */
  readonly pending = new Set<RequestId>();
  readonly #options: StreamOptions;
  #sink: Sink | undefined;
  /** The id of the last event. */
  #number = 0;
  /** The id of the last event that was written to a connection. */
  #sent = 0;
  #hasId = false;

  constructor(options: StreamOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isLive(): boolean {
    return this.#sink !== undefined;
  }

  /** Whether the client has an event id to resume from. */
  get isResumable(): boolean {
    return this.#hasId;
  }

  /** How long the connection has been open, in milliseconds. */
  get liveMs(): number {
    return this.#sink ? performance.now() - this.#sink.openedAt : 0;
  }

  /** Replaces the connection. The new one starts after the given event, or after what was sent. */
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

  /** Sends a comment, because proxies close silent connections. */
  keepAlive(): void {
    if (!this.#sink || (this.#sink.controller.desiredSize ?? 0) <= 0) return;
    this.#sink.controller.enqueue(keepAlive);
    this.#sink.stayOpen();
  }

  /** Ends the connection but not the stream: the client reconnects for the rest. */
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
      // Bun sends the headers with the first bytes, and the client waits for the headers.
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
