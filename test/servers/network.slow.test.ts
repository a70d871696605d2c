/** Servers over HTTP and WebSockets, with real sockets: transports, errors, lost sessions, and no secrets in any text. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { retryAfterOf } from "../../src/servers/network/http-response.ts";
import type { Pool } from "../../src/servers/pool.ts";
import { root } from "../support/claudikins.ts";
import { freePort } from "../support/free-port.ts";
import { type NetworkFixture, networkFixture } from "../support/network.ts";
import { failureOf, failureText, openPool, plainValue, type ServerEntry } from "../support/pool.ts";

setDefaultTimeout(60_000);

let pool: Pool | undefined;
let logged: string[] = [];
const fixtures: NetworkFixture[] = [];
afterEach(async () => {
  await pool?.close();
  await Promise.all(fixtures.splice(0).map((each) => each.kill()));
  // Whatever a test does, its secrets contain the word "secret".
  expect(logged.filter((line) => /secret/i.test(line))).toEqual([]);
  logged = [];
  pool = undefined;
});

async function start(mode: string): Promise<NetworkFixture> {
  const started = await networkFixture(mode);
  fixtures.push(started);
  return started;
}

function open(entries: Record<string, ServerEntry>): Pool {
  const write = (line: string) => void logged.push(line);
  const opened = openPool(entries, { env: {}, cwd: "/", log: { debug: write, info: write, warn: write } });
  pool = opened;
  return opened;
}

const httpAt = ({ port }: { port: number }, rest = "/mcp") => `http://127.0.0.1:${port}${rest}`;

const call = async (tool: string, args: object = {}, options = {}) =>
  plainValue(await pool!.callTool("far", tool, args, options));

async function failure(of: Promise<unknown>): Promise<string> {
  const error = await failureOf(of);
  expect(Bun.inspect(error).replaceAll(root, "")).not.toMatch(/secret/i);
  return failureText(error);
}

/** The number of connections: each listens with one GET. */
const connections = ({ lines }: NetworkFixture) => lines.filter((line) => line.startsWith("GET ")).length;

describe("a connection", () => {
  test.each([
    ["http", "auto"],
    ["http", "http"],
    ["json", "http"],
    ["stateless", "http"],
    ["sse", "sse"],
    ["sse", "auto"],
  ] as const)("to a %s server with transport %s lists, calls and calls concurrently", async (mode, transport) => {
    open({ far: { url: httpAt(await start(mode)), transport } });
    expect((await pool!.listTools("far")).map(({ name }) => name)).toContain("echo");
    const numbers = Array.from({ length: 20 }, (_, number) => ({ number }));
    expect(await Promise.all(numbers.map((args) => call("echo", args)))).toEqual(numbers);
    const size = 3 * 1_048_576;
    expect(String(await call("large", { size })).length).toBeGreaterThanOrEqual(size);
  });

  test("to a WebSocket lists and calls", async () => {
    const server = await start("websocket");
    open({ far: { url: `ws://127.0.0.1:${server.port}/mcp`, transport: "websocket" } });
    expect((await pool!.listTools("far")).length).toBe(9);
    const numbers = Array.from({ length: 20 }, (_, number) => ({ number }));
    expect(await Promise.all(numbers.map((args) => call("echo", args)))).toEqual(numbers);
    await pool!.close();
    await server.saw("closed");
  });

  test("sends headers with each request, and the name and password of the address as a header", async () => {
    const server = await start("token");
    open({ far: { url: httpAt(server), headers: { Authorization: "Bearer right" } } });
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    const requests = server.lines.filter((line) => !line.startsWith("called"));
    expect(new Set(requests.map((line) => line.split(" ").slice(1).join(" ")))).toEqual(new Set(["Bearer right"]));

    await pool!.close();
    const other = await start("http");
    open({ far: { url: `http://me:secret@127.0.0.1:${other.port}/mcp?key=secret` } });
    await call("echo");
    expect(other.lines[0]).toBe(`POST Basic ${btoa("me:secret")}`);

    await pool!.close();
    const socket = await start("websocket-token");
    open({
      far: { url: `ws://127.0.0.1:${socket.port}`, transport: "websocket", headers: { Authorization: "Bearer right" } },
    });
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
  });
});

describe("a server that cannot be reached", () => {
  test("is an error with the server, the reason and the next step, without secrets", async () => {
    const modes = ["missing", "busy", "trouble", "elsewhere", "page", "nonsense", "reset", "silent", "slow-body"];
    const secret = { headers: { "X-Key": "secret" } };
    const servers = await Promise.all(modes.map(start));
    const [token, forbidden, sse, closed] = await Promise.all([
      start("token"),
      start("forbidden"),
      start("sse"),
      freePort(),
    ]);
    const [socket, socketToken] = await Promise.all([start("websocket"), start("websocket-token")]);
    const at = (server: { port: number }) => `http://me:secret@127.0.0.1:${server.port}/secret?key=secret#secret`;
    const wsAt = (server: { port: number }) => at(server).replace("http", "ws");
    open({
      refused: { url: at({ port: closed }), ...secret },
      "no host": { url: "http://me:secret@nowhere.invalid/secret?key=secret" },
      "no TLS": { url: at(token).replace("http", "https") },
      "no token": { url: `http://127.0.0.1:${token.port}/mcp` },
      "wrong token": { url: at(token), headers: { Authorization: "Bearer secret" } },
      forbidden: { url: at(forbidden), ...secret },
      ...Object.fromEntries(
        modes.map((mode, index) => [
          mode,
          { url: at(servers[index]!), ...secret, ...(/^s/.test(mode) ? { startTimeoutMs: 200 } : {}) },
        ]),
      ),
      "an older one": { url: at(sse), transport: "http" },
      "no SSE": { url: at(servers[4]!), transport: "sse" },
      "SSE refused": { url: at({ port: closed }), transport: "sse" },
      "SSE silent": { url: at(servers[7]!), transport: "sse", startTimeoutMs: 200 },
      "SSE with no token": { url: at(token), transport: "sse" },
      "socket refused": { url: wsAt({ port: closed }), transport: "websocket", ...secret },
      "socket token": { url: wsAt(socketToken), transport: "websocket" },
      "no socket": { url: wsAt(servers[4]!), transport: "websocket" },
      "socket silent": { url: wsAt(servers[7]!), transport: "websocket", startTimeoutMs: 200 },
      "a socket, asked over HTTP": { url: at(socket) },
      needs: { url: "https://${HOST}", needs: ["HOST"] },
      "no address": { url: "secret" },
      "odd header": { url: at(token), headers: { "X-Key": "secret\nsecret" } },
    });
    const texts = [...pool!.servers.keys()].map((name) => failure(pool!.callTool(name, "x", {})));
    expect((await Promise.all(texts)).join("\n\n")).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "refused" cannot be used: nothing listens at http://HOST
      hint: Start it, or correct "url" in the config.

      SERVER_UNAVAILABLE: Server "no host" cannot be used: host nowhere.invalid was not found
      hint: Correct "url" in the config, or check this machine's network.

      SERVER_UNAVAILABLE: Server "no TLS" cannot be used: https://HOST does not speak TLS
      hint: To connect without TLS, use http:// in "url".

      AUTH_REQUIRED: Server "no token" cannot be used: it needs a sign-in (401)
      hint: Add a token to the config: "headers": { "Authorization": "Bearer \${TOKEN}" }.

      AUTH_REQUIRED: Server "wrong token" cannot be used: it needs a sign-in (401)
      hint: Put a valid token with the required rights in "headers" or "url" in the config.

      AUTH_REQUIRED: Server "forbidden" cannot be used: it denied access (403)
      hint: Put a valid token with the required rights in "headers" or "url" in the config.

      SERVER_UNAVAILABLE: Server "missing" cannot be used: it found nothing at this address (404)
      hint: Correct "url" in the config, most likely its path.

      SERVER_UNAVAILABLE: Server "busy" cannot be used: it received too many requests (429)
      hint: Wait a moment, and make fewer calls at once.

      SERVER_UNAVAILABLE: Server "trouble" cannot be used: it failed (502)
      hint: Try again later. The fault is in the server or a proxy in front of it.

      SERVER_UNAVAILABLE: Server "elsewhere" cannot be used: it redirects elsewhere, and claudikins does not follow it there (302)
      hint: Correct "url" in the config: use the final address.

      PROTOCOL_ERROR: Server "page" cannot be used: it returned a web page instead of MCP
      hint: Correct "url" in the config, most likely its path.

      PROTOCOL_ERROR: Server "nonsense" cannot be used: its answer is not MCP
      hint: Check that "url" in the config is the address of an MCP server.

      SERVER_UNAVAILABLE: Server "reset" cannot be used: http://HOST closed the connection without an answer
      hint: Try again, or check its logs.

      SERVER_UNAVAILABLE: Server "silent" cannot be used: it did not answer within 200 ms
      hint: Raise "startTimeoutMs" of "silent" in the config, or check its "url".

      SERVER_UNAVAILABLE: Server "slow-body" cannot be used: it did not answer within 200 ms
      hint: Raise "startTimeoutMs" of "slow-body" in the config, or check its "url".

      SERVER_UNAVAILABLE: Server "an older one" cannot be used: it does not accept MCP at this address (405)
      hint: Correct "url" in the config; for an older server, set "type": "sse".

      PROTOCOL_ERROR: Server "no SSE" cannot be used: it returned a web page instead of MCP
      hint: Correct "url" in the config, most likely its path.

      SERVER_UNAVAILABLE: Server "SSE refused" cannot be used: nothing listens at http://HOST
      hint: Start it, or correct "url" in the config.

      SERVER_UNAVAILABLE: Server "SSE silent" cannot be used: it did not answer within 200 ms
      hint: Raise "startTimeoutMs" of "SSE silent" in the config, or check its "url".

      AUTH_REQUIRED: Server "SSE with no token" cannot be used: it needs a sign-in (401)
      hint: Put a valid token with the required rights in "headers" or "url" in the config.

      SERVER_UNAVAILABLE: Server "socket refused" cannot be used: nothing listens at ws://HOST
      hint: Start it, or correct "url" in the config.

      AUTH_REQUIRED: Server "socket token" cannot be used: it needs a sign-in (401)
      hint: Put a valid token with the required rights in "headers" or "url" in the config.

      SERVER_UNAVAILABLE: Server "no socket" cannot be used: it accepts no WebSocket at this address
      hint: Correct "url" in the config; for a server that speaks HTTP, use https://.

      SERVER_UNAVAILABLE: Server "socket silent" cannot be used: it did not answer within 200 ms
      hint: Raise "startTimeoutMs" of "socket silent" in the config, or check its "url".

      SERVER_UNAVAILABLE: Server "a socket, asked over HTTP" cannot be used: it refused the request (426)
      hint: Correct "url" in the config, "headers" or "type".

      NEEDS_VARIABLE: Server "needs" needs HOST in the environment
      hint: Set HOST before starting claudikins, or add a default to the config: \${HOST:-value}.

      CONFIG_INVALID: Server "no address" cannot be used: its "url" is invalid: expected an address that starts with http://, https://, ws:// or wss://
      hint: Check the config entry and the variables in it.

      CONFIG_INVALID: Server "odd header" cannot be used: its header "X-Key" has a value with invalid characters
      hint: Check the config entry and the variables in it."
    `);
  });
});

describe("a server that asks to wait", () => {
  test("is not contacted before that time, and the error says how long", async () => {
    const [busy, closed] = await Promise.all([start("busy-for-long"), start("closed")]);
    open({ busy: { url: httpAt(busy) }, closed: { url: httpAt(closed) } });
    expect(await failure(pool!.listTools("busy"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "busy" cannot be used: it received too many requests (429); retry after 2 h
      hint: Wait that long, and make fewer calls at once."
    `);
    expect(await failure(pool!.listTools("busy"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "busy" cannot be used: it received too many requests (429); retry after 2 h (not tried again, can be retried in 10 min)
      hint: Wait that long, and make fewer calls at once."
    `);
    expect((await failure(pool!.listTools("closed"))).replace(/\d+ s/, "N s")).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "closed" cannot be used: it is not accepting requests (503); retry after N s
      hint: Wait that long."
    `);
    await failure(pool!.listTools("closed"));
    await Promise.all([busy.saw("POST -"), closed.saw("POST -")]);
    expect([busy.lines.length, closed.lines.length]).toEqual([1, 1]);
  });

  test("during a call keeps its connection, and only the call is not repeated", async () => {
    const server = await start("busy-at-calls");
    open({ far: { url: httpAt(server), transport: "http" } });
    await pool!.listTools("far");
    expect(await failure(call("echo", {}, { repeatable: true }))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.echo: server "far": it received too many requests (429); retry after 90 s
      hint: Wait that long, and make fewer calls at once."
    `);
    await failure(call("echo"));
    expect(pool!.state("far").state).toBe("ready");
    await server.saw("POST -", 5);
    expect(server.lines.filter((line) => line.startsWith("POST"))).toHaveLength(5);
  });

  test.each([
    ["30", 30_000],
    ["0", 0],
    ["99999999999", 24 * 3_600_000],
    ["Thu, 01 Jan 1970 00:01:00 GMT", 59_000],
    ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
    ["soon", undefined],
    ["", undefined],
  ])("may say Retry-After: %s", (text, ms) => {
    expect(retryAfterOf(new Response(null, { headers: { "retry-after": text } }), 1_000)).toBe(ms as number);
  });
});

describe("a failure after the start", () => {
  test("in one answer fails only its call, at once", async () => {
    const server = await start("http");
    open({ far: { url: httpAt(server) } });
    await call("echo");
    const controller = new AbortController();
    const beside = failure(call("hang", {}, { signal: controller.signal }));
    await server.saw("called hang");
    expect(await failure(call("break"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.break: server "far": http://HOST closed the connection without an answer
      hint: Try again, or check its logs."
    `);
    expect(await failure(call("break-off"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.break-off: server "far": its answer was cut off
      hint: Try again, or check its logs."
    `);
    expect(await failure(call("end-early"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.end-early: server "far": its answer was cut off
      hint: Try again, or check its logs."
    `);
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    controller.abort();
    expect(await beside).toBe("CANCELLED: far.hang was cancelled");
    expect(connections(server)).toBe(1);
  });

  test.each(["sse", "websocket"])(
    "in a %s connection fails its calls, and the next call connects again",
    async (mode) => {
      const server = await start(mode);
      const url = mode === "sse" ? httpAt(server) : `ws://127.0.0.1:${server.port}`;
      open({ far: { url, transport: mode as "sse" | "websocket" } });
      await call("echo");
      const beside = failure(call("hang"));
      const text = await failure(call("break"));
      expect(text).toStartWith('SERVER_UNAVAILABLE: far.break: server "far" is gone: its ');
      expect(text).toEndWith("hint: Call again to reconnect.");
      expect(await beside).toStartWith('SERVER_UNAVAILABLE: far.hang: server "far" is gone: its ');
      expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    },
  );

  test.each(["http", "json", "expiring", "forgetful"])(
    "by an expired session (%s) repeats refused requests once in a new session",
    async (mode) => {
      const server = await start(mode);
      open({ far: { url: httpAt(server), transport: "http" } });
      for (let a = 0; a < 10; a++) expect(await call("echo", { a })).toEqual({ a });
      await server.saw("called echo", 10);
      if (mode === "expiring") return;
      await call("forget");
      const numbers = Array.from({ length: 20 }, (_, number) => ({ number }));
      expect(await Promise.all(numbers.map((args) => call("echo", args)))).toEqual(numbers);
      await server.saw("called echo", 30);
      expect(server.lines.filter((line) => line === "called echo")).toHaveLength(30);
      // The old session gets no DELETE.
      expect(server.lines.filter((line) => line.startsWith("DELETE"))).toEqual([]);
    },
  );

  test("by an expired session fails the calls that the server has already started", async () => {
    const server = await start("http");
    open({ far: { url: httpAt(server), transport: "http" } });
    await call("echo");
    const beside = failure(call("hang"));
    await server.saw("called hang");
    await call("forget");
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    expect(await beside).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.hang: server "far" is gone: its session has ended (404)
      hint: Call again to open a new one."
    `);
  });

  test("by status 400 in a valid session fails only that request", async () => {
    const server = await start("picky");
    open({ far: { url: httpAt(server), transport: "http" } });
    await call("echo");
    const controller = new AbortController();
    const beside = failure(call("hang", {}, { signal: controller.signal }));
    await server.saw("called hang");
    expect(await failure(call("echo", { refused: "unread" }))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.echo: server "far": it refused the request (400)
      hint: Check its logs."
    `);
    expect(await failure(call("echo", { refused: "in-words" }))).toMatchInlineSnapshot(
      `"INVALID_ARGUMENTS: far.echo: an odd argument"`,
    );
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    controller.abort();
    expect(await beside).toBe("CANCELLED: far.hang was cancelled");
    expect(connections(server)).toBe(1);
  });

  test("after the server may have read a request does not repeat it", async () => {
    const server = await start("answers-all-with-400");
    open({ far: { url: httpAt(server), transport: "http" } });
    expect(await failure(call("echo", { refused: "in-words" }))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.echo: server "far" is gone: its session has ended (400)
      hint: Call again to open a new one."
    `);
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    await server.saw("refused tools/call");
    expect(server.lines.filter((line) => line === "refused tools/call")).toHaveLength(1);
  });

  test.each([
    ["forgets-in-json", true],
    ["forgets-without-id", true],
    ["forgets-in-an-event", true],
    ["forgets-in-a-plain-event", true],
    ["forgets-in-an-error-event", true],
    ["forgets-with-410", true],
    ["forgets-with-422", true],
    // Such a server may have run the call.
    ["forgets-with-500", false],
  ])("in a session that the server does not know any more is recovered from: %s", async (mode, isRepeated) => {
    const server = await start(mode);
    open({ far: { url: httpAt(server), transport: "http" } });
    await call("forget");
    if (!isRepeated) expect(await failure(call("echo", { a: 1 }))).toContain("its session has ended (500)");
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    await server.saw("called echo");
    expect(server.lines.filter((line) => line === "called echo")).toHaveLength(1);
  });

  test.each([
    ["error-event", "TOOL_FAILED: far.echo: the disk is full"],
    ["error-event-text", "TOOL_FAILED: far.echo: the disk is full"],
    ["error-event-of-jsonrpc", "TOOL_FAILED: far.echo: the disk is full"],
    ["error-without-id", "TOOL_FAILED: far.echo: the disk is full"],
    ["plain-error", "TOOL_FAILED: far.echo: the disk is full"],
    ["error-of-the-session-tool", "TOOL_FAILED: far.echo: the browser session is closed"],
  ])("with an error in a form of its own fails with that error: %s", async (how, text) => {
    const server = await start("odd");
    open({ far: { url: httpAt(server), transport: "http" } });
    await call("echo");
    expect(await failure(call("echo", { how }))).toBe(text);
    expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
    await server.saw("odd answer");
    expect(server.lines.filter((line) => line === "odd answer")).toHaveLength(1);
  });

  test.each(["list", "large-list"])("is answered by a list of messages in one event: %s", async (how) => {
    const server = await start("odd");
    open({ far: { url: httpAt(server), transport: "http" } });
    expect(await call("echo", { how })).toEqual({ a: "], {" });
  });

  test("in a stream with event ids is resumed where it broke", async () => {
    const server = await start("resumable");
    open({ far: { url: httpAt(server) } });
    expect(await call("break-and-answer", { a: 1 })).toEqual({ a: 1 });
    // The server is gone, and two attempts are enough to know.
    expect(await failure(call("end-process"))).toStartWith(
      'SERVER_UNAVAILABLE: far.end-process: server "far": its answer was cut off',
    );
  });

  test("by a killed server is reported, and the next call says that nothing listens", async () => {
    const server = await start("http");
    open({ far: { url: httpAt(server) } });
    await call("echo");
    expect(await failure(call("end-process"))).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: far.end-process: server "far": http://HOST closed the connection without an answer
      hint: Try again, or check its logs."
    `);
    // A kept socket may be tried first.
    const texts = [await failure(call("echo")), await failure(call("echo")), await failure(call("echo"))];
    for (const text of texts) expect(text).toStartWith("SERVER_UNAVAILABLE: ");
    // Whether the server already has to wait depends on the socket that was tried; lifecycle.test.ts covers the waits.
    expect(texts[2]?.replace(/ \(not tried again, can be retried in [^)]*\)/, "")).toMatchInlineSnapshot(`
      "SERVER_UNAVAILABLE: Server "far" cannot be used: nothing listens at http://HOST
      hint: Start it, or correct "url" in the config."
    `);
  });

  test.each(["http", "json"])(
    "in %s mode does not follow a cancelled call: the server is told, and the connection continues",
    async (mode) => {
      const server = await start(mode);
      open({ far: { url: httpAt(server) } });
      expect(await failure(call("hang", {}, { timeoutMs: 100 }))).toMatchInlineSnapshot(`
      "CALL_TIMEOUT: far.hang did not answer within 100 ms
      hint: Raise "callTimeoutMs" of "far" in the config, or ask for less in one call."
    `);
      await server.saw("cancelled");
      const controller = new AbortController();
      const hanging = failure(call("hang", {}, { signal: controller.signal }));
      controller.abort();
      expect(await hanging).toBe("CANCELLED: far.hang was cancelled");
      expect(await call("echo", { a: 1 })).toEqual({ a: 1 });
      expect(connections(server)).toBe(1);
    },
  );
});

describe("close", () => {
  test("ends the session at the server", async () => {
    const server = await start("http");
    open({ far: { url: httpAt(server) } });
    await call("echo");
    const hanging = failure(call("hang"));
    await pool!.close();
    expect(await hanging).toBe("CANCELLED: far.hang was cancelled: claudikins is closing");
    await server.saw("DELETE -");
  });

  test("waits at most a second for a server that does not answer", async () => {
    const server = await start("no-goodbye");
    open({ far: { url: httpAt(server) } });
    await call("echo");
    const startedAt = performance.now();
    await pool!.close();
    // Without a limit, it would wait until the end of the test.
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  test.each(["auto", "sse"] as const)("returns at once during a %s connect", async (transport) => {
    const server = await start("silent");
    open({ far: { url: httpAt(server), transport } });
    const waiting = failure(call("echo"));
    await server.saw(transport === "sse" ? "GET -" : "POST -");
    await pool!.close();
    expect(await waiting).toBe('CANCELLED: Server "far" did not start: claudikins is closing');
  });
});

describe("a redirect to another origin", () => {
  test.each([301, 302, 303, 307, 308])("with status %d is not followed, and nothing is sent there", async (status) => {
    const seen: string[] = [];
    await using away = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch(request) {
        seen.push(`${request.method} ${request.headers.get("authorization")} ${request.headers.get("x-key")}`);
        return Response.json({});
      },
    });
    const places = [
      `http://127.0.0.1:${away.port}/mcp`,
      `//127.0.0.1:${away.port}/mcp`,
      `http://localhost:${away.port}/`,
    ];
    for (const location of places) {
      await using server = Bun.serve({
        hostname: "127.0.0.1",
        port: 0,
        fetch: () => new Response(null, { status, headers: { location } }),
      });
      const headers = { Authorization: "Bearer secret", "X-Key": "secret" };
      const url = `http://127.0.0.1:${server.port}/mcp`;
      open({
        http: { url, transport: "http", headers },
        auto: { url, headers },
        sse: { url, transport: "sse", headers },
        websocket: { url: url.replace("http", "ws"), transport: "websocket", headers },
      });
      for (const name of pool!.servers.keys()) await failure(pool!.callTool(name, "x", {}));
      await pool!.close();
    }
    expect(seen).toEqual([]);
  });
});
