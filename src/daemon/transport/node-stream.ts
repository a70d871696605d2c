/** A connection to a daemon that does not need Bun, for the programs of generated files. */
import { connect } from "node:net";
import type { Stream } from "./exchange.ts";

/** Connects to a socket or pipe. Rejects with the error of the system. */
export async function connectInNode(address: string): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(address, resolve);
  const closing = new AbortController();
  const stream: Stream = {
    onData: () => {},
    closed: closing.signal,
    write: (data) => void socket.write(data),
    destroy: () => void socket.destroy(),
  };
  socket.on("error", reject);
  socket.on("data", (chunk: Buffer) => stream.onData(chunk));
  socket.on("close", () => closing.abort());
  await promise;
  return stream;
}
