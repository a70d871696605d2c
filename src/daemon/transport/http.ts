/**
 * Reads and writes HTTP/1.1 for both ends of the daemon's socket: one request on each connection, and bodies with a content-length. Loading
 * node:http would take 16 ms in Node, which itself starts in 26 ms, and 4 ms in Bun. Nothing here may need Bun.
 */
import { ClaudikinsError } from "../../base/errors.ts";

/** Bytes of the head of a request or answer. */
const maxHeadBytes = 16_384;

export interface HttpMessage {
  /** `POST /call HTTP/1.1`, or `HTTP/1.1 200 OK`. */
  firstLine: string;
  /** By name in lower case. */
  headers: ReadonlyMap<string, string>;
  body: string;
  /** The bytes after the body. */
  rest: Buffer;
}

const endOfHead = "\r\n\r\n";

/** The message, with the length of its body. */
export function httpText(firstLine: string, headers: Readonly<Record<string, string>>, body: string): string {
  const all = { ...headers, "content-length": Buffer.byteLength(body) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `${[firstLine, ...lines].join("\r\n")}${endOfHead}${body}`;
}

/** Reads one message from the chunks of a connection. */
export class HttpReader {
  readonly #maxBodyBytes: number;
  #chunks: Buffer[] = [];
  #size = 0;
  #head: Pick<HttpMessage, "firstLine" | "headers"> | undefined;
  #bodyBytes = 0;

  constructor(maxBodyBytes = Number.POSITIVE_INFINITY) {
    this.#maxBodyBytes = maxBodyBytes;
  }

  /** The message, once it is complete. Throws USAGE if it cannot be read. The bytes of the chunk must not change. */
  add(chunk: Buffer): HttpMessage | undefined {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    this.#head ??= this.#headIn(Buffer.concat(this.#chunks));
    if (!this.#head || this.#size < this.#bodyBytes) return undefined;
    const bytes = Buffer.concat(this.#chunks);
    const body = bytes.toString("utf8", 0, this.#bodyBytes);
    return { ...this.#head, body, rest: bytes.subarray(this.#bodyBytes) };
  }

  /** Keeps the bytes after the head. Undefined if its end is missing. */
  #headIn(bytes: Buffer): Pick<HttpMessage, "firstLine" | "headers"> | undefined {
    const end = bytes.indexOf(endOfHead);
    if (end === -1 && bytes.length <= maxHeadBytes) return undefined;
    if (end === -1) throw invalid("has too long a head");
    const [firstLine = "", ...fields] = bytes.toString("latin1", 0, end).split("\r\n");
    const headers = new Map(fields.map(nameAndValue));
    const length = headers.get("content-length") ?? "0";
    if (!/HTTP\/1\.1/.test(firstLine) || !/^\d+$/.test(length)) throw invalid("is not HTTP/1.1");
    if (headers.has("transfer-encoding")) throw invalid("has no content-length");
    this.#bodyBytes = Number(length);
    if (this.#bodyBytes > this.#maxBodyBytes) throw invalid("is too large");
    const rest = bytes.subarray(end + endOfHead.length);
    this.#chunks = [rest];
    this.#size = rest.length;
    return { firstLine, headers };
  }
}

function nameAndValue(field: string): [string, string] {
  const colon = field.indexOf(":");
  return [field.slice(0, colon).trim().toLowerCase(), field.slice(colon + 1).trim()];
}

function invalid(what: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", `The message ${what}`);
}
