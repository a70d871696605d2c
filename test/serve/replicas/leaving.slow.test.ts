/** The planned end of a replica: what clients, balancers and other replicas notice of it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { balancer } from "../../support/balancer.ts";
import { eventually } from "../../support/eventually.ts";
import {
  executeRequest,
  type HttpServe,
  initialize,
  json,
  rawSession,
  resultText,
  sdkHost,
} from "../../support/http-serve.ts";
import { openModernHost } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(180_000);

const folder = ownFolder();

const statusOf = async ({ url }: HttpServe, path: string) => {
  const answer = await fetch(new URL(path, url)).catch(() => undefined);
  return answer && [answer.status, ((await answer.json()) as { status: string }).status];
};

/** Sends one request of a session to a replica. */
const post = ({ url }: HttpServe, session: string, message: object) =>
  fetch(url, {
    method: "POST",
    headers: { ...json, "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" },
    body: JSON.stringify(message),
  });

describe.skipIf(postgresNote !== "")(`replicas that leave${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = (count: number, flags: string[] = []) => {
    folder.write("claudikins.json", { mcpServers: { asker: fixture("protocol", "stdio", folder.path) } });
    return openReplicas(folder, server, count, { flags });
  };
  const ownersOf = (database: string) =>
    server.run(database, "SELECT id, replica, adoptions FROM claudikins.sessions ORDER BY id");

  test("a rolling restart of three under load loses no session, breaks no request and answers no 404", async () => {
    await using set = await open(3, ["--lame-duck", "1s"]);
    const ready = new Set<string>();
    const look = async () => {
      for (const each of set.all) {
        const [status] = (await statusOf(each, "/readyz")) ?? [];
        if (status === 200) ready.add(each.url);
        else ready.delete(each.url);
      }
    };
    await look();
    let isDone = false;
    const looking = (async () => {
      while (!isDone) {
        await look();
        await Bun.sleep(50);
      }
    })();
    const targets = set.all.map(({ url }) => url);
    const choose = () => {
      const able = targets.flatMap((url, index) => (ready.has(url) ? [index] : []));
      return able[Math.floor(Math.random() * able.length)] ?? 0;
    };
    await using door = balancer(targets, choose);
    const hosts = await Promise.all(Array.from({ length: 12 }, () => sdkHost(door.url)));
    const ids = hosts.map(({ transport }) => transport.sessionId);
    const problems: string[] = [];
    let answered = 0;
    const working = hosts.map(async (host, index) => {
      for (let round = 0; !isDone; round++) {
        const value = `${index} ${round}`;
        // Some programs run for a while, so that a replica has to wait for them.
        const code = round % 5 === 0 ? `await sleep(300); return "${value}"` : `return "${value}"`;
        const text = await host.execute(code).catch(String);
        if (text === value) answered += 1;
        else problems.push(text);
        await Bun.sleep(20);
      }
    });
    for (const old of set.all.slice()) {
      const next = await set.start();
      targets.push(next.url);
      old.signal("SIGTERM");
      expect(await old.exited).toBe(0);
    }
    isDone = true;
    await Promise.all([...working, looking]);
    expect(problems).toEqual([]);
    expect(answered).toBeGreaterThan(100);
    expect(hosts.map(({ transport }) => transport.sessionId)).toEqual(ids);
    for (const each of set.all) expect(each.stderr()).not.toContain("The session does not exist");
    for (const { client } of hosts) await client.close();
  });

  test("the lame duck takes everything and says that it leaves; then it refuses and hands over, while the rest runs", async () => {
    await using set = await open(2, ["--lame-duck", "2s", "--grace", "60s"]);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const [idle, busy] = [await rawSession(a.url), await rawSession(a.url)];
    // Never waits, so it can be neither saved nor handed over before it ends.
    const running = post(
      a,
      busy.id,
      executeRequest(1, `for (const end = Date.now() + 8_000; Date.now() < end; ); return "done"`),
    );
    a.signal("SIGTERM");
    await eventually(async () => (await statusOf(a, "/readyz"))?.[1] === "leaving");
    expect([await statusOf(a, "/readyz"), await statusOf(a, "/health"), await statusOf(a, "/healthz")]).toEqual([
      [503, "leaving"],
      [503, "leaving"],
      [200, "ok"],
    ]);
    const inTime = await post(a, idle.id, executeRequest(1, `return "in time"`));
    expect(inTime.headers.get("connection")).toBe("close");
    expect(await resultText(inTime)).toBe("in time");
    const fresh = await fetch(a.url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });
    expect(fresh.status).toBe(200);
    await fresh.text();
    const refused = async () => {
      // Before, it has no session and is a bad request.
      const answer = await fetch(a.url, {
        method: "POST",
        headers: json,
        body: JSON.stringify(executeRequest(1, "1")),
      });
      await answer.body?.cancel();
      return [answer.status, answer.headers.get("retry-after")];
    };
    await eventually(async () => (await refused())[0] === 503, { withinMs: 10_000 });
    expect(await refused()).toEqual([503, "5"]);
    // The other one has the idle session before this one has ended.
    await eventually(async () => {
      const rows = await ownersOf(set.database);
      return rows.filter(({ replica }) => replica === "").length === 2;
    });
    expect(await resultText(await post(b, idle.id, executeRequest(2, `return "at b"`)))).toBe("at b");
    // A request that still comes to the old one is passed on.
    expect(await resultText(await post(a, idle.id, executeRequest(3, `return "still at b"`)))).toBe("still at b");
    expect(await resultText(await running)).toBe("done");
    expect(await a.exited).toBe(0);
    expect(await resultText(await post(b, busy.id, executeRequest(2, `return "also at b"`)))).toBe("also at b");
    expect((await ownersOf(set.database)).map(({ adoptions }) => adoptions).sort()).toEqual([0, 1, 1]);
  });

  test("programs that wait are saved when their replica leaves: agents of both eras get ids, and the outcome elsewhere", async () => {
    await using set = await open(2, ["--grace", "60s"]);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const code = (name: string) =>
      `fs.writeFileSync("./workspace/${name}", ""); const before = "kept"; await sleep(8_000); return before`;
    const session = await rawSession(a.url);
    await using modern = await openModernHost(folder, { url: a.url });
    const ofModern = modern.callTool({ name: "execute_code", arguments: { code: code("modern") } });
    const answers = [
      post(a, session.id, executeRequest(1, code("older"))).then(resultText),
      ofModern.then(JSON.stringify),
    ];
    const hasBegun = (name: string) => existsSync(join(folder.path, ".claudikins/workspace", name));
    await eventually(() => hasBegun("older") && hasBegun("modern"));
    const toldAt = performance.now();
    a.signal("SIGTERM");
    const texts = await Promise.all(answers);
    const [older, newer] = texts.map((text) => /resume\W+([\w-]+)/.exec(text)?.[1]);
    expect([older, newer]).not.toContain(undefined);
    expect(await a.exited).toBe(0);
    // Far less than the time for running requests.
    expect(performance.now() - toldAt).toBeLessThan(20_000);
    const params = { name: "execute_code", arguments: { resume: older } };
    const asked = await post(b, session.id, { jsonrpc: "2.0", id: 2, method: "tools/call", params });
    expect(await resultText(asked)).toBe("kept");
    await using again = await openModernHost(folder, { url: b.url });
    const outcome = await again.callTool({ name: "execute_code", arguments: { resume: newer } });
    expect(JSON.stringify(outcome)).toContain("kept");
  });

  test("a program that computes until the time is over is cancelled, and its agent is told", async () => {
    await using set = await open(2, ["--grace", "1s"]);
    const [a, b] = set.all as [HttpServe, HttpServe];
    const session = await rawSession(a.url);
    const running = post(
      a,
      session.id,
      executeRequest(1, `for (const end = Date.now() + 25_000; Date.now() < end; );`),
    );
    const answer = await running;
    const text = resultText(answer);
    a.signal("SIGTERM");
    expect(await text).toContain("cancelled");
    expect(await a.exited).toBe(0);
    expect(await resultText(await post(b, session.id, executeRequest(2, `return "at b"`)))).toBe("at b");
  });
});
