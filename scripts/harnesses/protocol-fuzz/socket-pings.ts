/**
 * A thread that pings a process of claudikins over a socket, as other callers do. The main thread of the fuzzer reads large answers, and would
 * notice the answers late. A message says what to send and where; the answer is the number of milliseconds, and whether the process has
 * answered with status 200: it may have ended.
 */
import { connect, type NetConnectOpts } from "node:net";
import { timed } from "./waits.ts";

declare const self: Worker;

export interface SocketPing {
  to: NetConnectOpts;
  /** A whole HTTP request, after whose answer the connection is closed. */
  request: string;
}

export interface SocketPingAnswer {
  ms: number;
  isAnswered: boolean;
  /** The beginning of the answer. */
  head: string;
}

const headChars = 300;

self.onmessage = async ({ data }: MessageEvent<SocketPing>) => {
  let answer = "";
  const ms = await timed(async () => {
    answer = await answerTo(data);
  });
  const isAnswered = answer.startsWith("HTTP/1.1 200");
  self.postMessage({ ms, isAnswered, head: answer.slice(0, headChars) } satisfies SocketPingAnswer);
};

/** By a socket of this thread. `fetch` would use another thread, which may have to wait for a core as well. */
function answerTo({ to, request }: SocketPing): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(to);
    let answer = "";
    socket.on("error", () => resolve("")).on("close", () => resolve(answer));
    socket.on("data", (bytes) => {
      answer += bytes;
    });
    socket.write(request);
  });
}
