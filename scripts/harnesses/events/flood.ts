/**
 * A process that sends requests over many connections, several before it reads the answers, as fast as a rate allows. It gets its orders as JSON in
 * its argument, and prints how it was answered as JSON.
 */
import { connect } from "node:net";

export interface FloodOrder {
  port: number;
  seconds: number;
  /** Requests a second, over all connections. */
  perSecond: number;
  connections: number;
  /** The heads and bodies, which are sent in turn. */
  requests: string[];
  /** Bytes that follow each request. The head may announce them. The server closes the connection before it has read them. */
  followedByBytes?: number;
}

export interface FloodAnswer {
  /** The number of answers by status. */
  statuses: Record<string, number>;
  /** Bytes of bodies that were sent. */
  sentMb: number;
}

/** Requests that are sent together on one connection. */
const together = 20;

const statuses: Record<string, number> = {};
let sentBytes = 0;

/** Sends the texts, and resolves when each was answered or the connection is closed. */
async function exchange(order: FloodOrder, texts: readonly string[], socket: Connection): Promise<void> {
  const answered = socket.answers(texts.length);
  void socket.write(texts.join(""));
  const chunk = Buffer.alloc(65_536, 0x20);
  for (
    let sent = 0;
    sent + chunk.length < (order.followedByBytes ?? 0) && !socket.hasAnswered && !socket.isClosed;
    sent += chunk.length
  ) {
    await socket.write(chunk);
    sentBytes += chunk.length;
  }
  await answered;
}

class Connection {
  readonly #socket: ReturnType<typeof connect>;
  #left = 0;
  #resolve = () => {};
  #written = () => {};
  #tail = "";
  isClosed = false;

  constructor(port: number) {
    this.#socket = connect(port, "127.0.0.1");
    this.#socket.on("data", (data) => this.#read(data.toString("latin1")));
    for (const event of ["close", "error"] as const) this.#socket.on(event, () => this.#close());
  }

  get hasAnswered(): boolean {
    return this.#left === 0;
  }

  answers(count: number): Promise<void> {
    this.#left = count;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.isClosed) resolve();
    });
  }

  /** Resolves when it was sent, or when the connection is closed. */
  write(data: string | Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#written = resolve;
      if (this.isClosed) resolve();
      else this.#socket.write(data, () => resolve());
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const all = this.#tail + text;
    for (const [, status = ""] of all.matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
      statuses[status] = (statuses[status] ?? 0) + 1;
      this.#left -= 1;
    }
    // The line of a status may be cut.
    const last = all.lastIndexOf("HTTP/1.1 ");
    const isCut = last !== -1 && all.length - last < "HTTP/1.1 200 ".length;
    this.#tail = isCut ? all.slice(last) : (/H?T?T?P?\/?1?\.?1?$/.exec(all.slice(-9))?.[0] ?? "");
    if (this.#left <= 0) this.#resolve();
  }

  #close(): void {
    this.isClosed = true;
    this.#written();
    this.#resolve();
  }
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "") as FloodOrder;
  const end = performance.now() + order.seconds * 1_000;
  const everyMs = (order.connections * together * 1_000) / order.perSecond;
  const send = async (place: number) => {
    let socket = new Connection(order.port);
    await Bun.sleep((everyMs * place) / order.connections);
    for (let next = place, due = performance.now(); performance.now() < end; due += everyMs) {
      if (socket.isClosed) socket = new Connection(order.port);
      const count = order.followedByBytes === undefined ? together : 1;
      const texts = Array.from({ length: count }, () => order.requests[next++ % order.requests.length]!);
      await Promise.race([exchange(order, texts, socket), Bun.sleep(10_000)]);
      await Bun.sleep(Math.max(0, due + everyMs - performance.now()));
      // Time that was lost is not made up for.
      due = Math.max(due, performance.now() - everyMs);
    }
    socket.end();
  };
  await Promise.all(Array.from({ length: order.connections }, (_, place) => send(place)));
  console.log(JSON.stringify({ statuses, sentMb: Math.round(sentBytes / 1e6) } satisfies FloodAnswer));
}
