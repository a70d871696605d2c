/**
 * The daemon's transport on Windows. Node uses the same functions for named pipes and Unix sockets, so it runs over a socket
 * here; test/e2e/windows.test.ts runs it over a pipe.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { createConnection } from "node:net";
import { join } from "node:path";
import { isNobody } from "../../src/daemon/place.ts";
import { type Listener, type ListenOptions, maxBytes } from "../../src/daemon/transport/contract.ts";
import { JsonLines } from "../../src/daemon/transport/json-lines.ts";
import { PipeSocket, requestOverPipe } from "../../src/daemon/transport/pipe-client.ts";
import { listenOnPipe } from "../../src/daemon/transport/pipe-listener.ts";
import { eventually } from "../support/eventually.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
let name: string;
let listener: Listener;
const events: string[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  name = join(folder.path, "pipe");
  events.length = 0;
});
afterEach(async () => {
  await listener.stop();
  folder[Symbol.dispose]();
});

/** Answers each request with what it is, `/wait` never, and accepts connections for messages at `/messages`. */
const options: ListenOptions<string> = {
  async answer(request, upgrade) {
    const { pathname } = new URL(request.url);
    if (pathname === "/wait") {
      request.signal.addEventListener("abort", () => events.push("aborted"));
      return new Promise(() => {});
    }
    if (pathname === "/messages" && upgrade("state")) return undefined;
    const { method, headers } = request;
    return Response.json(
      { method, pathname, mark: headers.get("x-mark"), body: await request.text() },
      { status: 418 },
    );
  },
  handler: {
    open: (peer) => events.push(`open ${peer.data}`),
    message(peer, text) {
      if (text === '"close"') peer.close();
      else peer.send(String(text));
    },
    close: (peer) => events.push(`close ${peer.data}`),
  },
};

const opened = (socket: PipeSocket) =>
  new Promise<void>((resolve) => {
    socket.onopen = resolve;
  });
const closed = (socket: PipeSocket) =>
  new Promise<void>((resolve) => {
    socket.onclose = resolve;
  });

test("a request arrives whole, and so does its answer", async () => {
  listener = listenOnPipe(name, options);
  const body = "ö".repeat(500_000);
  const answer = await requestOverPipe(name, "/call", { method: "POST", headers: { "x-mark": "7" }, body });
  expect(answer.status).toBe(418);
  expect(await answer.json()).toEqual({ method: "POST", pathname: "/call", mark: "7", body });
  await eventually(() => listener.pendingRequests === 0);
});

test("a connection ends with its answer, as callers with HTTP of their own expect", async () => {
  listener = listenOnPipe(name, options);
  const caller = createConnection(name);
  const chunks: Buffer[] = [];
  caller.on("data", (chunk: Buffer) => chunks.push(chunk));
  const gone = new Promise((resolve) => caller.on("close", resolve));
  caller.write("POST /call HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc");
  await gone;
  expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 418 [\s\S]*"body":"abc"\}$/);
});

test("a request fails as with nobody there if nobody listens", async () => {
  listener = listenOnPipe(name, options);
  const error = await requestOverPipe(`${name}-none`, "/status", {}).catch((reason) => reason);
  expect(isNobody(error)).toBeTrue();
});

test("an aborted request rejects with the reason, and the daemon is told", async () => {
  listener = listenOnPipe(name, options);
  const abort = new AbortController();
  const answer = requestOverPipe(name, "/wait", { signal: abort.signal });
  await eventually(() => listener.pendingRequests === 1);
  abort.abort(new Error("enough"));
  expect(await answer.catch((reason) => reason.message)).toBe("enough");
  await eventually(() => listener.pendingRequests === 0);
  expect(events).toEqual(["aborted"]);
});

test("a request fails when the daemon ends before it has answered", async () => {
  listener = listenOnPipe(name, options);
  const answer = requestOverPipe(name, "/wait", {}).catch((reason) => reason);
  await eventually(() => listener.pendingRequests === 1);
  await listener.stop();
  const error = await answer;
  expect(error).toBeInstanceOf(Error);
  expect(isNobody(error)).toBeFalse();
});

test("messages of any size go in both directions, in order", async () => {
  listener = listenOnPipe(name, options);
  const socket = new PipeSocket(name, "/messages");
  expect(socket.readyState).toBe(WebSocket.CONNECTING);
  const received: string[] = [];
  socket.onmessage = ({ data }) => received.push(String(data));
  await opened(socket);
  expect(socket.readyState).toBe(WebSocket.OPEN);
  const texts = ['{"a":1}', `"${"ü".repeat(1_000_000)}"`, "2"];
  for (const text of texts) socket.send(text);
  await eventually(() => received.length === 3);
  expect(received).toEqual(texts);
  expect([listener.openPeers, events]).toEqual([1, ["open state"]]);
  socket.close();
  await closed(socket);
  expect(socket.readyState).toBe(WebSocket.CLOSED);
  await eventually(() => listener.openPeers === 0);
  expect(events).toEqual(["open state", "close state"]);
});

test("either side may close a connection for messages", async () => {
  listener = listenOnPipe(name, options);
  const first = new PipeSocket(name, "/messages");
  await opened(first);
  first.send('"close"');
  await closed(first);
  const second = new PipeSocket(name, "/messages");
  await opened(second);
  second.terminate();
  expect(second.readyState).toBe(WebSocket.CLOSED);
  await eventually(() => events.length === 4);
});

test("a connection for messages is closed if nobody listens, or if it is refused", async () => {
  listener = listenOnPipe(name, options);
  await closed(new PipeSocket(`${name}-none`, "/messages"));
  await closed(new PipeSocket(name, "/other"));
  expect([listener.openPeers, events]).toEqual([0, []]);
});

test("a caller that goes in the middle of its request, or asks for no path, disturbs no other caller", async () => {
  listener = listenOnPipe(name, options);
  const failures: unknown[] = [];
  const fail = (reason: unknown) => failures.push(reason);
  process.on("unhandledRejection", fail);
  for (const text of [
    "POST /call HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc",
    "GET // HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET // HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n",
  ]) {
    const caller = createConnection(name);
    caller.on("error", () => {});
    const gone = new Promise((resolve) => caller.on("close", resolve));
    caller.write(text);
    await Promise.race([gone, eventually(() => listener.pendingRequests > 0)]);
    caller.destroy();
    await gone;
  }
  expect((await requestOverPipe(name, "/status", {})).status).toBe(418);
  await eventually(() => listener.pendingRequests === 0);
  process.off("unhandledRejection", fail);
  expect(failures).toEqual([]);
});

test("something other than HTTP disturbs no other caller", async () => {
  listener = listenOnPipe(name, options);
  const stranger = createConnection(name);
  stranger.on("error", () => {});
  const gone = new Promise((resolve) => stranger.on("close", resolve));
  stranger.write("\0\x01 not HTTP\r\n\r\n");
  await gone;
  expect((await requestOverPipe(name, "/status", {})).status).toBe(418);
});

test("a line may arrive in parts, and parts of a line may hold several", () => {
  const lines: string[] = [];
  const reader = new JsonLines(maxBytes, (text) => lines.push(text));
  for (const part of ["{", '"a":1}\n2', "\n3\n", "4"]) expect(reader.add(Buffer.from(part))).toBeTrue();
  expect(lines).toEqual(['{"a":1}', "2", "3"]);
});

test("a line that is too long is refused, whether or not it ends", () => {
  expect(new JsonLines(4, () => {}).add(Buffer.from("12345"))).toBeFalse();
  expect(new JsonLines(4, () => {}).add(Buffer.from("12345\n"))).toBeFalse();
  expect(new JsonLines(4, () => {}).add(Buffer.from("1234\n"))).toBeTrue();
});
