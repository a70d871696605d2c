/** MCP over a WebSocket. The SDK's transport cannot send headers, and does not say why a connection failed. */
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { systemCodeOf } from "../../base/errors.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import { httpForm } from "../../config/address.ts";
import { InOrder, receive } from "../decoding/receive.ts";
import { broken, NetworkFailure, noAnswer, refusal, tooLarge } from "../failures/network-failure.ts";
import type { Endpoint } from "./endpoint.ts";
import { retryAfterOf } from "./http-response.ts";

/** One message over a WebSocket. The limit is Bun's own, which accepts no other value. */
const maxSocketMessageBytes = 128 * megabyte;

/** Messages of a WebSocket that wait to be handled. A single one may have half of it. */
const maxWaitingSocketBytes = 2 * maxSocketMessageBytes;

/** Time to close the socket. */
const socketGoodbyeMs = 1_000;

/** Time to find out why a socket could not be opened. */
const socketInquiryMs = 3_000;

export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the connection was lost. */
  failure: NetworkFailure | undefined;
  readonly #endpoint: Endpoint;
  #closed = Promise.withResolvers<void>();
  #socket: WebSocket | undefined;
  #isClosing = false;
  readonly #received = new InOrder<JSONRPCMessage | undefined>((message) => {
    if (message) this.onmessage?.(message);
    else this.onerror?.(new Error("not a JSON-RPC message"));
  });

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  async start(): Promise<void> {
    const first = await this.#access();
    if (await this.#open(first)) return;
    if (this.#isClosing) throw broken("its connection was closed");
    const failure = await this.#inquire();
    // The plain request may have brought new ones.
    const second = await this.#access();
    if (!Bun.deepEquals(second, first) && (await this.#open(second))) return;
    this.failure = failure;
    throw failure;
  }

  #access(): Promise<Record<string, string>> {
    return this.#endpoint.access?.headers() ?? Promise.resolve({});
  }

  /** Resolves with whether the socket could be opened. */
  async #open(access: Record<string, string>): Promise<boolean> {
    const { url, headers } = this.#endpoint;
    // Without compression, because a message would be inflated before its size is known.
    const options = { headers: { ...headers, ...access }, protocols: ["mcp"], perMessageDeflate: false };
    const socket = new WebSocket(url, options);
    const closed = Promise.withResolvers<void>();
    this.#socket = socket;
    this.#closed = closed;
    let isOpen = false;
    const opened = Promise.withResolvers<boolean>();
    socket.onopen = () => {
      isOpen = true;
      opened.resolve(true);
    };
    socket.onmessage = ({ data }: { data: unknown }) => this.#receive(data);
    socket.onerror = (event) => {
      const isTooLarge = systemCodeOf((event as ErrorEvent).error) === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";
      if (isTooLarge) this.failure ??= tooLarge(megabytes(maxSocketMessageBytes), { isGone: true });
    };
    socket.onclose = ({ code }) => {
      opened.resolve(false);
      closed.resolve();
      // If it was never open, `start` reports why.
      if (!isOpen) return;
      if (!this.#isClosing) this.failure ??= broken(`its connection was closed (${code})`);
      this.onclose?.();
    };
    return opened.promise;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#socket?.readyState !== WebSocket.OPEN) throw this.failure ?? broken("its connection is closed");
    this.#socket.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    if (!this.#socket || this.#socket.readyState === WebSocket.CLOSED) return;
    this.#isClosing = true;
    if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.terminate();
    else this.#socket.close();
    const timer = setTimeout(() => this.#socket?.terminate(), socketGoodbyeMs);
    await this.#closed.promise;
    clearTimeout(timer);
  }

  #receive(data: unknown): void {
    const bytes = Buffer.from(data as string | Buffer);
    this.#received.add(() => receive(bytes), bytes.length);
    if (this.#received.waitingSize <= maxWaitingSocketBytes) return;
    // The socket cannot be paused.
    this.failure ??= broken(`it sent more than ${megabytes(maxWaitingSocketBytes)} of messages at once`);
    this.#socket?.terminate();
  }

  /** A refused WebSocket does not say why. A plain request to the same URL does. */
  async #inquire(): Promise<NetworkFailure> {
    const { url, headers, hasToken } = this.#endpoint;
    try {
      const ask = this.#endpoint.access?.fetch ?? fetch;
      const response = await ask(httpForm(url), {
        headers,
        redirect: "manual",
        signal: AbortSignal.timeout(socketInquiryMs),
      });
      const { status } = response;
      await response.body?.cancel();
      if ([401, 403, 404, 429].includes(status) || status >= 500) {
        return refusal(status, { hasToken, retryAfterMs: retryAfterOf(response) });
      }
    } catch (error) {
      return error instanceof NetworkFailure ? error : noAnswer(error, url);
    }
    return new NetworkFailure("it accepts no WebSocket at this address", {
      hint: 'Correct "url" in the config; for a server that speaks HTTP, use https://.',
    });
  }
}
