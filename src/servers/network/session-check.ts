/** Finds out whether a server over HTTP still knows a session, by a ping beside the SDK. The SDK would not say what the answer is. */
import { ReadableStream } from "node:stream/web";
import { parsedJson } from "../../base/json-object.ts";
import { httpNoticeMs, maxErrorBytes, maxEventLines } from "../limits.ts";
import type { Endpoint } from "./endpoint.ts";
import { dataOf, smallEvents } from "./event-stream.ts";
import { errorText, isEventStream } from "./http-response.ts";
import { errorIn, mayMeanNoSession, oddEvent, type SaidError } from "./said-error.ts";

interface Session {
  sessionId?: string | undefined;
  protocolVersion?: string | undefined;
}

/** The status is 0 if there was no answer. */
interface Pong {
  status: number;
  error: SaidError | undefined;
}

export class SessionCheck {
  readonly #endpoint: Endpoint;
  readonly #session: () => Session | undefined;
  /** The first request with doubts asks for all. */
  #pong: Promise<Pong> | undefined;

  constructor(endpoint: Endpoint, session: () => Session | undefined) {
    this.#endpoint = endpoint;
    this.#session = session;
  }

  /** Whether the server refuses a ping too: with the same status, or with an error that may mean the session. False if there is no session. */
  async isLost(status: number): Promise<boolean> {
    const { sessionId, protocolVersion } = this.#session() ?? {};
    if (sessionId === undefined) return false;
    this.#pong ??= this.#ping(sessionId, protocolVersion).finally(() => {
      this.#pong = undefined;
    });
    const pong = await this.#pong;
    if (pong.status >= 400) return pong.status === status || pong.status === 404;
    return pong.error !== undefined && mayMeanNoSession(pong.error);
  }

  async #ping(session: string, version: string | undefined): Promise<Pong> {
    const { url, headers, access } = this.#endpoint;
    try {
      const response = await (access?.fetch ?? fetch)(url, {
        method: "POST",
        headers: {
          ...headers,
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-session-id": session,
          ...(version === undefined ? {} : { "mcp-protocol-version": version }),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: "claudikins-ping", method: "ping" }),
        signal: AbortSignal.timeout(httpNoticeMs),
      });
      const error = isEventStream(response)
        ? await firstError(response)
        : errorIn(parsedJson(await errorText(response)));
      return { status: response.status, error };
    } catch {
      return { status: 0, error: undefined };
    }
  }
}

/** The error of the first event that says something. The rest of the stream is not read. */
async function firstError({ body }: Response): Promise<SaidError | undefined> {
  const options = {
    ...{ largeBytes: maxErrorBytes, maxBytes: maxErrorBytes, maxLines: maxEventLines },
    take: async () => {},
    tooLarge: () => new Error("too long for an answer to a ping"),
  };
  for await (const bytes of smallEvents(body ?? ReadableStream.from([]), options)) {
    const event = Buffer.from(bytes);
    const odd = oddEvent(event, dataOf);
    if (odd && "error" in odd) return odd.error;
    if (dataOf(event).length > 0) return undefined;
  }
  return undefined;
}
