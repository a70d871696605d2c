/** Sends the state to open pages as server-sent events, whenever it has changed. */

/** Events that wait for a page. A page that is further behind is disconnected, and connects again. */
const maxQueuedEvents = 20;

/** Time without events after which an open page gets a keep-alive. */
const pageKeepAliveMs = 15_000;

interface LiveOptions {
  /** The state as JSON. If it is undefined, nobody may see the state any longer, and all streams end. */
  read(): Promise<string | undefined>;
  /** How often the state is compared. */
  everyMs: number;
  /** Called when nobody reads any longer. */
  unused(): void;
}

/** A line that keeps the connection open. */
const keepAlive = ": still here\n\n";

interface Reader {
  controller: ReadableStreamDefaultController<string>;
  /** The state that was sent last. */
  state: string;
  sentAt: number;
  isOpen: () => boolean;
  end: () => void;
}

export class Live {
  readonly #options: LiveOptions;
  readonly #readers = new Set<Reader>();
  /** The running read of the state, shared by all callers. */
  #reading: Promise<string | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** The stream ends as soon as `isOpen` is false. `end` is called once. */
  stream({
    isOpen = () => true,
    end: onEnd = () => {},
  }: {
    isOpen?(): boolean;
    end?(): void;
  } = {}): ReadableStream<string> {
    let reader: Reader | undefined;
    return new ReadableStream<string>({
      start: (controller) => {
        const end = () => {
          if (reader && this.#readers.delete(reader)) onEnd();
        };
        reader = { controller, state: "", sentAt: performance.now(), isOpen, end };
        this.#readers.add(reader);
        this.#timer ??= setInterval(() => void this.#look(), this.#options.everyMs);
        void this.#look();
      },
      cancel: () => reader?.end(),
    });
  }

  /** Reads the state, unless it is being read. */
  state(): Promise<string | undefined> {
    const reading = this.#reading ?? this.#options.read();
    this.#reading = reading;
    const done = () => {
      if (this.#reading === reading) this.#reading = undefined;
      this.#stopUnused();
    };
    reading.then(done, done);
    return reading;
  }

  /** Sends the state to all streams at once. A read that has begun may return the state before the change, so the state is read again. */
  changed(): void {
    this.#reading = undefined;
    void this.#look();
  }

  /** Compares the state now, and sends it to pages that have another one. Never rejects. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const state = await this.state();
      for (const reader of this.#readers) this.#send(reader, state);
    } catch {
      // A file that is being replaced can be read next time.
    } finally {
      this.#isLooking = false;
      this.#stopUnused();
    }
  }

  /** Ends all streams. The pages learn that this was the last event. */
  close(): void {
    clearInterval(this.#timer);
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

  #send(reader: Reader, state: string | undefined): void {
    const { controller } = reader;
    const isLate = -(controller.desiredSize ?? 0) > maxQueuedEvents;
    try {
      if (state === undefined || !reader.isOpen() || isLate) {
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

  #stopUnused(): void {
    if (this.#readers.size > 0 || this.#reading || this.#isLooking) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#options.unused();
  }
}
