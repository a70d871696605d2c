/** How `serve --http` answers invalid requests, and who may call it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { claudikinsCommand } from "../support/command.ts";
import {
  afterSignal,
  eventsOf,
  executeRequest,
  type HttpServe,
  httpServe,
  initialize,
  json,
  type RawSession,
  rawSession,
  resultText,
  type SentEvent,
  sdkHost,
  signalFile,
} from "../support/http-serve.ts";
import { runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { atTerminal } from "../support/terminal.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let door: HttpServe;
let session: RawSession;
beforeAll(async () => {
  folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  door = await httpServe(folder);
  session = await rawSession(door.url);
});
afterAll(async () => {
  await door[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
const text = JSON.stringify;

interface Case {
  method?: string;
  /** The headers of a valid request, with these in their place; undefined removes one. */
  headers?: Record<string, string | undefined>;
  body?: string;
  path?: string;
}

async function send({ method = "POST", headers = {}, body = text(ping), path = "/mcp" }: Case) {
  const all = { ...json, "mcp-session-id": session.id, ...headers };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const hasBody = method === "POST" || method === "PUT";
  const response = await fetch(new URL(path, door.url), {
    method,
    headers: Object.fromEntries(given),
    ...(hasBody ? { body } : {}),
  });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { response, status: response.status, error: isJson ? ((await response.json()) as Answer).error : undefined };
}

interface Answer {
  jsonrpc: string;
  id: null;
  error: { code: number; message: string };
}

const none = { "mcp-session-id": undefined };
const batch = text([ping, { ...ping, id: 2 }]);

test.each<[string, Case, number, number | undefined]>([
  ["another path", { path: "/other" }, 404, -32000],
  ["PUT", { method: "PUT" }, 405, -32000],
  ["invalid JSON", { body: "{" }, 400, -32700],
  ["an empty body", { body: "" }, 400, -32700],
  ["JSON that is not a message", { body: text({ hello: 1 }) }, 400, -32600],
  ["a method that is not text", { body: text({ jsonrpc: "2.0", id: 1, method: 5 }) }, 400, -32600],
  ["another version of JSON-RPC", { body: text({ ...ping, jsonrpc: "1.0" }) }, 400, -32600],
  ["a text content type", { headers: { "content-type": "text/plain" } }, 415, -32000],
  ["a content type that only resembles JSON", { headers: { "content-type": "application/jsonp" } }, 415, -32000],
  ["a client that accepts only JSON", { headers: { accept: "application/json" } }, 406, -32000],
  ["a listener that accepts only JSON", { method: "GET", headers: { accept: "application/json" } }, 406, -32000],
  ["a request without a session", { headers: none }, 400, -32000],
  ["a listener without a session", { method: "GET", headers: none }, 400, -32000],
  ["a DELETE without a session", { method: "DELETE", headers: none }, 400, -32000],
  ["an unknown session", { headers: { "mcp-session-id": "nobody" } }, 404, -32001],
  ["a DELETE of an unknown session", { method: "DELETE", headers: { "mcp-session-id": "nobody" } }, 404, -32001],
  ["an unknown version", { headers: { "mcp-protocol-version": "1999-01-01" } }, 400, -32000],
  ["initialize in a session", { body: text(initialize()) }, 400, -32600],
  ["initialize in a batch", { body: text([initialize(), ping]), headers: none }, 400, -32600],
  ["initialize without its parameters", { body: text({ ...ping, method: "initialize" }), headers: none }, 400, -32000],
  ["a batch in a version without batches", { body: batch }, 400, -32600],
  ["an empty batch", { body: "[]" }, 400, -32600],
  ["an event that was never sent", { method: "GET", headers: { "last-event-id": "999-1" } }, 400, -32000],
  ["an invalid event id", { method: "GET", headers: { "last-event-id": "x" } }, 400, -32000],
  ["a body that is too large", { body: text({ ...ping, params: { a: "x".repeat(17 * 1_048_576) } }) }, 413, -32000],
  ["another host name", { headers: { host: "evil.example.com" } }, 403, -32000],
  ["an address of another machine", { headers: { host: "192.168.1.1:80" } }, 403, -32000],
  ["a page of another origin", { headers: { origin: "http://evil.example.com" } }, 403, -32000],
  ["a page with the origin null", { headers: { origin: "null" } }, 403, -32000],
  ["a valid request", {}, 200, undefined],
  ["a valid request of a page on this machine", { headers: { origin: "http://localhost:6274" } }, 200, undefined],
  ["a valid request by another name of this machine", { headers: { host: "localhost:1" } }, 200, undefined],
  [
    "a valid request with a charset",
    { headers: { "content-type": "application/json; charset=utf-8" } },
    200,
    undefined,
  ],
  ["a valid request that accepts anything", { headers: { accept: "*/*" } }, 200, undefined],
  ["a valid request of an older version", { headers: { "mcp-protocol-version": "2025-03-26" } }, 200, undefined],
  ["a notification", { body: text({ jsonrpc: "2.0", method: "notifications/roots/list_changed" }) }, 202, undefined],
  ["an answer that is not awaited", { body: text({ jsonrpc: "2.0", id: 77, result: {} }) }, 202, undefined],
])("%s gets its status and error code", async (_, request, status, code) => {
  const { response, error, ...answer } = await send(request);
  await response.text().catch(() => {});
  expect([answer.status, error?.code]).toEqual([status, code] as never);
  if (code !== undefined) expect(error?.message.length).toBeGreaterThan(10);
  if (status === 405) expect(response.headers.get("allow")).toBe("GET, POST, DELETE");
  // The session works after any request.
  expect(await resultText(await session.post(executeRequest(8, "return 8")))).toBe("8");
});

test("a body without Content-Length is read up to the limit only", async () => {
  const piece = new Uint8Array(1_048_576).fill(32);
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > 1_000) controller.close();
      else controller.enqueue(piece);
    },
  });
  const headers = { ...json, "mcp-session-id": session.id };
  const answer = await fetch(door.url, { method: "POST", headers, body }).then(
    ({ status }) => status,
    () => "closed",
  );
  expect([413, "closed"]).toContain(answer);
  expect(sent).toBeLessThan(200);
});

test("headers of unlimited size are refused", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(new URL(door.url).port), "127.0.0.1");
  socket.once("data", (data) => resolve(data.toString().split("\r\n")[0] ?? ""));
  socket.write(`GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"x".repeat(200_000)}\r\n\r\n`);
  expect(await promise).toStartWith("HTTP/1.1 431");
  socket.destroy();
});

test("a request with the id of a running request is refused, and the running one continues", async () => {
  const first = await session.post(executeRequest(20, afterSignal("'first'")));
  expect((await session.post(executeRequest(20, "return 2"))).status).toBe(400);
  folder.write(signalFile, "");
  expect(await resultText(first)).toBe("first");
});

test("a batch is answered in the only version that has batches", async () => {
  const old = await rawSession(door.url, "2025-03-26");
  const response = await old.post([ping, { ...ping, id: 2 }, { jsonrpc: "2.0", method: "notifications/x" }]);
  const ids = (await Array.fromAsync(eventsOf(response))).map(({ message }) => message?.id);
  expect(ids.sort()).toEqual([1, 2]);
  expect((await old.post([{ jsonrpc: "2.0", method: "notifications/x" }])).status).toBe(202);
});

test("a stream begins with an event id for clients that can resume, whatever version they send with a single request", async () => {
  const eventsIn = async (each: RawSession, headers: object = {}) => {
    const response = await fetch(door.url, {
      method: "POST",
      headers: { ...json, "mcp-session-id": each.id, ...headers },
      body: text(ping),
    });
    return Array.fromAsync<SentEvent>(eventsOf(response));
  };
  const primer = { id: expect.any(String), retry: "1000", data: "" };
  expect(await eventsIn(session, { "mcp-protocol-version": "2025-03-26" })).toEqual([primer, expect.anything()]);
  expect(await eventsIn(await rawSession(door.url, "2025-06-18"))).toEqual([expect.anything()]);
});

test.each(["/health", "/healthz", "/readyz"])("%s answers without a token, but only to allowed hosts", async (path) => {
  await using guarded = await httpServe(folder, ["--allow-host", "mcp.example.com"], { token: "kept" });
  const health = async (host?: string) => {
    const response = await fetch(new URL(path, guarded.url), host === undefined ? {} : { headers: { host } });
    return [response.status, response.ok ? await response.json() : undefined];
  };
  expect(await health()).toEqual([200, { status: "ok" }]);
  expect(await health("mcp.example.com")).toEqual([200, { status: "ok" }]);
  for (const host of [
    "balancer.example.com",
    "rebound.evil:80",
    "127.0.0.1.evil.example",
    "localhost.evil",
    "a@b",
    "a@localhost",
  ]) {
    expect([host, ...(await health(host))]).toEqual([host, 403, undefined]);
  }
});

test("/readyz says why no requests can be answered", async () => {
  using project = temporaryFolder();
  project.write("claudikins.json", { mcpServers: { demo: { command: "claudikins", args: ["demo"] } } });
  const ready = async ({ url }: { url: string }) => {
    const response = await fetch(new URL("/readyz", url));
    return [response.status, await response.json()];
  };
  // Without CI, a project must be trusted.
  await using locked = await httpServe(project, [], { env: { CI: "" } });
  expect(await ready(locked)).toEqual([503, { status: "locked" }]);
  expect((await fetch(new URL("/healthz", locked.url))).status).toBe(200);
  const file = project.write("no-folder", "");
  await using storeless = await httpServe(project, [], { env: { XDG_DATA_HOME: file } });
  expect(await ready(storeless)).toEqual([503, { status: "no store" }]);
});

describe("the stored token", () => {
  const begin = (url: string, authorization?: string) =>
    fetch(url, {
      method: "POST",
      headers: { ...json, ...(authorization === undefined ? {} : { authorization }) },
      body: text(initialize()),
    });
  const kept = () => httpServe(folder, [], { token: "kept" });

  test("is required by default, and its file is private", async () => {
    await using guarded = await kept();
    const file = guarded.tokenFile ?? "";
    const token = readFileSync(file, "utf8").trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const wrong of [undefined, "Bearer x", `Basic ${token}`, `Bearer ${token}0`, `Bearer ${token.slice(1)}`]) {
      expect([wrong, (await begin(guarded.url, wrong)).status]).toEqual([wrong, 401]);
    }
    const right = await begin(guarded.url, `Bearer ${token}`);
    expect(right.status).toBe(200);
    // A session id is not enough.
    const headers = { ...json, "mcp-session-id": right.headers.get("mcp-session-id") ?? "" };
    expect((await fetch(guarded.url, { method: "POST", headers, body: text(ping) })).status).toBe(401);
    await using host = await sdkHost(guarded.url, {}, { headers: { authorization: `Bearer ${token}` } });
    expect(await host.execute("return 1")).toBe("1");
    // The token is not in any file that others can read.
    const { stdout: processes } = await runProgram(["ps", "-eo", "args"]);
    expect(processes).not.toContain(token);
    expect(guarded.stderr()).not.toContain(token);
  });

  test("stays the same, and processes that start together create one token", async () => {
    using fresh = temporaryFolder();
    fresh.write("claudikins.json", { mcpServers: {} });
    const doors = await Promise.all([1, 2, 3].map(() => httpServe(fresh, [], { token: "kept" })));
    const token = readFileSync(doors[0]?.tokenFile ?? "", "utf8").trim();
    for (const each of doors) expect((await begin(each.url, `Bearer ${token}`)).status).toBe(200);
    for (const each of doors) await each[Symbol.asyncDispose]();
    await using again = await httpServe(fresh, [], { token: "kept" });
    expect((await begin(again.url, `Bearer ${token}`)).status).toBe(200);
  });

  test("is shown once to a person at a terminal, and never in a log", async () => {
    using fresh = temporaryFolder();
    fresh.write("claudikins.json", { mcpServers: {} });
    const env = { XDG_DATA_HOME: `${fresh.path}/data`, CLAUDIKINS_LOG: "debug" };
    const options = { cwd: fresh.path, env };
    const command = [...claudikinsCommand, "serve", "--http", "0"];
    const file = `${fresh.path}/data/claudikins/http-token`;
    {
      await using first = atTerminal(command, options);
      await first.see("http-token");
      expect(first.text).toContain(`Token, shown only once: ${readFileSync(file, "utf8").trim()}`);
    }
    {
      await using second = atTerminal(command, options);
      await second.see("http-token");
      expect(second.text).not.toContain(readFileSync(file, "utf8").trim());
    }
    rmSync(file);
    await using third = await httpServe(fresh, ["--verbose"], { token: "kept", env });
    await begin(third.url, `Bearer ${readFileSync(file, "utf8").trim()}`);
    expect(third.stderr()).not.toContain(readFileSync(file, "utf8").trim());
  });

  test.each([
    ["can be read by others", (file: string) => chmodSync(file, 0o644), "Others can read or change"],
    ["can be changed by others", (file: string) => chmodSync(file, 0o620), "Others can read or change"],
    ["is empty", (file: string) => writeFileSync(file, "\n"), "has no usable token"],
    ["has a token that is too short", (file: string) => writeFileSync(file, "short"), "has no usable token"],
    [
      "is a link",
      (file: string) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
      "Cannot read the token",
    ],
  ])("is not read from a file that %s", async (_, spoil, message) => {
    using fresh = temporaryFolder();
    fresh.write("claudikins.json", { mcpServers: {} });
    const file = fresh.write("data/claudikins/http-token", "0123456789abcdef-token\n");
    chmodSync(file, 0o600);
    spoil(file);
    const env = { XDG_DATA_HOME: `${fresh.path}/data` };
    const ended = await runProgram([...claudikinsCommand, "serve", "--http", "0"], { cwd: fresh.path, env });
    expect([ended.exitCode, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(message);
    expect(ended.stderr).not.toContain("0123456789abcdef");
  });

  test("is not required with --without-token, which warns", async () => {
    const child = Bun.spawn([...claudikinsCommand, "serve", "--http", "0", "--without-token"], {
      cwd: folder.path,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const { value } = await child.stdout.getReader().read();
    expect((await begin(new TextDecoder().decode(value).trim())).status).toBe(200);
    child.kill("SIGTERM");
    expect(await child.stderr.text()).toContain("warning: no token is required: anyone");
    expect(await child.exited).toBe(0);
  });
});

describe("a token", () => {
  const token = "0123456789abcdef-token";

  test("from a variable is required", async () => {
    await using guarded = await httpServe(folder, ["--token-env", "MY_TOKEN"], { env: { MY_TOKEN: token } });
    const begin = (headers: object = {}) =>
      fetch(guarded.url, { method: "POST", headers: { ...json, ...headers }, body: text(initialize()) });
    const without = await begin();
    expect([without.status, without.headers.get("www-authenticate")]).toEqual([401, 'Bearer realm="claudikins"']);
    for (const wrong of [`Bearer ${token}x`, "Bearer x", `Basic ${token}`, token]) {
      const refused = await begin({ authorization: wrong });
      expect([wrong, refused.status]).toEqual([wrong, 401]);
      expect(await refused.text()).not.toContain(token);
    }
    const refused = await begin({ authorization: "Bearer wrong" });
    expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="claudikins", error="invalid_token"');
    await using host = await sdkHost(guarded.url, {}, { headers: { authorization: `Bearer ${token}` } });
    expect(await host.execute("return 1")).toBe("1");
    // A session id is not enough.
    const headers = { ...json, "mcp-session-id": host.transport.sessionId! };
    expect((await fetch(guarded.url, { method: "DELETE", headers })).status).toBe(401);
    expect((await fetch(new URL("/other", guarded.url))).status).toBe(401);
    expect(guarded.stderr()).toBe("");
  });

  test("from a file may end with a line break", async () => {
    folder.write("token", `${token}\n`);
    await using guarded = await httpServe(folder, ["--token-file", "token"]);
    await using host = await sdkHost(guarded.url, {}, { headers: { Authorization: `bearer ${token}` } });
    expect(await host.execute("return 1")).toBe("1");
  });

  test.each([
    ["is required if other machines can call", ["--http", "0.0.0.0:0"], 2, "a token is required"],
    ["is required for any address that is not loopback", ["--http", "[::]:0"], 2, "a token is required"],
    [
      "must be in the named variable",
      ["--http", "0", "--token-env", "NO_SUCH"],
      2,
      "The variable NO_SUCH has no token",
    ],
    ["must be in the named file", ["--http", "0", "--token-file", "none"], 2, "Cannot read the token"],
    ["must be long enough", ["--http", "0", "--token-env", "SHORT"], 2, "16 or more ASCII characters"],
    ["must come from one place only", ["--http", "0", "--token-env", "A", "--without-token"], 2, "only one of"],
    ["needs --http", ["--token-env", "SHORT"], 2, "--token-env works only with --http"],
    ["cannot be turned off without --http", ["--without-token"], 2, "--without-token works only with --http"],
    [
      "does not make up for an invalid --allow-host",
      ["--http", "0", "--allow-host", "a b"],
      2,
      "--allow-host takes a host name",
    ],
    [
      "does not make up for an invalid --allow-origin",
      ["--http", "0", "--allow-origin", "app.example.com/x"],
      2,
      "--allow-origin takes",
    ],
  ])("%s", async (_, flags, exitCode, message) => {
    const options = { cwd: folder.path, env: { SHORT: "too-short" } };
    const { stdout, stderr, ...ended } = await runProgram([...claudikinsCommand, "serve", ...flags], options);
    expect([ended.exitCode, stdout]).toEqual([exitCode, ""]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("too-short");
  });
});

describe("other machines", () => {
  test("can call by any address of this machine, and by the names in --allow-host", async () => {
    await using open = await httpServe(folder, ["--without-token", "--allow-host", "mcp.example.com"], {
      port: "0.0.0.0:0",
    });
    const { port } = new URL(open.url);
    const url = `http://127.0.0.1:${port}/mcp`;
    const begin = async (headers: object, to = url) => {
      const response = await fetch(to, { method: "POST", headers: { ...json, ...headers }, body: text(initialize()) });
      await response.text();
      return response.status;
    };
    expect(await begin({})).toBe(200);
    expect(await begin({ host: `10.1.2.3:${port}` })).toBe(200);
    expect(await begin({ host: "MCP.example.com" })).toBe(200);
    expect(await begin({ host: "mcp.example.com", origin: "https://mcp.example.com" })).toBe(200);
    expect(await begin({ host: "evil.example.com" })).toBe(403);
    expect(await begin({ host: "mcp.example.com", origin: "http://localhost:3000" })).toBe(403);
    const other = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === "IPv4" && !each.internal);
    if (other) expect(await begin({}, `http://${other.address}:${port}/mcp`)).toBe(200);
  });

  test("can send pages of the origins in --allow-origin, with CORS headers", async () => {
    const origin = "https://app.example.com";
    await using open = await httpServe(folder, ["--allow-origin", origin]);
    const asked = await fetch(open.url, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
    expect(asked.headers.get("access-control-allow-headers")).toContain("mcp-session-id");
    const begun = await fetch(open.url, { method: "POST", headers: { ...json, origin }, body: text(initialize()) });
    expect([begun.status, begun.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    expect(begun.headers.get("access-control-expose-headers")).toContain("mcp-session-id");
    // Refusals have the headers too, otherwise the page could not read the error.
    const refused = await fetch(open.url, { method: "POST", headers: { ...json, origin }, body: "{" });
    expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([400, origin]);
    const foreign = { origin: "https://other.example.com", "access-control-request-method": "POST" };
    expect((await fetch(open.url, { method: "OPTIONS", headers: foreign })).status).toBe(403);
  });
});
