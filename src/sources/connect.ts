/** Speaks MCP for a source: a transport in memory, whose other end is the source itself. */
import {
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/client";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { programKey, type Source } from "./source.ts";

/** Tools in one answer. Each answer is checked on the main thread, which takes some milliseconds for a thousand tools. */
const toolsOnPage = 1_000;

/** The revision that is announced if the client names none. */
const newestSession = "2025-11-25";

export class SourceTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #open: (signal: AbortSignal) => Promise<Source>;
  readonly #closing = new AbortController();
  readonly #running = new Map<RequestId, AbortController>();
  #source: Source | undefined;

  /** `open` is called once, by `start`. Its signal is aborted when the transport is closed. */
  constructor(open: (signal: AbortSignal) => Promise<Source>) {
    this.#open = open;
  }

  /** Rejects with the error of `open`. */
  async start(): Promise<void> {
    const source = await this.#open(this.#closing.signal);
    if (this.#closing.signal.aborted) await source.close();
    else this.#source = source;
  }

  /** Resolves when a request is answered. Rejects with the error of the source, or with ProtocolError. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (!("method" in message)) return;
    if (!("id" in message)) {
      if (message.method === "notifications/cancelled")
        this.#running.get(message.params?.["requestId"] as RequestId)?.abort();
      return;
    }
    const cancelled = new AbortController();
    this.#running.set(message.id, cancelled);
    try {
      const result = await this.#answer(message, cancelled.signal);
      if (!cancelled.signal.aborted) this.onmessage?.({ jsonrpc: "2.0", id: message.id, result });
    } finally {
      this.#running.delete(message.id);
    }
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    for (const each of this.#running.values()) each.abort();
    await this.#source?.close();
    this.onclose?.();
  }

  async #answer({ method, params = {} }: JSONRPCRequest, signal: AbortSignal): Promise<JsonObject> {
    const source = this.#source;
    if (!source) throw new Error("the source is not open");
    switch (method) {
      case "initialize":
        return {
          protocolVersion: params["protocolVersion"] ?? newestSession,
          capabilities: { tools: {} },
          serverInfo: source.info,
          ...(source.instructions === undefined ? {} : { instructions: source.instructions }),
        };
      case "ping":
        return {};
      case "tools/list": {
        const start = Number(params["cursor"] ?? 0);
        const end = start + toolsOnPage;
        const { tools } = source;
        return { tools: tools.slice(start, end), ...(end < tools.length ? { nextCursor: String(end) } : {}) };
      }
      case "tools/call": {
        const { name, arguments: args, _meta: meta } = params;
        const program = meta?.[programKey];
        const made = { signal, ...(typeof program === "string" ? { program } : {}) };
        return { ...(await source.call(String(name), isObject(args) ? args : {}, made)) };
      }
      default:
        throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `a web API has no ${method}`);
    }
  }
}
