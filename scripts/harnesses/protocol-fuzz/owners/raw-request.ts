/** Sends bytes to a replica as they are, which `fetch` would normalise or refuse, and returns everything that comes back. */
import { connect } from "node:net";

export interface RawRequest {
  method: string;
  target: string;
  /** In this order; a name may come several times. */
  headers: [name: string, value: string][];
  body: Uint8Array;
  /** "trickled": in small pieces. "truncated": without its end, and then the connection is closed. */
  sent: "whole" | "trickled" | "truncated";
}

/** Time in which an answer must have ended. Streams that stay open are closed then. */
const patienceMs = 2_500;

const pieces = 12;
const pauseMs = 10;

export async function sendRaw(port: number, request: RawRequest): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1");
  const parts: Buffer[] = [];
  const end = () => {
    socket.destroy();
    resolve(Buffer.concat(parts).toString());
  };
  const late = setTimeout(end, patienceMs);
  socket
    .on("data", (bytes: Buffer) => void parts.push(bytes))
    .on("error", end)
    .on("close", end);
  const bytes = Buffer.concat([Buffer.from(headOf(request), "latin1"), request.body]);
  if (request.sent === "whole") socket.write(bytes);
  else await trickle(bytes, request.sent === "truncated", (piece) => socket.destroyed || socket.write(piece), end);
  return await promise.finally(() => clearTimeout(late));
}

async function trickle(
  bytes: Buffer,
  isTruncated: boolean,
  write: (piece: Buffer) => void,
  end: () => void,
): Promise<void> {
  const size = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < pieces - (isTruncated ? 1 : 0); at++) {
    write(bytes.subarray(at * size, (at + 1) * size));
    await Bun.sleep(pauseMs);
  }
  if (isTruncated) end();
}

function headOf({ method, target, headers }: RawRequest): string {
  return `${method} ${target} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
}
