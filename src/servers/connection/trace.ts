/** Records the messages of servers without affecting calls. */
import type { JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import { masked, type Redact } from "../values/secrets.ts";
import { WatchedTransport } from "./watched-transport.ts";

export interface TraceEntry {
  /** Milliseconds since the trace began. */
  at: number;
  server: string;
  direction: "sent" | "received";
  kind: "request" | "notification" | "result" | "error";
  /** For an answer, the method of the request. */
  method: string;
  id?: RequestId | undefined;
  /** Milliseconds from the request to the answer. */
  ms?: number | undefined;
  /** Characters of the message as JSON. */
  bytes: number;
  /** Without secrets. */
  message: Record<string, unknown>;
}

type TraceListener = (entry: TraceEntry) => void;

/** A request: its method, time, sender and id. */
type PendingRequests = Map<string, { method: string; at: number }>;

export class MessageTrace {
  readonly #target: TraceListener;
  readonly #startedAt = performance.now();
  readonly #unshown: (() => TraceEntry)[] = [];
  #isWaiting = false;

  /** `target` gets each message a moment later, in order. */
  constructor(target: TraceListener) {
    this.#target = target;
  }

  /** The same transport, traced. Call this before it is started. */
  over(transport: Transport, server: string, redact: Redact): Transport {
    const asked: PendingRequests = new Map();
    return new WatchedTransport(transport, {
      sent: (message) => this.#saw("sent", message, server, redact, asked),
      received: (message) => this.#saw("received", message, server, redact, asked),
    });
  }

  /** Passes on all messages until now. */
  flush(): void {
    this.#isWaiting = false;
    for (const entry of this.#unshown.splice(0)) this.#target(entry());
  }

  #saw(direction: Direction, message: JSONRPCMessage, server: string, redact: Redact, asked: PendingRequests): void {
    const at = performance.now() - this.#startedAt;
    const about = aboutMessage(direction, message, at, asked);
    // Slow work is done after the message was delivered.
    this.#unshown.push(() => ({ at, server, direction, ...about, ...shown(message, redact) }));
    if (!this.#isWaiting) setImmediate(() => this.flush());
    this.#isWaiting = true;
  }
}

function shown(message: JSONRPCMessage, redact: Redact): Pick<TraceEntry, "bytes" | "message"> {
  try {
    const withoutSecrets = masked({ ...message }, redact);
    return { bytes: Buffer.byteLength(JSON.stringify(message)), message: withoutSecrets };
  } catch {
    // The message is nested too deeply for this function, but perhaps not for the call.
    return { bytes: 0, message: { problem: "nested too deeply to show" } };
  }
}

type Direction = TraceEntry["direction"];

function aboutMessage(direction: Direction, message: JSONRPCMessage, at: number, asked: PendingRequests) {
  const id = "id" in message ? message.id : undefined;
  if ("method" in message) {
    const { method } = message;
    if (id === undefined) return { kind: "notification" as const, method };
    asked.set(keyOf(direction, id), { method, at });
    return { kind: "request" as const, method, id };
  }
  const key = keyOf(direction === "sent" ? "received" : "sent", id);
  const request = asked.get(key);
  asked.delete(key);
  const kind = "error" in message ? ("error" as const) : ("result" as const);
  return { kind, method: request?.method ?? "an unknown request", id, ms: request && at - request.at };
}

const keyOf = (asker: Direction, id: RequestId | undefined) => `${asker} ${JSON.stringify(id)}`;
