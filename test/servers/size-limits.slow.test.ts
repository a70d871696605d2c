/** Servers that send far more than it seems: each way ends with an error, and memory stays within limits. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { Readable } from "node:stream";
import { smallEvents } from "../../src/servers/network/event-stream.ts";
import { root } from "../support/claudikins.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";

setDefaultTimeout(60_000);

/** Far less than the decoded bodies, and more than a message within the limit needs. */
const mostMegabytes = 700;

let server: NetworkFixture | undefined;
afterEach(() => server?.kill());

interface Result {
  error?: { code: string; message: string };
  before: number;
  after: number;
}

/** Calls a server that sends `size` MB, in a process of its own. */
async function called(mode: string, encoding: string, transport: string, size = 900, unit = "x"): Promise<Result> {
  server = await networkFixture(mode, { program: "bomb", args: [encoding, String(size), unit] });
  const url = `${transport === "websocket" ? "ws" : "http"}://127.0.0.1:${server.port}/mcp`;
  const caller = join(root, "test/servers/large-caller.ts");
  const child = Bun.spawn([process.execPath, caller, url, transport], { stdout: "pipe", stderr: "inherit" });
  return JSON.parse(await child.stdout.text()) as Result;
}

function expectLimit({ error, after }: Result, limit: string): void {
  expect(error?.code).toBe("PROTOCOL_ERROR");
  expect(error?.message).toStartWith('far.bomb: server "far"');
  expect(error?.message).toEndWith(limit);
  expect(after).toBeLessThan(mostMegabytes);
}

describe("a message over HTTP is limited to 256 MB after decompression:", () => {
  test.each(["gzip", "br", "zstd", "deflate"])("a JSON body with %s", async (encoding) => {
    expectLimit(await called("json", encoding, "http"), "it sent more than 256 MB in one message");
  });

  test("an endless JSON body", async () => {
    expectLimit(await called("json", "none", "auto"), "it sent more than 256 MB in one message");
  });

  test.each(["gzip", "br", "zstd"])("one event with %s", async (encoding) => {
    expectLimit(await called("events", encoding, "http"), "it sent more than 256 MB in one message");
  });

  test("an endless line in the stream of the answer", async () => {
    expectLimit(await called("events", "none", "auto"), "it sent more than 256 MB in one message");
  });

  test("an event of endless short lines, which needs much more memory to parse", async () => {
    expectLimit(await called("lines", "none", "http"), "it sent more than 1,000,000 lines in one message");
  });

  test("an event of the stream without a request", async () => {
    expectLimit(await called("listen", "gzip", "http"), "it sent more than 256 MB in one message");
  });

  test("an event of the older transport", async () => {
    expectLimit(await called("sse", "none", "sse"), "it sent more than 256 MB in one message");
  });

  test("an error's body is read up to 64 KB", async () => {
    const { error, before, after } = await called("error", "gzip", "http");
    expect(error?.message).toBe('far.bomb: server "far": it refused the request (400)');
    expect(after - before).toBeLessThan(150);
  });
});

describe("a message with too many values is refused:", () => {
  test.each([
    ["json", "gzip", "http", "[],"],
    ["json", "br", "http", "{},"],
    ["json", "gzip", "http", "1,"],
    ["events", "gzip", "http", "[],"],
    ["websocket", "none", "websocket", "[],"],
  ])("%s with %s over %s, full of %s", async (mode, encoding, transport, unit) => {
    const { error, after } = await called(mode, encoding, transport, 100, unit);
    expect(error?.code).toBe("PROTOCOL_ERROR");
    expect(after).toBeLessThan(mostMegabytes);
  });
});

test("the body of a redirect is not read to its end", async () => {
  const { error, before, after } = await called("redirect", "gzip", "http");
  expect(error?.message).toContain("it redirects elsewhere");
  expect(after - before).toBeLessThan(150);
});

describe("a message over a WebSocket is limited to 128 MB:", () => {
  test("endless frames", async () => {
    expectLimit(await called("websocket", "none", "websocket"), "it sent more than 128 MB in one message");
  });

  test("compressed frames are refused, since compression is never negotiated", async () => {
    const { error, before, after } = await called("websocket", "deflate", "websocket");
    expect(error?.message).toMatch(/^far\.bomb: server "far" is gone/);
    expect(after - before).toBeLessThan(100);
  });
});

describe("the limit of an event", () => {
  const limits = { maxBytes: 100, maxLines: 10, largeBytes: 100, take: async () => {} };
  const feed = async (chunks: string[]) => {
    const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
    await Array.fromAsync(smallEvents(stream, { ...limits, tooLarge: (limit) => new Error(limit) }));
  };

  test.each(["\n\n", "\r\n\r\n", "\r\r"])(
    "restarts after a blank line (%j), wherever the chunks end",
    async (blank) => {
      const text = `data: ${"x".repeat(60)}${blank}`.repeat(20);
      for (const size of [1, 2, 3, 7, 65, 1_000]) {
        const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, (at + 1) * size),
        );
        await feed(chunks);
      }
    },
  );

  test("counts what comes after the last blank line of a chunk", async () => {
    await expect(feed([`data: 1\n\ndata: ${"x".repeat(60)}`, "x".repeat(60)])).rejects.toThrow("MB");
  });

  test("counts lines as well as bytes", async () => {
    await expect(feed(["a\n".repeat(6), "a\n".repeat(6)])).rejects.toThrow("10 lines");
  });
});
