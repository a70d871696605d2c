/** Hostile paths, methods and headers at a replica that does not have the session: nothing leads anywhere but to the other replica's own paths. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { type HttpServe, httpServe, initialize, json, rawSession } from "../../support/http-serve.ts";
import { oidcFixture } from "../../support/oidc.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { bearer } from "../../support/person-hosts.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();

/** A service of the network that only the replicas can reach. */
async function insideService() {
  const requests: string[] = [];
  const listening = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => {
      requests.push(String(data));
      const body = "cloud secret";
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
    });
  }).listen(0, "127.0.0.1");
  await once(listening, "listening");
  const { port } = listening.address() as AddressInfo;
  return { requests, port, [Symbol.dispose]: () => void listening.close() };
}

/** Sends bytes as they are. Returns the whole answer. */
async function sentRaw(url: string, head: string, body = ""): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (data) => (answer += data));
  socket.on("error", () => {});
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`);
  await Promise.race([once(socket, "close"), Bun.sleep(1_000)]);
  socket.destroy();
  return answer;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** Request targets that a resolver of addresses could take for `to`, a host with a port. */
const targetsTo = (to: string) => [
  `//${to}/latest/meta-data`,
  `///${to}/latest`,
  `/\\${to}/latest`,
  `/\\\\${to}/latest`,
  `\\\\${to}/latest`,
  `/%2f%2f${to}/latest`,
  `/%2F${to}/latest`,
  `/%5c%5c${to}/latest`,
  `/.//${to}/latest`,
  `/mcp/..//${to}/latest`,
  `/mcp/%2e%2e//${to}/latest`,
  `//u:p@${to}/latest`,
  `/@${to}/latest`,
  `@${to}/latest`,
  `:@${to}/latest`,
  `http://${to}/latest`,
  `https://${to}/latest`,
  `http:${to}/latest`,
  `http:\\\\${to}/latest`,
  `//${to}/mcp`,
  `//${to}/qa`,
  `//${to}//mcp`,
  `//${to}?/mcp`,
  `//${to}#/mcp`,
  `//${to}/metrics`,
  `//${to}/ui/connected?state=x`,
  `/http://${to}/latest`,
  `/mcp;//${to}/latest`,
  `/mcp//${to}/latest`,
  `/mcp%00//${to}/latest`,
  `/metrics`,
  `/nothing`,
  `/mcp/`,
  `/qa/../../${to}`,
  `${to}`,
  `*`,
];

const methods = ["GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"];

describe.skipIf(postgresNote !== "")(`hostile requests at replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const configure = (more: object = {}) =>
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      doors: { qa: { servers: ["newer"] } },
      ...more,
    });

  /** Sends every method to every target at `at`, with the session of another replica. */
  async function attack(at: HttpServe, inside: { port: number; requests: string[] }, headers: Record<string, string>) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "ping" });
    const wrong: unknown[] = [];
    for (const target of targetsTo(`127.0.0.1:${inside.port}`)) {
      const answers = await Promise.all(
        methods.map((method) => {
          const head = [`${method} ${target} HTTP/1.1`, `host: ${new URL(at.url).host}`, ...lines].join("\r\n");
          return sentRaw(at.url, head, ["POST", "PUT", "PATCH"].includes(method) ? body : "");
        }),
      );
      for (const [index, answer] of answers.entries()) {
        const status = statusOf(answer);
        // The metrics of this replica are off, and only its own answer to OPTIONS has no content.
        const isRefused = (status >= 400 && status < 500) || (methods[index] === "OPTIONS" && status === 204);
        if (!isRefused || answer.includes("cloud secret")) wrong.push([methods[index], target, answer.slice(0, 200)]);
      }
    }
    // An absolute address names the path only.
    expect(wrong).toEqual([]);
    expect(inside.requests).toEqual([]);
    expect(at.stderr()).not.toContain("claudikins failed");
  }

  const sessionHeaders = (id: string) => ({ ...json, "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" });

  test("a session of another replica lets nobody reach an address of his choice, with any method or path", async () => {
    configure();
    using inside = await insideService();
    await using set = await openReplicas(folder, server, 2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    await attack(b, inside, sessionHeaders(session.id));
    // The session itself is still passed on.
    const answer = await fetch(b.url, {
      method: "POST",
      headers: sessionHeaders(session.id),
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('"result":{}')]);
  });

  test("neither does that of a person, whose token also opens no other door through another replica", async () => {
    await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } });
    configure({
      auth: { oidc: { issuer: provider.issuer, audience: "https://tools.example.com", doors: { qa: ["qa-team"] } } },
    });
    using inside = await insideService();
    await using set = await openReplicas(folder, server, 2, { token: "kept" });
    const [a, b] = set.all as [HttpServe, HttpServe];
    const headers = bearer(await provider.token("ann"));
    const session = await rawSession(new URL("/qa", a.url).href, "2025-11-25", {}, "agent", headers);
    await attack(b, inside, { ...sessionHeaders(session.id), ...headers });
    const at = (path: string) =>
      fetch(new URL(path, b.url), {
        method: "POST",
        headers: { ...sessionHeaders(session.id), ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
      });
    expect([(await at("/qa")).status, (await at("/mcp")).status, (await at("/ops")).status]).toEqual([200, 404, 404]);
  });

  test("a request that is passed on has the headers that MCP needs, whatever a client adds, and no client can claim to be a replica", async () => {
    configure();
    await using set = await openReplicas(folder, server, 2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    const host = new URL(b.url).host;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    const lines = Object.entries(sessionHeaders(session.id)).map(([name, value]) => `${name}: ${value}`);
    const post = (...more: string[]) =>
      sentRaw(b.url, [`POST /mcp HTTP/1.1`, `host: ${host}`, ...lines, ...more].join("\r\n"), body).then(statusOf);
    expect(await post()).toBe(200);
    expect(await post("x-forwarded-for: 10.0.0.1", "x-forwarded-host: evil.example", "forwarded: for=10.0.0.1")).toBe(
      200,
    );
    // RFC 9110, section 7.6.1: headers that Connection names are about one connection.
    expect(await post("connection: mcp-protocol-version, x-other", "x-other: 1", "upgrade: websocket")).toBe(200);
    expect(await post("claudikins-forwarded: e30.AAAA")).toBe(403);
    for (const name of [`evil.example`, `u@${host}`, `${host}/x`, `${host}\\x`, `${host}?x`, `${host}#x`]) {
      const head = [`POST /mcp HTTP/1.1`, `host: ${name}`, ...lines].join("\r\n");
      expect([name, statusOf(await sentRaw(b.url, head, body))]).toEqual([name, 403]);
    }
    expect(
      statusOf(
        await sentRaw(
          b.url,
          [`POST /mcp HTTP/1.1`, `host: ${host}`, "host: evil.example", ...lines].join("\r\n"),
          body,
        ),
      ),
    ).toBe(403);
  });

  test("without a database, odd targets are refused as well", async () => {
    configure();
    using inside = await insideService();
    await using serve = await httpServe(folder);
    await attack(serve, inside, { ...json, "mcp-session-id": "none" });
    const begun = await fetch(serve.url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });
    expect(begun.status).toBe(200);
  });
});
