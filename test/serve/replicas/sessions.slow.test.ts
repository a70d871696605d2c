/** Sessions of the revisions up to 2025-11-25 behind a balancer without affinity: every replica takes every request of every session. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { balancer } from "../../support/balancer.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import {
  eventsOf,
  executeRequest,
  type HttpServe,
  json,
  rawSession,
  resultText,
  sdkHost,
} from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram, testEnvironment } from "../../support/process.ts";
import { killReplica, openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(120_000);

const folder = ownFolder();
const form = { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } };
const ask = (method: string, params: object) => `(await asker.ask(${JSON.stringify({ method, params })})).result`;
const askName = `return ${ask("elicitation/create", form)}.content.name`;
const question = { messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }], maxTokens: 10 };

describe.skipIf(postgresNote !== "")(`sessions of replicas${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const configure = (more: object = {}) =>
    folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) }, ...more });

  /** Requests between replicas must not use this proxy, which does not exist. */
  const env = { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" };
  const replicas = (count: number) => openReplicas(folder, server, count, { env });

  test("calls, questions in the middle of programs, notifications and the end, at any replica", async () => {
    configure();
    await using set = await replicas(3);
    await using door = balancer(set.all.map(({ url }) => url));
    const hosts = await Promise.all(
      ["Ada", "Bob"].map((name) =>
        sdkHost(
          door.url,
          { elicitation: {}, sampling: {} },
          {
            prepare: (client: Client) => {
              client.setRequestHandler(ElicitRequestSchema, async () => {
                await Bun.sleep(50);
                return { action: "accept", content: { name } };
              });
              client.setRequestHandler(CreateMessageRequestSchema, () => ({
                role: "assistant",
                content: { type: "text", text: `four, says ${name}` },
                model: "m",
              }));
            },
          },
        ),
      ),
    );
    const [ada, bob] = hosts;
    for (let round = 0; round < 6; round++) {
      expect(await Promise.all(hosts.map((host) => host.execute(askName)))).toEqual(["Ada", "Bob"]);
    }
    expect(await ada!.execute(`return ${ask("sampling/createMessage", question)}.content.text`)).toBe("four, says Ada");
    expect((await bob!.client.listTools()).tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
    const cancel = new AbortController();
    const cancelled = bob!.execute("await sleep(60_000)", { signal: cancel.signal }).catch(String);
    await Bun.sleep(300);
    cancel.abort();
    expect(await cancelled).toContain("abort");
    expect(door.sent.every((count) => count > 3)).toBe(true);
    await ada!.transport.terminateSession();
    expect(await server.run(set.database, "SELECT count(*)::int AS open FROM claudikins.sessions")).toEqual([
      { open: 1 },
    ]);
    for (const host of hosts) await host.client.close();
  });

  test("a stream is resumed at another replica, and a session that was ended there is ended everywhere", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    const there = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const leaving = new AbortController();
    const response = await session.post(executeRequest(7, `await sleep(1_500); return "resumed"`), {
      signal: leaving.signal,
    });
    const { value: first } = await eventsOf(response).next();
    leaving.abort();
    const resumed = await fetch(b.url, { headers: { ...there, "last-event-id": first!.id! } });
    expect(await resultText(resumed)).toBe("resumed");
    expect((await fetch(b.url, { method: "DELETE", headers: there })).status).toBe(200);
    for (const { url } of set.all) {
      const gone = await fetch(url, { method: "POST", headers: there, body: JSON.stringify(executeRequest(8, "1")) });
      expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining("has ended")]);
    }
  });

  test("a request that was passed on to a replica that is killed ends with an error on the resumed stream", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const body = JSON.stringify(executeRequest(7, "await sleep(60_000)"));
    const events = eventsOf(await fetch(b.url, { method: "POST", headers, body }));
    const { value: first } = await events.next();
    await killReplica(a, server, set.database);
    expect(await events.next().catch(String)).toContain("closed");
    const resumed = await fetch(b.url, { headers: { ...headers, "last-event-id": first!.id! } });
    expect(JSON.parse(await resultText(resumed)).message).toContain("the answer is lost");
    // Events of the dead replica are never taken for those of the new streams.
    const next = await fetch(b.url, { method: "POST", headers, body: JSON.stringify(executeRequest(8, "return 8")) });
    expect(await resultText(next)).toBe("8");
  });

  test("a replica is killed: the other one continues its session, and says which answer is lost", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const toFirst = { first: true };
    await using door = balancer([a.url, b.url], () => (toFirst.first ? 0 : 1));
    await using host = await sdkHost(
      door.url,
      { elicitation: {} },
      {
        prepare: (client: Client) =>
          client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } })),
      },
    );
    expect(await host.execute(askName)).toBe("Ada");
    const { sessionId } = host.transport;
    const running = host.execute("await sleep(60_000)").catch(String);
    await Bun.sleep(500);
    await killReplica(a, server, set.database);
    toFirst.first = false;
    expect(await running).toContain("The replica that ran this request has ended, and the answer is lost");
    expect(await host.execute(askName)).toBe("Ada");
    expect(host.transport.sessionId).toBe(sessionId);
    expect(b.stderr()).toContain("started: 1 open");
  });

  test("a replica that ends in an orderly way leaves its sessions to the others at once", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    a.signal("SIGTERM");
    expect(await a.exited).toBe(0);
    const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const startedAt = performance.now();
    const post = (id: number) =>
      fetch(b.url, { method: "POST", headers, body: JSON.stringify(executeRequest(id, `return "here"`)) });
    const answers = await Promise.all([post(5), post(6)]);
    expect(await Promise.all(answers.map(resultText))).toEqual(["here", "here"]);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  test("one of several replicas takes a session over, and the others pass its requests on", async () => {
    configure();
    await using set = await replicas(3);
    const [a, b, c] = set.all as [HttpServe, HttpServe, HttpServe];
    const sessions = await Promise.all(Array.from({ length: 6 }, () => rawSession(a.url)));
    a.signal("SIGTERM");
    expect(await a.exited).toBe(0);
    const answers = await Promise.all(
      sessions.flatMap(({ id }) =>
        [b, c, b, c].map((replica, number) => {
          const headers = { ...json, "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
          const body = JSON.stringify(executeRequest(5 + number, `return "here"`));
          return fetch(replica.url, { method: "POST", headers, body });
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(await Promise.all(answers.map(resultText))).toEqual(answers.map(() => "here"));
  });

  test("a replica that stands still loses its sessions, and later passes their requests on", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    process.kill(a.pid, "SIGSTOP");
    const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const post = (url: string, id: number, code: string) =>
      fetch(url, { method: "POST", headers, body: JSON.stringify(executeRequest(id, code)) });
    // The replica takes the connection, so it might still get this one.
    const lost = await post(b.url, 1, `return "lost"`);
    expect([lost.status, await lost.text()]).toEqual([
      502,
      expect.stringContaining("nobody knows whether it took effect"),
    ]);
    expect(await resultText(await post(b.url, 2, `return "from b"`))).toBe("from b");
    const late = post(a.url, 3, `return "also from b"`);
    process.kill(a.pid, "SIGCONT");
    expect(await resultText(await late)).toBe("also from b");
    await eventually(() => /ended: 0 open/.test(a.stderr()));
    expect(a.stderr()).not.toContain("started: 2 open");
    expect(await resultText(await post(a.url, 4, `return "still from b"`))).toBe("still from b");
  });

  test("in direct mode, subscriptions are renewed, and the client is told to look at everything again", async () => {
    configure({ mode: "direct" });
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    let at = 0;
    await using door = balancer([a.url, b.url], () => at);
    let changes = 0;
    const updated: string[] = [];
    const prepare = (client: Client) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
        changes += 1;
      });
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
    };
    await using host = await sdkHost(door.url, {}, { prepare });
    const [resource] = (await host.client.listResources()).resources;
    await host.client.subscribeResource({ uri: resource!.uri });
    await host.client.setLoggingLevel("warning");
    await Bun.sleep(200);
    at = 1;
    a.signal("SIGTERM");
    await a.exited;
    expect((await host.client.listTools()).tools.length).toBeGreaterThan(2);
    await eventually(() => changes > 0 && updated.length > 0);
    expect(updated).toEqual([resource!.uri]);
    const kept = await server.run(set.database, "SELECT kept, adoptions FROM claudikins.sessions");
    expect(kept).toEqual([{ kept: JSON.stringify({ resources: [resource!.uri], level: "warning" }), adoptions: 1 }]);
    const touch = (await host.client.listTools()).tools.find(({ name }) => name.includes("touch-resource"))!.name;
    await host.client.callTool({ name: touch, arguments: { uri: "file:///a" } });
    await eventually(() => updated.length > 1);
  });

  test("a token finds its own sessions at every replica, and no other token's", async () => {
    configure();
    await using set = await openReplicas(folder, server, 3, { token: "kept" });
    const [a, b, c] = set.all as [HttpServe, HttpServe, HttpServe];
    const add = async (name: string) => {
      const { stdout } = await runProgram([...claudikinsCommand, "tokens", "add", "--name", name], {
        cwd: folder.path,
        env: testEnvironment({ XDG_DATA_HOME: join(folder.path, "data-0"), CLAUDIKINS_DATABASE: set.database }),
      });
      return stdout.trim();
    };
    const [ann, bob] = [await add("ann"), await add("bob")];
    const isKnown = async ({ url }: HttpServe) =>
      (await fetch(url, { method: "POST", headers: { authorization: `Bearer ${bob}` } })).status !== 401;
    for (const each of set.all) await eventually(() => isKnown(each), { withinMs: 5_000, everyMs: 100 });
    const session = await rawSession(a.url, "2025-11-25", {}, "raw", { authorization: `Bearer ${ann}` });
    const post = (url: string, token: string) =>
      fetch(url, {
        method: "POST",
        headers: { ...json, authorization: `Bearer ${token}`, "mcp-session-id": session.id },
        body: JSON.stringify(executeRequest(5, `return "mine"`)),
      });
    const both = async (url: string) => {
      const [own, other] = [await post(url, ann), await post(url, bob)];
      return [await resultText(own), other.status];
    };
    expect([await both(a.url), await both(b.url)]).toEqual([
      ["mine", 404],
      ["mine", 404],
    ]);
    a.signal("SIGTERM");
    await a.exited;
    // Another token cannot take the session over either.
    expect((await post(b.url, bob)).status).toBe(404);
    expect([await both(c.url), await both(b.url)]).toEqual([
      ["mine", 404],
      ["mine", 404],
    ]);
  });

  test.skipIf(Bun.which("haproxy") === null)(
    `HAProxy may send requests to any replica${Bun.which("haproxy") === null ? " (skipped: needs haproxy)" : ""}`,
    async () => {
      configure();
      await using set = await replicas(2);
      const port = freePort();
      const servers = set.all.map(({ url }, index) => `  server s${index} ${new URL(url).host}`);
      const lines = [
        "defaults",
        "  mode http",
        "  timeout connect 5s",
        "  timeout client 60s",
        "  timeout server 60s",
        "listen door",
        `  bind 127.0.0.1:${port}`,
        "  balance roundrobin",
        ...servers,
      ];
      const config = folder.write("haproxy.cfg", `${lines.join("\n")}\n`);
      const haproxy = Bun.spawn(["haproxy", "-q", "-db", "-f", config], { stdout: "ignore", stderr: "ignore" });
      try {
        const url = `http://127.0.0.1:${port}/mcp`;
        await eventually(() =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        );
        await using host = await sdkHost(
          url,
          { elicitation: {} },
          {
            prepare: (client: Client) =>
              client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } })),
          },
        );
        for (let round = 0; round < 6; round++) expect(await host.execute(askName)).toBe("Ada");
      } finally {
        haproxy.kill("SIGKILL");
        await haproxy.exited;
      }
    },
  );

  test("a request that claims to be passed on by a replica is refused without a proof", async () => {
    configure();
    await using set = await replicas(2);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    const headers = { ...json, "mcp-session-id": session.id, "mcp-protocol-version": "2025-11-25" };
    const proven = Buffer.from(
      JSON.stringify({
        to: "x",
        address: "10.0.0.1",
        at: Date.now(),
        method: "POST",
        path: "/mcp",
        host: new URL(b.url).host,
      }),
    ).toString("base64url");
    for (const forged of ["", "x", `${proven}.`, `${proven}.${"A".repeat(43)}`]) {
      const answer = await fetch(b.url, {
        method: "POST",
        headers: { ...headers, "claudikins-forwarded": forged || "." },
        body: JSON.stringify(executeRequest(3, "return 1")),
      });
      expect([answer.status, await answer.text()]).toEqual([
        403,
        expect.stringContaining("Only a replica of the same database"),
      ]);
    }
  });
});
