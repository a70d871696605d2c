/** Follows the state of the daemon: by events while the page is visible, and by a request now and then while it is hidden. */
import type { PageState } from "../contract.ts";
import { get, RequestFailure } from "./client.ts";

/** How often a page that is hidden asks for the state. */
const hiddenLookMs = 30_000;

/** Delay before a page connects again. */
const reconnectMs = 1_000;

/** Requests in a row without an answer, after which the daemon counts as ended. */
const maxUnansweredRequests = 4;

export interface StateListener {
  onState(state: PageState): void;
  /** Called when there is no session, or when the daemon has ended. The page then stops following the state. */
  onEnd(why: "no session" | "ended"): void;
}

export function follow({ onState, onEnd }: StateListener): () => void {
  let stream: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isOver = false;

  const stop = () => {
    isOver = true;
    stream?.close();
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", start);
  };
  const end = (why: "no session" | "ended") => {
    if (isOver) return;
    stop();
    onEnd(why);
  };
  const later = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(start, ms);
  };

  /** A failed request has more information than a failed stream. */
  const request = async () => {
    try {
      const state = await get<PageState>("state");
      failures = 0;
      if (!isOver) onState(state);
      return true;
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 401) end("no session");
      else if (++failures >= maxUnansweredRequests) end("ended");
      return false;
    }
  };

  const listen = () => {
    stream = new EventSource("api/events");
    stream.onmessage = ({ data }) => {
      failures = 0;
      onState(JSON.parse(data) as PageState);
    };
    stream.addEventListener("end", () => end("ended"));
    stream.onerror = () => {
      stream?.close();
      void request().then(() => {
        if (!isOver) later(reconnectMs);
      });
    };
  };

  /** Browsers allow few connections to a host, so hidden pages keep none. */
  const start = () => {
    stream?.close();
    clearTimeout(timer);
    if (isOver) return;
    if (document.visibilityState === "visible") listen();
    else void request().then(() => !isOver && later(hiddenLookMs));
  };

  document.addEventListener("visibilitychange", start);
  start();
  return stop;
}
