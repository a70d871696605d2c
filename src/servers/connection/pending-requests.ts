/**
 * The requests of a connection in the older era. Their answers do not go through the SDK, which checks each message against several schemas and
 * keeps a timer and a listener for each request: a call takes 30 µs less. Cancellation is as in the SDK.
 */
import { type JSONRPCMessage, ProtocolError, SdkError, SdkErrorCode } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../base/json-object.ts";
import type { Cancellation } from "../abort.ts";
import type { Watcher } from "./watched-transport.ts";

interface Pending {
  resolve: (result: JsonObject) => void;
  reject: (error: unknown) => void;
}

export class PendingRequests implements Watcher {
  readonly #send: (message: JSONRPCMessage) => Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #lastId = -1;

  constructor(send: (message: JSONRPCMessage) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves with the result. Rejects with ProtocolError if the answer is an error, and with SdkError if there is none. */
  send(method: string, params: JsonObject, cancellation: Cancellation): Promise<JsonObject> {
    if (cancellation.isCancelled) return Promise.reject(cancelled(cancellation.reason));
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#pending.set(id, { resolve, reject });
    cancellation.onCancel = (reason) => this.#cancel(id, reason);
    this.#send({ jsonrpc: "2.0", id, method, params }).catch((error: unknown) => {
      this.#pending.delete(id);
      reject(error);
    });
    return promise;
  }

  /** The SDK opens the connection. Ids continue after its own, and it must send no request later. */
  sent(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message && typeof message.id === "number" && message.id > this.#lastId)
      this.#lastId = message.id;
  }

  /** The SDK gets only the answers to its own requests. */
  received(message: JSONRPCMessage): boolean {
    if ("method" in message) return true;
    // Some servers answer with a string instead of the number.
    const id = Number(message.id);
    const pending = this.#pending.get(id);
    if (!pending) return true;
    this.#pending.delete(id);
    if ("error" in message) {
      const { code, message: words, data } = message.error;
      pending.reject(new ProtocolError(code, words, data));
    } else pending.resolve(withoutType(message.result));
    return false;
  }

  closed(): void {
    const error = new SdkError(SdkErrorCode.ConnectionClosed, "Connection closed");
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #cancel(requestId: number, reason: unknown): void {
    const pending = this.#pending.get(requestId);
    if (!pending) return;
    this.#pending.delete(requestId);
    const params = { requestId, reason: String(reason) };
    this.#send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(() => {});
    pending.reject(cancelled(reason));
  }
}

function cancelled(reason: unknown): unknown {
  return reason instanceof SdkError ? reason : new SdkError(SdkErrorCode.RequestTimeout, String(reason));
}

/** The older era has no types of results. */
function withoutType(result: JsonObject): JsonObject {
  if (!("resultType" in result)) return result;
  const { resultType: _, ...own } = result;
  return own;
}
