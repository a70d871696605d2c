/**
 * Answers for requests that are ended by force: a stream that only ends would keep its client waiting for the whole time that it waits for any
 * answer.
 */
import { ReadableStream } from "node:stream/web";
import { type JSONRPCErrorResponse, ProtocolErrorCode, type RequestId } from "@modelcontextprotocol/server";
import { messageEvent } from "./event-stream.ts";

/** Why a request has no other answer. */
export type ForcedEnd = JSONRPCErrorResponse["error"];

const failed = (message: string): ForcedEnd => ({ code: ProtocolErrorCode.InternalError, message });

const mayHaveEffect = "Calls that it made may have taken effect: look before you repeat it";

/** The token of the request, or its person, may no longer call. */
export const accessEnded = failed(
  "The token is no longer valid, so this request was ended. Sign in again or use another token",
);

export const sessionEnded = failed(`The session has ended, and this request with it. ${mayHaveEffect}`);

export const serverEnded = failed(`claudikins ended while it worked on this request. ${mayHaveEffect}`);

export const replicaEnded = failed(
  `The replica that ran this request has ended, and the answer is lost. ${mayHaveEffect}`,
);

export function forcedAnswer(id: RequestId, error: ForcedEnd): JSONRPCErrorResponse {
  return { jsonrpc: "2.0", id, error };
}

/** Characters at the beginning of a chunk in which the id of its first event is. */
const maxIdAt = 64;

interface EndedStream {
  /** The requests that the stream answers. Called once, at a forced end. */
  ids: () => RequestId[];
  /** Called when the stream ends or breaks. Undefined if the end is the usual one. */
  why: (isBroken: boolean) => ForcedEnd | undefined;
  /** Called with each chunk. */
  onChunk?: () => void;
  /** Called at the end, whoever ends the stream. */
  onEnd?: () => void;
  /** Ends the stream when it is aborted, as if it had broken. */
  ending?: AbortSignal | undefined;
}

/**
 * The same stream of events. If it ends by force and its client cannot resume it, errors answer its requests. A stream that breaks off with
 * event ids breaks off for the client too, which then asks for the rest.
 */
export function withForcedEnd(
  body: ReadableStream<Uint8Array>,
  { ids, why, onChunk, onEnd, ending }: EndedStream,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  ending?.addEventListener("abort", stop, { once: true });
  let last: Uint8Array = new Uint8Array();
  let isResumable = false;
  const end = () => {
    ending?.removeEventListener("abort", stop);
    onEnd?.();
  };
  const finish = (controller: ReadableStreamDefaultController<Uint8Array>, isBroken: boolean) => {
    const error = why(isBroken);
    const unanswered = error && !isResumable && !hasAnswer(last) ? ids() : [];
    for (const id of unanswered) {
      controller.enqueue(Buffer.from(messageEvent(JSON.stringify(forcedAnswer(id, error!)))));
    }
    // Bun would print a reason on stderr.
    if (isBroken && unanswered.length === 0 && !ending?.aborted) controller.error();
    else controller.close();
    end();
  };
  return new ReadableStream({
    async pull(controller) {
      let read: Awaited<ReturnType<typeof reader.read>>;
      try {
        read = await reader.read();
      } catch {
        return finish(controller, true);
      }
      const { done, value } = read;
      if (done) return finish(controller, ending?.aborted === true && !isResumable);
      onChunk?.();
      last = value;
      isResumable ||= /^id: ./m.test(Buffer.from(value.subarray(0, maxIdAt)).toString("latin1"));
      controller.enqueue(value);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}

/** Whether the last event of a stream is an answer. A client ignores a second answer, so that a wrong no does no harm. */
function hasAnswer(last: Uint8Array): boolean {
  const text = Buffer.from(last).toString("latin1");
  return /"(?:result|error)":/.test(text) && !text.includes('"method":"');
}
