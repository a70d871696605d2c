/** A database that is locked or stands still: what needs it fails in time, and says why. A replica stays within its connections meanwhile. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { SQL } from "bun";
import { freezingProxy } from "../../store/postgres/freezing-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import {
  executeRequest,
  type HttpServe,
  httpServe,
  initialize,
  json,
  rawSession,
  resultText,
} from "../../support/http-serve.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { type PostgresFixture, password, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { processesLeft } from "../../support/process.ts";
import { openReplicas } from "../../support/replicas.ts";
import { fixture } from "../../support/servers.ts";

setDefaultTimeout(180_000);

const folder = ownFolder({ isShared: true });

/** The answer of `/readyz`, and how long it took. */
async function readiness({ url }: HttpServe) {
  const before = performance.now();
  const answer = await fetch(new URL("/readyz", url));
  const { status } = (await answer.json()) as { status: string };
  return { status, ms: performance.now() - before };
}

const isReady = async (each: HttpServe) => (await readiness(each)).status === "ok";

const begin = ({ url }: HttpServe) => fetch(url, { method: "POST", headers: json, body: JSON.stringify(initialize()) });

/** What a client gets that begins a session, and how long it takes. */
async function beginning(each: HttpServe) {
  const before = performance.now();
  const answer = await begin(each);
  const { error } = (await answer.json()) as { error?: { message: string } };
  return { status: answer.status, after: answer.headers.get("retry-after"), error, ms: performance.now() - before };
}

describe.skipIf(postgresNote !== "")(`a database that is slow${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const connectionsTo = async (database: string) => {
    const name = new URL(database).pathname.slice(1);
    const [row] = await server.run(
      database,
      `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = '${name}' AND application_name = 'claudikins'`,
    );
    return row!["count"] as number;
  };

  const configure = () =>
    folder.write("claudikins.json", {
      mcpServers: {
        asker: fixture("protocol", "stdio", folder.path),
        counting: fixture("counting", join(folder.path, "counts")),
      },
    });

  // The two wait for time limits of the same length.
  test.concurrent("a locked table: probes are answered in time, calls fail with what to do, leases hold, and all works again afterwards", async () => {
    configure();
    await using set = await openReplicas(folder, server, 1);
    const [a] = set.all as [HttpServe];
    const session = await rawSession(a.url);
    const locking = new SQL(set.database, { max: 1 });
    const leases = () =>
      server.run(set.database, "SELECT bool_and(expires_at > clock_timestamp())::text AS hold FROM claudikins.owners");
    await locking.begin(async (transaction) => {
      await transaction.unsafe("LOCK TABLE claudikins.sessions IN ACCESS EXCLUSIVE MODE");
      // More than there are connections.
      const refused = Array.from({ length: 20 }, () => beginning(a));
      const from = performance.now();
      let [most, last] = [0, 0];
      const watching = (async () => {
        // Longer than a lease.
        while (performance.now() - from < 17_000) {
          expect(await leases()).toEqual([{ hold: "true" }]);
          // Postgres may still count a connection that another one has just replaced.
          const now = await connectionsTo(set.database);
          most = Math.max(most, Math.min(now, last));
          last = now;
          expect((await readiness(a)).ms).toBeLessThan(2_000);
          await Bun.sleep(200);
        }
      })();
      for (const { status, after, error, ms } of await Promise.all(refused)) {
        expect([status, after]).toEqual([503, "5"]);
        expect(error!.message).toContain("database");
        expect(ms).toBeLessThan(30_000);
      }
      await watching;
      expect(most).toBeLessThanOrEqual(12);
    });
    await locking.close();
    await eventually(() => isReady(a), { withinMs: 15_000 });
    expect((await begin(a)).status).toBe(200);
    expect(await resultText(await session.post(executeRequest(3, `return "as before"`)))).toBe("as before");
  });

  test.concurrent("a database that stands still: no probe hangs, and calls are refused until it answers again", async () => {
    configure();
    await using proxy = await freezingProxy(server.port);
    const name = new URL(await server.database()).pathname;
    const url = `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}${name}`;
    const env = { CLAUDIKINS_DATABASE: url, CLAUDIKINS_LOG: "debug" };
    await using a = await httpServe(folder, ["--lame-duck", "0s"], { env });
    await eventually(() => isReady(a));
    proxy.freeze();
    const probes = await Promise.all(Array.from({ length: 10 }, () => readiness(a)));
    for (const { status, ms } of probes) {
      expect(status).toBe("no store");
      expect(ms).toBeLessThan(2_000);
    }
    const { status, error, ms } = await beginning(a);
    expect(status).toBe(503);
    expect(error!.message).toContain("database");
    expect(ms).toBeLessThan(30_000);
    proxy.thaw();
    await eventually(() => isReady(a), { withinMs: 30_000 });
    expect((await begin(a)).status).toBe(200);
  });

  test.each([undefined, "9"])("a replica with everything keeps to its connections: %p", async (allowed) => {
    configure();
    const more = allowed === undefined ? {} : { CLAUDIKINS_DATABASE_CONNECTIONS: allowed };
    await using set = await openReplicas(folder, server, 1, { env: { CLAUDIKINS_DAEMON: "on", ...more } });
    const [a] = set.all as [HttpServe];
    let most = 0;
    let isDone = false;
    const watching = (async () => {
      while (!isDone) {
        most = Math.max(most, await connectionsTo(set.database));
        await Bun.sleep(20);
      }
    })();
    // Sessions with calls, files, programs in the background and programs that wait.
    const sessions = await Promise.all(Array.from({ length: 12 }, () => rawSession(a.url)));
    await Promise.all(
      sessions.map(async (session, index) => {
        const call = `await counting.read({ name: "n${index}" }); fs.writeFileSync("./workspace/f${index}", "x".repeat(1000)); return "ok"`;
        for (let round = 1; round < 4; round++) {
          expect(await resultText(await session.post(executeRequest(round, call)))).toBe("ok");
        }
        const params = { name: "execute_code", arguments: { code: "await sleep(3_600_000)", background: true } };
        await resultText(await session.post({ jsonrpc: "2.0", id: 9, method: "tools/call", params }));
      }),
    );
    isDone = true;
    await watching;
    expect(most).toBeGreaterThan(4);
    expect(most).toBeLessThanOrEqual(Number(allowed ?? 12));
    // No daemon was started: only the replica has the database.
    a.signal("SIGKILL" as "SIGTERM");
    await a.exited;
    expect(await processesLeft(folder.path)).toEqual([]);
    await eventually(async () => (await connectionsTo(set.database)) === 0, { withinMs: 20_000 });
  });

  test("a setting that leaves nothing for work is refused with what is possible", async () => {
    configure();
    const env = { CLAUDIKINS_DATABASE: await server.database(), CLAUDIKINS_DATABASE_CONNECTIONS: "3" };
    const failed = await httpServe(folder, [], { env }).catch(String);
    expect(String(failed)).toContain("Set it to a number from 9 to 200");
  });
});
