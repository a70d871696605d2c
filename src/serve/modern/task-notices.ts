/**
 * Notifications about tasks, for `subscriptions/listen` requests that name tasks (extension `io.modelcontextprotocol/tasks`). The SDK
 * answers such requests and does not know tasks: what it acknowledges is completed here.
 */
import { ReadableStream, type ReadableStreamDefaultController } from "node:stream/web";
import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { onAbort } from "../../servers/abort.ts";
import { keepAlive, messageEvent } from "../http/event-stream.ts";
import { listenedTo, metaIn } from "./envelope.ts";
import { type TaskState, type Tasks, takesTasks, tasksRequired } from "./tasks.ts";

/** Time between keep-alives of a stream: proxies and the HTTP server close a silent connection. */
const taskKeepAliveMs = 10_000;

const acknowledged = "notifications/subscriptions/acknowledged";

/** The SDK's acknowledgement, with the tasks that are listened to. Other messages are returned unchanged. */
function withTasks(message: JsonObject, taskIds: readonly string[]): JsonObject {
  const { method, params } = message;
  if (method !== acknowledged || !isObject(params)) return message;
  const notifications = { ...Object(params["notifications"]), taskIds };
  return { ...message, params: { ...params, notifications } };
}

/** The notification of one change. `subscription` is the id of the request that listens. */
function taskNotice(state: TaskState, subscription: unknown): { method: string; params: JsonObject } {
  const params = { ...state, _meta: { [SUBSCRIPTION_ID_META_KEY]: subscription } };
  return { method: "notifications/tasks", params };
}

/** Changes of tasks on stdin and stdout, where the SDK gives all subscriptions one connection. */
export class TaskListeners {
  readonly #tasks: Tasks;
  readonly #send: (message: JSONRPCMessage) => void;
  readonly #listening = new Map<RequestId, readonly string[]>();

  constructor(tasks: Tasks, send: (message: JSONRPCMessage) => void) {
    this.#tasks = tasks;
    this.#send = send;
    this.#tasks.onChange((task) => {
      for (const [id, taskIds] of this.#listening) {
        if (taskIds.includes(task.id)) this.#send({ jsonrpc: "2.0", ...taskNotice(task.state, id) });
      }
    });
  }

  /** Takes note of a message of the host. Returns false if it was answered here. */
  received(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return true;
    if (message.method === "notifications/cancelled") {
      this.#listening.delete(message.params?.["requestId"] as RequestId);
    }
    const { taskIds } = listenedTo(message) ?? {};
    if (!taskIds || !("id" in message)) return true;
    const refused = refusal(message);
    if (refused) this.#send(refused);
    else this.#listening.set(message.id, taskIds);
    return !refused;
  }

  /** Completes the acknowledgement of the SDK. */
  completed(message: JSONRPCMessage): JSONRPCMessage {
    const meta = "method" in message && message.method === acknowledged ? message.params?.["_meta"] : undefined;
    const taskIds = isObject(meta) ? this.#listening.get(meta[SUBSCRIPTION_ID_META_KEY] as RequestId) : undefined;
    return taskIds ? (withTasks(message as unknown as JsonObject, taskIds) as unknown as JSONRPCMessage) : message;
  }
}

/** The error for a request that names tasks without announcing the extension. */
export function refusal(request: unknown): JSONRPCErrorResponse | undefined {
  const { id } = Object(request) as { id: RequestId };
  if (takesTasks(Object(metaIn(request)[CLIENT_CAPABILITIES_META_KEY]))) return undefined;
  const { code, message, data } = tasksRequired();
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}

interface Listening {
  /** The id of the request. */
  id: unknown;
  tasks: Tasks;
  taskIds: readonly string[];
  /** Aborted when the host closes the stream. */
  signal: AbortSignal;
  /** Aborted when claudikins ends. */
  closing: AbortSignal;
}

/** The SDK's stream of events for a request that names tasks, with the changes of these tasks. */
export function streamWithTasks(response: Response, listening: Listening): Response {
  const { id, tasks, taskIds, signal, closing } = listening;
  const encoder = new TextEncoder();
  const start = (stream: ReadableStreamDefaultController<Uint8Array>) => {
    let hasEnded = false;
    const enqueue = (event: Uint8Array) => {
      if (!hasEnded) stream.enqueue(event);
    };
    const send = (message: object) => enqueue(encoder.encode(messageEvent(JSON.stringify(message))));
    const alive = setInterval(() => enqueue(encoder.encode(keepAlive)), taskKeepAliveMs).unref();
    const stop = tasks.onChange((task) => {
      if (taskIds.includes(task.id)) send({ jsonrpc: "2.0", ...taskNotice(task.state, id) });
    });
    const end = (last?: Uint8Array) => {
      if (hasEnded) return;
      clearInterval(alive);
      stop();
      if (last) enqueue(last);
      hasEnded = true;
      try {
        stream.close();
      } catch {
        // The host has closed it.
      }
    };
    onAbort(signal, () => end());
    const passing = passEvents(response, enqueue, (message) => send(withTasks(message, taskIds)));
    onAbort(closing, () => void passing.then(end));
  };
  return new Response(new ReadableStream({ start }), { status: response.status, headers: response.headers });
}

/** Passes the SDK's events. Returns the result, its last event: the SDK ends a stream at once if it has nothing more to say there. */
async function passEvents(
  { body }: Response,
  pass: (event: Uint8Array) => void,
  send: (message: JsonObject) => void,
): Promise<Uint8Array | undefined> {
  const decoder = new TextDecoder();
  let last: Uint8Array | undefined;
  try {
    // The SDK writes each event as one chunk.
    for await (const event of body ?? []) {
      const message = messageIn(decoder.decode(event));
      if (message && "result" in message) last = event;
      else if (message) send(message);
      else pass(event);
    }
  } catch {
    // The host has closed the stream.
  }
  return last;
}

function messageIn(event: string): JsonObject | undefined {
  const data = /^data: (.*)$/m.exec(event)?.[1];
  return data === undefined ? undefined : (JSON.parse(data) as JsonObject);
}
