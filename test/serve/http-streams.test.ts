/** Streams of one session over real sockets: closed early, broken, read slowly and resumed; and which events are kept. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { EventLog } from "../../src/serve/http/event-stream.ts";
import { HttpRefusal } from "../../src/serve/http/refusal.ts";
import { SessionTransport, type TransportOptions } from "../../src/serve/http/transport.ts";
import { eventually } from "../support/eventually.ts";
import { eventsOf } from "../support/http-serve.ts";

setDefaultTimeout(60_000);

let close = async () => {};
afterEach(() => close());

/** Ends the waiting calls. */
let finish = () => {};

/** One session at an address, already initialized, with tools that fill its streams. */
async function serve(more: Partial<TransportOptions> = {}) {
  const events = { maxBytes: 1_000_000, maxAgeMs: 60_000 };
  const transport = new SessionTransport({
    version: "2025-11-25",
    events,
    retryMs: 20,
    maxCalls: 2,
    maxRequests: 4,
    maxConnectionMs: 60_000,
    ...more,
  });
  const server = new Server({ name: "filler", version: "1" }, { capabilities: { tools: {}, logging: {} } });
  const aborted: unknown[] = [];
  const begun: unknown[] = [];
  const waiting: (() => void)[] = [];
  finish = () => {
    for (const end of waiting.splice(0)) end();
  };
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const { count = 1, size = 1 } = params.arguments as { count?: number; size?: number };
    const log = (data: string) => ({
      method: "notifications/message" as const,
      params: { level: "info" as const, data },
    });
    begun.push(extra.requestId);
    const wait = new Promise<void>((resolve) => {
      waiting.push(resolve);
      extra.signal.addEventListener("abort", () => {
        aborted.push(extra.requestId);
        resolve();
      });
    });
    if (params.name === "leave") transport.tend();
    for (let index = 0; index < count; index++) await extra.sendNotification(log(`${index} ${"x".repeat(size)}`));
    if (params.name === "wait") await wait;
    if (params.name === "announce") await server.notification(log("to all"));
    return { content: [{ type: "text", text: "done" }] };
  });
  await server.connect(transport as never);
  const http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return transport.listen(request.headers.get("last-event-id"), () => {});
      return transport.post({ messages: [(await request.json()) as never], isBatch: false }, () => {});
    },
    error: (error) => (error instanceof HttpRefusal ? error.response() : new Response(null, { status: 500 })),
  });
  close = async () => {
    await server.close();
    await http.stop(true);
  };
  const url = http.url.href;
  const call = (name: string, args: object = {}, id = 1, options: RequestInit = {}) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
    return fetch(url, { method: "POST", body, ...options });
  };
  const listen = (last?: string) => fetch(url, { headers: last === undefined ? {} : { "last-event-id": last } });
  return { url, transport, call, listen, aborted, begun };
}

const result = { content: [{ type: "text", text: "done" }] };

describe("a stream", () => {
  test("is resumed when the client reconnects after an early close", async () => {
    const { call, listen, transport } = await serve({ maxConnectionMs: 0 });
    const first = await Array.fromAsync(eventsOf(await call("leave", { count: 2 })));
    expect(first).toEqual([{ id: "1-0", retry: "20", data: "" }]);
    const rest = await Array.fromAsync(eventsOf(await listen("1-0")));
    expect(rest.map(({ id }) => id)).toEqual(["1-1", "1-2", "1-3"]);
    expect(rest.at(-1)?.message).toMatchObject({ id: 1, result });
    expect(transport.running).toBe(0);
  });

  test("loses nothing after an early close for the SDK's client, which reconnects by itself", async () => {
    const { url } = await serve({ maxConnectionMs: 0 });
    const transport = new StreamableHTTPClientTransport(new URL(url));
    // The session is already initialized.
    transport.setProtocolVersion("2025-11-25");
    await transport.start();
    const { promise, resolve } = Promise.withResolvers<unknown>();
    transport.onmessage = (message) => "result" in message && resolve(message.result);
    await transport.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "leave", arguments: {} } });
    expect(await promise).toEqual(result);
    await transport.close();
  });

  test("is closed after a long time, and its call continues", async () => {
    const { call, listen, transport, aborted } = await serve({ maxConnectionMs: 1 });
    const response = await call("wait", { count: 0 });
    const events = eventsOf(response);
    const { value: primer } = await events.next();
    const next = events.next();
    let isOver = false;
    void next.then(() => {
      isOver = true;
    });
    while (!isOver) {
      transport.tend();
      await Bun.sleep(5);
    }
    expect((await next).done).toBe(true);
    const back = await listen(primer!.id);
    finish();
    expect((await Array.fromAsync(eventsOf(back))).at(-1)?.message).toMatchObject({ id: 1, result });
    expect(aborted).toEqual([]);
  });

  test("is never closed early for an older client", async () => {
    const { call, transport } = await serve({ version: "2025-06-18", maxConnectionMs: 1 });
    const response = call("wait", { count: 0 });
    await eventually(() => transport.running > 0);
    await Bun.sleep(10);
    transport.tend();
    finish();
    const events = await Array.fromAsync(eventsOf(await response));
    expect(events.at(-1)?.message).toMatchObject({ result });
  });

  test("gets messages without a request if no stream listens, otherwise the listener gets them", async () => {
    const { call, listen } = await serve();
    const alone = await Array.fromAsync(eventsOf(await call("announce", { count: 0 })));
    expect(alone.map(({ message }) => message?.method ?? message?.id)).toEqual([undefined, "notifications/message", 1]);
    const listening = eventsOf(await listen());
    await listening.next();
    const heard = await Array.fromAsync(eventsOf(await call("announce", { count: 0 }, 2)));
    expect(heard.map(({ message }) => message?.id)).toEqual([undefined, 2]);
    expect((await listening.next()).value?.message?.params).toMatchObject({ data: "to all" });
  });

  test("replaces the first one of a listener, and loses no messages between them", async () => {
    const { transport, listen } = await serve();
    await transport.send({ jsonrpc: "2.0", method: "notifications/x" });
    const first = eventsOf(await listen());
    await first.next();
    expect((await first.next()).value?.message?.method).toBe("notifications/x");
    const second = eventsOf(await listen());
    expect((await first.next()).done).toBe(true);
    await second.next();
    await transport.send({ jsonrpc: "2.0", method: "notifications/y" });
    const { value } = await second.next();
    expect(value?.message?.method).toBe("notifications/y");
    // Resumed once more from the beginning.
    const third = await listen("0-0");
    const methods: unknown[] = [];
    for await (const { message } of eventsOf(third)) {
      if (message) methods.push(message.method);
      if (methods.length === 2) break;
    }
    expect(methods).toEqual(["notifications/x", "notifications/y"]);
  });

  test("is closed if it is not read, uses no memory, and is sent later", async () => {
    const { url, transport, listen } = await serve({ events: { maxBytes: 3_000_000, maxAgeMs: 60_000 } });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "wait", arguments: { count: 100, size: 500_000 } },
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    socket.pause();
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    await eventually(() => transport.running > 0);
    // The server has sent all 50 MB, and the client has read nothing yet.
    let size = 0;
    socket.on("data", (data) => {
      size += data.length;
    });
    socket.resume();
    await closed;
    expect(size).toBeLessThan(20_000_000);
    const back = eventsOf(await listen("1-0"));
    await back.next();
    const { value: oldest } = await back.next();
    expect(Number(oldest!.id!.split("-")[1])).toBeGreaterThan(90);
    finish();
    let last = oldest;
    for await (const event of back) last = event;
    expect(last?.message).toMatchObject({ id: 1, result });
  });
});

describe("calls of one session", () => {
  test("wait for a free place, start in order, and can be cancelled while they wait", async () => {
    const { url, call, transport, begun } = await serve();
    const streams = await Promise.all([1, 2, 3, 4].map((id) => call("wait", { count: 0 }, id)));
    expect(transport.running).toBe(4);
    expect((await call("wait", { count: 0 }, 5)).status).toBe(429);
    await eventually(() => begun.length >= 2);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } };
    expect((await fetch(url, { method: "POST", body: JSON.stringify(cancelled) })).status).toBe(202);
    expect(transport.running).toBe(3);
    finish();
    await eventually(() => begun.length >= 3);
    expect(begun).toEqual([1, 2, 4]);
    const rest = Promise.all(streams.map((each) => Array.fromAsync(eventsOf(each))));
    finish();
    expect((await rest).map((events) => events.at(-1)?.message?.id)).toEqual([1, 2, undefined, 4]);
  });
});

describe("the event log", () => {
  const frame = (size: number) => new Uint8Array(size);

  test("keeps the newest events up to a number of bytes, and always the last one", () => {
    const log = new EventLog({ maxBytes: 100, maxAgeMs: 60_000 });
    for (let number = 1; number <= 10; number++) log.add(number % 2, number, frame(20));
    expect([log.after(0, 0).length, log.after(1, 0).length]).toEqual([3, 2]);
    expect(log.after(0, 8).length).toBe(1);
    log.add(7, 1, frame(1_000));
    expect([log.after(0, 0).length, log.after(7, 0).length]).toEqual([0, 1]);
    log.add(8, 1, frame(1));
    expect([log.after(7, 0).length, log.after(8, 0).length]).toEqual([0, 1]);
  });

  test("forgets old events", async () => {
    const log = new EventLog({ maxBytes: 100, maxAgeMs: 1 });
    log.add(1, 1, frame(20));
    await Bun.sleep(5);
    log.forgetOld();
    expect(log.after(1, 0)).toEqual([]);
  });
});
