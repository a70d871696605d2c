/** Answers a slow request with a stream of events, which is kept alive so that no proxy or client gives up. */
import { ReadableStream } from "node:stream/web";
import { atMost } from "../../base/time-limit.ts";
import { eventStreamHeaders, keepAlive, messageEvent } from "./event-stream.ts";

interface Times {
  /** The time that a result may take before a stream is opened. Until then, an error can still set the status. */
  quickMs: number;
  /** The time between two signs of life. It must be shorter than the idle times of the HTTP server and of proxies. */
  aliveMs: number;
}

const usualTimes: Times = { quickMs: 1_000, aliveMs: 10_000 };

/** Resolves with the response if it comes soon, and otherwise with a stream that ends with what it says. */
export async function patientResponse(
  answering: Promise<Response>,
  { quickMs, aliveMs } = usualTimes,
): Promise<Response> {
  const response = await within(quickMs, answering);
  return response ?? new Response(ReadableStream.from(events(answering, aliveMs)), { headers: eventStreamHeaders });
}

async function* events(answering: Promise<Response>, aliveMs: number): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (;;) {
    yield encoder.encode(keepAlive);
    const response = await within(aliveMs, answering);
    if (!response) continue;
    const isStream = response.headers.get("content-type") === eventStreamHeaders["content-type"];
    if (!isStream) yield encoder.encode(messageEvent(await response.text()));
    else if (response.body) yield* response.body;
    return;
  }
}

/** Undefined if the response does not come in this time. */
async function within(ms: number, answering: Promise<Response>): Promise<Response | undefined> {
  let response: Response | undefined;
  const done = answering.then((each) => {
    response = each;
  });
  await atMost(ms, done);
  return response;
}
