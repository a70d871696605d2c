/** Servers that send thousands of messages at once: only some are handled in a turn of the event loop, all servers together. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { smallEvents } from "../../src/servers/network/event-stream.ts";
import { WebSocketTransport } from "../../src/servers/network/websocket.ts";
import { StdioTransport } from "../../src/servers/process/stdio.ts";

setDefaultTimeout(60_000);

/** Messages of one server. */
const count = 400;

/** The time in milliseconds that handling one message takes. */
const costMs = 1;

/** Many times what fits into a turn, and far fewer than the messages of one chunk. */
const mostAtOnce = 60;

const message = JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((transport) => transport.close()));
});

/** Handles messages slowly, and counts those of each turn of the event loop. */
class Handler {
  #handled = 0;
  #inTurn = 0;
  most = 0;
  readonly #all = Promise.withResolvers<void>();
  readonly #expected: number;

  constructor(expected: number) {
    this.#expected = expected;
  }

  get all(): Promise<void> {
    return this.#all.promise;
  }

  handle(): void {
    if (this.#inTurn === 0) {
      setImmediate(() => {
        this.#inTurn = 0;
      });
    }
    this.#inTurn += 1;
    this.most = Math.max(this.most, this.#inTurn);
    const end = performance.now() + costMs;
    while (performance.now() < end);
    this.#handled += 1;
    if (this.#handled === this.#expected) this.#all.resolve();
  }
}

test.each([1, 4])("%i programs that write without a pause share one turn of the event loop", async (programs) => {
  const handler = new Handler(programs * count);
  for (let each = 0; each < programs; each++) {
    const transport = new StdioTransport({
      command: "sh",
      args: ["-c", `yes '${message}' | head -n ${count}; sleep 60`],
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "" },
    });
    transport.onmessage = () => handler.handle();
    open.push(transport);
    await transport.start();
  }
  await handler.all;
  expect(handler.most).toBeLessThan(mostAtOnce);
});

test("an event stream with thousands of events in one chunk is handed on in several turns", async () => {
  const handler = new Handler(count);
  async function* chunks() {
    yield Buffer.from(`data: ${message}\n\n`.repeat(count));
  }
  const options = {
    largeBytes: 1e6,
    take: () => Promise.resolve(),
    maxBytes: 1e9,
    maxLines: 1e6,
    tooLarge: (limit: string) => new Error(limit),
  };
  for await (const _ of smallEvents(chunks(), options)) handler.handle();
  await handler.all;
  expect(handler.most).toBeLessThan(mostAtOnce);
});

test("a WebSocket on which a server sends without a pause is read in several turns, and in order", async () => {
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) => (self.upgrade(request, { data: undefined }) ? undefined : new Response(null)),
    websocket: {
      open(socket) {
        for (let id = 0; id < count; id++) socket.send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      },
      message() {},
    },
  });
  const handler = new Handler(count);
  const ids: unknown[] = [];
  const transport = new WebSocketTransport({
    server: "x",
    url: `ws://127.0.0.1:${server.port}`,
    headers: {},
    hasToken: false,
  } as never);
  transport.onmessage = (each) => {
    ids.push("id" in each ? each.id : undefined);
    handler.handle();
  };
  open.push(transport);
  await transport.start();
  await handler.all;
  expect(handler.most).toBeLessThan(mostAtOnce);
  expect(ids).toEqual(Array.from({ length: count }, (_, id) => id));
});
