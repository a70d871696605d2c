/**
 * A thread that pings the daemon over its socket, as the callers do who share its servers. The main thread of the fuzzer reads large pages,
 * and would notice the answers late. A message is the path of the socket; the answer is the number of milliseconds, and whether
 * the daemon has answered: it may have ended. Requests to the page take turns, so that many of them do not block the daemon, and are not used as pings.
 */
import { connect } from "node:net";
import { timed } from "./waits.ts";

declare const self: Worker;

export interface DaemonPing {
  ms: number;
  isAnswered: boolean;
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  let answer = "";
  const ms = await timed(async () => {
    answer = await status(data);
  });
  self.postMessage({ ms, isAnswered: answer.startsWith("HTTP/1.1 200") } satisfies DaemonPing);
};

/** By a socket of this thread. `fetch` would use another thread, which may have to wait for a core as well. */
function status(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let answer = "";
    socket.on("error", () => resolve("")).on("close", () => resolve(answer));
    socket.on("data", (bytes) => {
      answer += bytes;
    });
    socket.write("GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  });
}
