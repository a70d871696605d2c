/**
 * The answer to a process of an earlier build of claudikins, which asks for a WebSocket to share a server: a WebSocket with one message,
 * which refuses. The process then starts the server itself. Without an answer that it understands, it would start daemons for half a
 * minute.
 */
import { createHash } from "node:crypto";

const refusal = JSON.stringify({ refused: { error: "The daemon is of a newer claudikins", code: "UNLIKE" } });

/** Appended to the caller's key, as RFC 6455 says. */
const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Bytes before the text of a frame with at most 125 bytes, and a frame that closes the WebSocket. */
const textFrame = [0x81, refusal.length];
const closeFrame = [0x88, 0];

export function webSocketRefusal(key = ""): Buffer {
  const accepted = createHash("sha1").update(`${key}${guid}`).digest("base64");
  const head = ["HTTP/1.1 101 Switching Protocols", "connection: Upgrade", "upgrade: websocket"];
  return Buffer.concat([
    Buffer.from(`${head.join("\r\n")}\r\nsec-websocket-accept: ${accepted}\r\n\r\n`),
    Buffer.from(textFrame),
    Buffer.from(refusal),
    Buffer.from(closeFrame),
  ]);
}
