/** A socket of Bun as a stream of bytes, which keeps what the system has not taken yet. */

/** What a socket of Bun tells. */
export function socketHandler(open: (stream: BunStream) => void) {
  return {
    open(socket: Bun.Socket<BunStream>) {
      socket.data = new BunStream(socket);
      open(socket.data);
    },
    data: (socket: Bun.Socket<BunStream>, chunk: Buffer) => socket.data.onData(chunk),
    drain: (socket: Bun.Socket<BunStream>) => socket.data.flush(),
    close: (socket: Bun.Socket<BunStream>) => socket.data.ended(),
  };
}

export class BunStream {
  /** Replaced by whoever reads next. The bytes of a chunk do not change. */
  onData: (chunk: Buffer) => void = () => {};
  readonly #socket: Bun.Socket<BunStream>;
  readonly #closing = new AbortController();
  #unsent: Buffer[] = [];
  /** Bytes that the system has not taken yet. When the connection has ended, they are lost. */
  unsentBytes = 0;
  #whenSent: (() => void)[] = [];
  #isOver = false;
  #isEnding = false;

  constructor(socket: Bun.Socket<BunStream>) {
    this.#socket = socket;
  }

  /** Aborted when the connection has ended, for any reason. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get isWritable(): boolean {
    return !this.#isEnding && !this.#isOver;
  }

  /** Returns the number of bytes that the data has. */
  write(data: string | Buffer): number {
    const bytes = Buffer.byteLength(data);
    this.unsentBytes += bytes;
    if (!this.isWritable) return bytes;
    const count = this.#unsent.length === 0 ? Math.max(this.#socket.write(data), 0) : 0;
    this.unsentBytes -= count;
    if (count < bytes) this.#unsent.push(Buffer.from(data as string).subarray(count));
    return bytes;
  }

  /** Writes as much as the system takes. */
  flush(): void {
    for (let next = this.#unsent[0]; next; next = this.#unsent[0]) {
      const count = Math.max(this.#socket.write(next), 0);
      this.unsentBytes -= count;
      if (count < next.length) {
        this.#unsent[0] = next.subarray(count);
        return;
      }
      this.#unsent.shift();
    }
    this.#tellSent();
    if (this.#isEnding) this.#socket.shutdown();
  }

  /** Resolves when the system has taken everything, or when it never will. */
  sent(): Promise<void> {
    return new Promise((resolve) => {
      if (this.unsentBytes === 0 || this.#isOver) resolve();
      else this.#whenSent.push(resolve);
    });
  }

  #tellSent(): void {
    for (const tell of this.#whenSent.splice(0)) tell();
  }

  /** Closes the connection when everything is sent and the other side has closed it too. */
  end(): void {
    if (!this.isWritable) return;
    this.#isEnding = true;
    if (this.#unsent.length === 0) this.#socket.shutdown();
  }

  destroy(): void {
    this.#socket.terminate();
  }

  /** Nothing is read until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** The process may end although the connection is open. */
  unref(): void {
    this.#socket.unref();
  }

  ended(): void {
    this.#isOver = true;
    this.#unsent = [];
    this.#tellSent();
    this.#closing.abort();
  }
}
