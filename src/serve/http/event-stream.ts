/** Server-sent events that survive a broken connection: the client resumes a stream on a new connection. */

import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { megabyte } from "../../base/units.ts";

/** A client that is this far behind with its events is disconnected. The log keeps what it has not read. */
const maxQueuedBytes = 4 * megabyte;

/** No more keep-alive is sent while this much is unread. */
const keepAliveBelowBytes = 65_536;

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Proxies must not buffer events.
  "x-accel-buffering": "no",
};

/** A comment, because proxies and clients give up silent connections. */
export const keepAlive = ": still here\n\n";

/** One event with a message, `json`. */
export function messageEvent(json: string, id?: string): string {
  return `event: message\n${id === undefined ? "" : `id: ${id}\n`}data: ${json}\n\n`;
}

export interface EventLogOptions {
  /** Maximum size of all events together. The newest event is kept whatever its size. */
  maxBytes: number;
  maxAgeMs: number;
}

interface KeptFrame {
  stream: number;
  number: number;
  frame: Uint8Array;
  at: number;
}

/** Recent events of all streams of one client. */
export class EventLog {
  readonly #options: EventLogOptions;
  /** In the order they were sent. */
  readonly #kept: KeptFrame[] = [];
  #bytes = 0;

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  add(stream: number, number: number, frame: Uint8Array): void {
    this.#kept.push({ stream, number, frame, at: performance.now() });
    this.#bytes += frame.byteLength;
    this.forgetOld();
  }

  /** The events of a stream after the given one, as far as they are kept. */
  after(stream: number, number: number): Uint8Array[] {
    return this.#kept.filter((each) => each.stream === stream && each.number > number).map(({ frame }) => frame);
  }

  forgetOld(): void {
    const { maxBytes, maxAgeMs } = this.#options;
    const oldest = performance.now() - maxAgeMs;
    let [count, bytes] = [0, this.#bytes];
    for (const { frame, at } of this.#kept) {
      const isNeeded = bytes <= maxBytes || count === this.#kept.length - 1;
      if (isNeeded && at >= oldest) break;
      bytes -= frame.byteLength;
      count += 1;
    }
    this.#kept.splice(0, count);
    this.#bytes = bytes;
  }
}

interface StreamOptions {
  id: number;
  /** The end of the id of each event, which says what the stream answers. */
  mark: string;
  log: EventLog;
  /** Whether to send an empty event first, so that the client can resume even if it got nothing else. */
  primes: boolean;
  /** The time after which the client should reconnect. */
  retryMs: number;
  /** Called when the client disconnects or stops reading. */
  onGone: () => void;
}

const encoder = new TextEncoder();
const keepAliveFrame = encoder.encode(keepAlive);

/** Call this from time to time to keep the connection open. */
export type StayOpen = () => void;

interface Sink {
  controller: ReadableStreamDefaultController<Uint8Array>;
  openedAt: number;
  stayOpen: StayOpen;
}

export class EventStream {
  readonly id: number;
  readonly #options: StreamOptions;
  #sink: Sink | undefined;
  /** The number of the last event. */
  #number = 0;
  /** The number of the last event that was written to a connection. */
  #sent = 0;
  /** Whether the client has an event id to resume from. */
  isResumable = false;

  constructor(options: StreamOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get isLive(): boolean {
    return this.#sink !== undefined;
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
    const start = (controller: Sink["controller"]) => {
      own = { controller, openedAt: performance.now(), stayOpen };
      this.#sink = own;
      const { id, mark, log, primes, retryMs } = this.#options;
      // Bun sends the headers with the first bytes, and the client waits for the headers.
      controller.enqueue(
        primes ? encoder.encode(`id: ${id}-${after}${mark}\nretry: ${retryMs}\ndata:\n\n`) : keepAliveFrame,
      );
      this.isResumable ||= primes;
      for (const frame of log.after(id, after)) controller.enqueue(frame);
      this.#sent = this.#number;
    };
    const cancel = () => {
      if (this.#sink === own) this.#gone();
    };
    return new ReadableStream({ start, cancel }, new ByteLengthQueuingStrategy({ highWaterMark: keepAliveBelowBytes }));
  }

  write(message: JSONRPCMessage): void {
    this.#number += 1;
    const frame = encoder.encode(
      messageEvent(JSON.stringify(message), `${this.id}-${this.#number}${this.#options.mark}`),
    );
    this.#options.log.add(this.id, this.#number, frame);
    const controller = this.#sink?.controller;
    if (!controller) return;
    if ((controller.desiredSize ?? 0) < -maxQueuedBytes) {
      controller.error(new Error("The client reads too slowly"));
      this.#gone();
      return;
    }
    controller.enqueue(frame);
    this.#sent = this.#number;
    this.isResumable = true;
  }

  keepAlive(): void {
    if (!this.#sink || (this.#sink.controller.desiredSize ?? 0) <= 0) return;
    this.#sink.controller.enqueue(keepAliveFrame);
    this.#sink.stayOpen();
  }

  /** Ends the connection but not the stream: the client reconnects for the rest. */
  letGo(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.controller.close();
  }

  #gone(): void {
    this.#sink = undefined;
    this.#options.onGone();
  }
}
