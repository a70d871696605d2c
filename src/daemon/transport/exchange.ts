/** Sends one request to a daemon over a connection, and reads its answer. Generated files use this too, so nothing here may need Bun. */
import { parseExact } from "../../base/exact-json.ts";
import { onAbort } from "../../servers/abort.ts";
import { type HttpMessage, HttpReader, httpText } from "./http.ts";

/** A connection to a daemon. */
export interface Stream {
  /** Called with the bytes that arrive. The bytes of a chunk do not change later. */
  onData: (chunk: Buffer) => void;
  /** Aborted when the connection has ended, for any reason. */
  readonly closed: AbortSignal;
  write(data: string): void;
  destroy(): void;
}

export interface DaemonRequestOptions {
  body?: string;
  /** A daemon with an older version than this ends. */
  version?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Waits for the daemon's answer without a time limit, and returns its JSON. Closes the connection afterwards, because the daemon could
 * close a kept connection at the moment in which it is used again. Rejects with the reason of the signal.
 */
export async function request(stream: Stream, route: string, options: DaemonRequestOptions): Promise<unknown> {
  const { version, body = "", signal } = options;
  const headers = { connection: "close", ...(version === undefined ? {} : { "claudikins-version": version }) };
  const answer = await exchange(stream, route, headers, body, signal);
  stream.destroy();
  return parseExact(answer.body);
}

/** The answer to one request. If there is none, the connection is closed. */
export async function exchange(
  stream: Stream,
  route: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  signal: AbortSignal | undefined,
): Promise<HttpMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpMessage>();
  const reader = new HttpReader();
  stream.onData = (chunk) => {
    try {
      const answer = reader.add(chunk);
      if (answer) resolve(answer);
    } catch (error) {
      reject(error);
    }
  };
  const forget = onAbort(signal, () => reject(signal?.reason));
  onAbort(stream.closed, () => reject(new Error("the connection ended before the answer did")));
  stream.write(httpText(`${route} HTTP/1.1`, { host: "localhost", ...headers }, body));
  try {
    return await promise;
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    forget();
  }
}
