/** Sends the state to open pages as server-sent events, whenever it has changed. */

/** Events that wait for a page. A page that is further behind is disconnected, and connects again. */
const maxQueuedEvents = 20;

/** Time without events after which an open page gets a keep-alive. */
const pageKeepAliveMs = 15_000;

interface LiveOptions {
  /** The state as JSON. */
  read(): Promise<string>;
  /** How often the state is compared. */
  everyMs: number;
}

/** A line that keeps the connection open. */
const keepAlive = ": still here\n\n";

interface Reader {
  controller: ReadableStreamDefaultController<string>;
  /** What was sent last. */
  state: string;
  sentAt: number;
  isOpen: () => boolean;
  end: () => void;
}

export class Live {
  readonly #options: LiveOptions;
  readonly #readers = new Set<Reader>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** The stream ends as soon as `isOpen` is false. `onEnd` is called once. */
  stream(isOpen: () => boolean, onEnd: () => void): ReadableStream<string> {
    let reader: Reader | undefined;
    return new ReadableStream<string>({
      start: (controller) => {
        const end = () => {
          if (reader && this.#readers.delete(reader)) onEnd();
        };
        reader = { controller, state: "", sentAt: performance.now(), isOpen, end };
        this.#readers.add(reader);
        this.#timer ??= setInterval(() => void this.look(), this.#options.everyMs);
        void this.look();
      },
      cancel: () => reader?.end(),
    });
  }

  /** Compares the state now, and sends it to pages that have another one. Never rejects. */
  async look(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      const state = await this.#options.read();
      for (const reader of this.#readers) this.#send(reader, state);
    } catch {
      // A file that is being replaced can be read next time.
    } finally {
      this.#isReading = false;
      if (this.#readers.size === 0) this.#stopLooking();
    }
  }

  /** Ends all streams. The pages learn that this was the last event. */
  close(): void {
    this.#stopLooking();
    for (const reader of this.#readers) {
      reader.end();
      try {
        reader.controller.enqueue("event: end\ndata:\n\n");
        reader.controller.close();
      } catch {
        // The page has gone.
      }
    }
  }

  #send(reader: Reader, state: string): void {
    const { controller } = reader;
    const isLate = -(controller.desiredSize ?? 0) > maxQueuedEvents;
    try {
      if (!reader.isOpen() || isLate) {
        reader.end();
        controller.close();
        return;
      }
      const isNew = state !== reader.state;
      if (!isNew && performance.now() - reader.sentAt < pageKeepAliveMs) return;
      // JSON has no line breaks.
      controller.enqueue(isNew ? `data: ${state}\n\n` : keepAlive);
      reader.state = state;
      reader.sentAt = performance.now();
    } catch {
      reader.end();
    }
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
