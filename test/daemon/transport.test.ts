/**
 * What the daemon and its callers send each other. Node's functions are the same for named pipes and Unix sockets, so this runs over a
 * socket; test/e2e/windows.test.ts runs it over a pipe.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { isNobody } from "../../src/daemon/place.ts";
import { connectToDaemon, requestDaemon } from "../../src/daemon/transport/connect.ts";
import { HttpReader, httpText } from "../../src/daemon/transport/http.ts";
import { SocketListener } from "../../src/daemon/transport/listen.ts";
import { MessageConnection } from "../../src/daemon/transport/message-connection.ts";
import { maxMessageBytes } from "../../src/servers/limits.ts";
import { type BunStream, socketHandler } from "../../src/servers/process/bun-stream.ts";
import { eventually } from "../support/eventually.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

let folder: TemporaryFolder;
let socket: string;
let listener: SocketListener;
const events: string[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  socket = join(folder.path, "daemon.sock");
  events.length = 0;
  listener = newListener();
});
afterEach(() => {
  listener.stop();
  folder[Symbol.dispose]();
});

/** Answers each request with what it is, `/wait` never, and returns each message, except that `"close"` closes the connection. */
function newListener(at = socket): SocketListener {
  return new SocketListener(at, async ({ route, version, body, signal, upgrade }) => {
    if (route === "GET /wait") {
      signal.addEventListener("abort", () => events.push("aborted"));
      return new Promise(() => {});
    }
    if (!upgrade || route !== "GET /messages") return { status: 418, json: JSON.stringify({ route, version, body }) };
    upgrade((connection) => {
      events.push("open");
      return {
        message: (bytes) => void (String(bytes) === '"close"' ? connection.close() : connection.send(String(bytes))),
        close: () => void events.push("close"),
      };
    });
    return undefined;
  });
}

/** A connection whose messages are kept. */
async function connected(path = "/messages", at = socket) {
  const received: string[] = [];
  const closed = Promise.withResolvers<void>();
  const handler = { message: (bytes: Buffer) => void received.push(String(bytes)), close: closed.resolve };
  const connection = await connectToDaemon(at, path, () => handler, AbortSignal.timeout(5_000));
  return { connection, received, closed: closed.promise };
}

/** A stranger's connection, whose bytes are kept. */
function stranger(text: string) {
  const stream = createConnection(socket);
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("error", () => {});
  const gone = new Promise<string>((resolve) => stream.on("close", () => resolve(String(Buffer.concat(chunks)))));
  stream.write(text);
  return { stream, gone };
}

const status = () => requestDaemon(socket, "GET /status", {});
const statusAnswer = { route: "GET /status", body: "" };

test("a request arrives whole, and so does its answer", async () => {
  const body = "ö".repeat(5_000_000);
  const answer = await requestDaemon(socket, "POST /call", { body, version: "7.0.0" });
  expect(answer).toEqual({ route: "POST /call", version: "7.0.0", body });
  await eventually(() => listener.pendingRequests === 0);
});

test("other clients of HTTP are answered as well, and their connection ends with the answer", async () => {
  const caller = stranger("POST /call HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  expect(await caller.gone).toMatch(/^HTTP\/1\.1 418 [\s\S]*"body":"abc"\}$/);
  const answer = await fetch("http://localhost/call", { unix: socket, method: "POST", body: "ü" });
  expect([answer.status, await answer.json()]).toEqual([418, { route: "POST /call", body: "ü" }]);
});

test("a request fails as with nobody there if nobody listens", async () => {
  const error = await requestDaemon(`${socket}-none`, "GET /status", {}).catch((reason) => reason);
  expect(isNobody(error)).toBeTrue();
  // The socket is still there.
  listener.stop();
  expect(isNobody(await status().catch((reason) => reason))).toBeTrue();
});

test("an aborted request rejects with the reason, and the daemon is told", async () => {
  const abort = new AbortController();
  const answer = requestDaemon(socket, "GET /wait", { signal: abort.signal });
  await eventually(() => listener.pendingRequests === 1);
  abort.abort(new Error("enough"));
  expect(await answer.catch((reason) => reason.message)).toBe("enough");
  await eventually(() => listener.pendingRequests === 0);
  expect(events).toEqual(["aborted"]);
});

test("a request fails when the daemon ends before it has answered", async () => {
  const answer = requestDaemon(socket, "GET /wait", {}).catch((reason) => reason);
  await eventually(() => listener.pendingRequests === 1);
  listener.stop();
  const error = await answer;
  expect(error).toBeInstanceOf(Error);
  expect(isNobody(error)).toBeFalse();
});

test("messages of any size go in both directions, in order", async () => {
  const { connection, received, closed } = await connected();
  const texts = ['{"a":1}', `"${"ü".repeat(10_000_000)}"`, "2"];
  for (const text of texts) expect(connection.send(text)).toBeTrue();
  await eventually(() => received.length === 3);
  expect(received).toEqual(texts);
  expect([listener.messageConnections, listener.pendingRequests, events]).toEqual([1, 0, ["open"]]);
  connection.close();
  await closed;
  expect(connection.send("3")).toBeFalse();
  await eventually(() => listener.messageConnections === 0);
  expect(events).toEqual(["open", "close"]);
});

test("either side may close a connection for messages", async () => {
  const first = await connected();
  first.connection.send('"close"');
  await first.closed;
  const second = await connected();
  second.connection.terminate();
  await second.closed;
  await eventually(() => events.length === 4);
});

test("a connection for messages is not opened if nobody listens, or by a daemon that does not know such connections", async () => {
  expect(isNobody(await connected("/messages", `${socket}-none`).catch((reason) => reason))).toBeTrue();
  expect(await connected("/other").catch(({ code }) => code)).toBe("PROTOCOL_ERROR");
  expect([listener.messageConnections, events]).toEqual([0, []]);
});

test("a caller that goes in the middle of its request, or asks for no path, disturbs no other caller", async () => {
  const failures: unknown[] = [];
  const fail = (reason: unknown) => failures.push(reason);
  process.on("unhandledRejection", fail);
  for (const text of [
    "POST /call HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nabc",
    "GET // HTTP/1.1\r\nhost: x\r\n\r\n",
    "GET // HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: x\r\n\r\n",
    "GET /wait HTTP/1.1\r\nhost: x\r\n\r\n",
    "POST",
  ]) {
    const { stream, gone } = stranger(text);
    await Promise.race([gone, Bun.sleep(50)]);
    stream.destroy();
    await gone;
  }
  expect(await status()).toEqual(statusAnswer);
  await eventually(() => listener.pendingRequests === 0);
  process.off("unhandledRejection", fail);
  expect(failures).toEqual([]);
});

test.each([
  ["\0\x01 not HTTP\r\n\r\n", "The message is not HTTP/1.1"],
  [`GET /${"x".repeat(20_000)}`, "The message has too long a head"],
  ["POST /call HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n", "The message has no content-length"],
  [
    `POST /call HTTP/1.1\r\ncontent-length: ${maxMessageBytes + 1}\r\n\r\n${"x".repeat(1_000_000)}`,
    "The message is too large",
  ],
])("bytes that cannot be read are refused, and disturb no other caller: %j", async (text, error) => {
  const answer = await stranger(text).gone;
  expect(answer).toStartWith("HTTP/1.1 400 ");
  expect(JSON.parse(answer.slice(answer.indexOf("{")))).toEqual({ error, code: "USAGE" });
  expect(await status()).toEqual(statusAnswer);
});

test("a daemon that begins to listen replaces the socket of another one, and leaves no other file", async () => {
  const newer = newListener();
  expect(await status()).toEqual(statusAnswer);
  expect(readdirSync(folder.path)).toEqual(["daemon.sock"]);
  newer.stop();
});

test("a daemon that cannot listen fails with the error of the system", async () => {
  expect(() => newListener(join(folder.path, "nowhere", "daemon.sock"))).toThrow(/ENOENT|Failed to listen/);
});

test("HTTP may arrive in parts of any size", () => {
  const text = httpText("POST /call HTTP/1.1", { host: "x" }, "ö{}");
  for (const size of [1, 7, 1_000]) {
    const reader = new HttpReader();
    const bytes = Buffer.from(`${text}rest`);
    const found = [];
    for (let at = 0; at < bytes.length && found.length === 0; at += size) {
      const message = reader.add(bytes.subarray(at, at + size));
      if (message) found.push(message);
    }
    expect(found).toMatchObject([{ firstLine: "POST /call HTTP/1.1", body: "ö{}" }]);
    expect(found[0]!.headers.get("content-length")).toBe("4");
  }
});

describe("lines", () => {
  /** Both ends of a stream. The second one is read as messages of at most `maxBytes`. */
  async function pair(maxBytes: number) {
    const lines: string[] = [];
    const path = join(folder.path, "lines");
    const accepted = Promise.withResolvers<BunStream>();
    const server = Bun.listen({ unix: path, socket: socketHandler(accepted.resolve) });
    const writer = createConnection(path);
    const stream = await accepted.promise;
    server.stop();
    const closed = new Promise<string>((resolve) => {
      const handler = { message: (bytes: Buffer) => void lines.push(String(bytes)), close: () => resolve("closed") };
      new MessageConnection(stream, () => handler, Buffer.from(""), maxBytes);
    });
    return { writer, lines, closed };
  }

  test("may arrive in parts, and parts of a line may hold several", async () => {
    const { writer, lines } = await pair(1_000);
    for (const part of ["{", '"a":1}\n2', "\n3\n", "4"]) {
      writer.write(part);
      await Bun.sleep(5);
    }
    expect(lines).toEqual(['{"a":1}', "2", "3"]);
    writer.destroy();
  });

  test.each(["12345", "12345\n"])(
    "end the connection if they are too long, whether or not they end: %j",
    async (text) => {
      const { writer, lines, closed } = await pair(4);
      writer.write("1234\n");
      writer.write(text);
      expect(await closed).toBe("closed");
      expect(lines).toEqual(["1234"]);
    },
  );
});
