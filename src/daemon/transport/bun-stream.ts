/**
 * A connection between a caller and a daemon as a stream of bytes: a socket of Bun, because node:net would take 2 of the 30 ms of a warm
 * call. `node-stream.ts` is for generated files, which run in Node too.
 */
import { onAbort } from "../../servers/abort.ts";
import type { Stream } from "./exchange.ts";

/**
 * Connects to a socket or pipe. Rejects with the error of the system, or with the reason of the signal: Windows waits for 30 seconds if a pipe
 * has too many callers.
 */
export async function connect(address: string, signal?: AbortSignal): Promise<BunStream> {
  const { promise, resolve, reject } = Promise.withResolvers<BunStream>();
  const forget = onAbort(signal, () => reject(signal?.reason));
  const open = (stream: BunStream) => (signal?.aborted ? stream.destroy() : resolve(stream));
  Bun.connect({ unix: address, socket: socketHandler(open) }).catch(reject);
  return promise.finally(forget);
}

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

export class BunStream implements Stream {
  /** Replaced by whoever reads next. */
  onData: (chunk: Buffer) => void = () => {};
  readonly #socket: Bun.Socket<BunStream>;
  readonly #closing = new AbortController();
  readonly #unsent: Buffer[] = [];
  /** Bytes that the system has not taken yet. */
  unsentBytes = 0;
  #isEnding = false;

  constructor(socket: Bun.Socket<BunStream>) {
    this.#socket = socket;
  }

  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  get isWritable(): boolean {
    return !this.#isEnding && !this.closed.aborted;
  }

  write(data: string | Buffer): void {
    if (!this.isWritable) return;
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    this.#unsent.push(bytes);
    this.unsentBytes += bytes.length;
    if (this.#unsent.length === 1) this.flush();
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
    if (this.#isEnding) this.#socket.shutdown();
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

  /** The process may end although the connection is open. */
  unref(): void {
    this.#socket.unref();
  }

  ended(): void {
    this.#unsent.length = 0;
    this.#closing.abort();
  }
}
