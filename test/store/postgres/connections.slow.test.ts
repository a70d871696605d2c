/** Connections to Postgres that are lost, refused or cut, and the schema that they find. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { verify } from "../../../src/store/audit/verify.ts";
import { databaseRetryMs } from "../../../src/store/limits.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { schemaVersion } from "../../../src/store/tables.ts";
import { eventually } from "../../support/eventually.ts";
import { type PostgresFixture, password, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { runProgram } from "../../support/process.ts";
import { cuttingProxy } from "./cutting-proxy.ts";
import { saved, stored } from "./executions.ts";

setDefaultTimeout(60_000);

const by = { user: "ada", pid: 1, terminal: false };
const span = { key: "calls", from: 0, to: 60_000, amount: 1 };

describe.skipIf(postgresNote !== "")(`connections to Postgres${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Writes of several kinds, until `isOver`. Checks that each has taken effect once. */
  async function writeUntil(isOver: () => boolean, url: string): Promise<void> {
    const stores = [new PostgresStore(url), new PostgresStore(url)];
    let written = 0;
    const write = async (store: PostgresStore, name: string) => {
      for (let number = 0; !isOver(); number++) {
        await store.audit.add([{ decision: "trusted", config: `${name} ${number}` }], by);
        expect(await store.quotas.take([{ ...span, limit: 1e9 }])).toBe(undefined);
        await store.counts.add({ at: number, period: null, json: "{}" });
        written += 1;
      }
    };
    await Promise.all(stores.flatMap((store, index) => ["a", "b"].map((name) => write(store, `${name}${index}`))));
    expect(written).toBeGreaterThan(10);
    const [store] = stores;
    expect(await verify(store!.audit)).toMatchObject({ entries: written, notes: [] });
    expect(await store!.counts.all()).toHaveLength(written);
    expect(await server.run(url, "SELECT amount FROM claudikins.quota_uses")).toEqual([{ amount: written }]);
    for (const each of stores) await each[Symbol.asyncDispose]();
  }

  test("may be cut again and again: each write takes effect, and takes effect once", async () => {
    const url = await server.database();
    let isOver = false;
    const working = writeUntil(() => isOver, url);
    let cut = 0;
    for (let round = 0; round < 15; round++) {
      await Bun.sleep(200);
      cut += await server.cut(url);
    }
    isOver = true;
    await working;
    expect(cut).toBeGreaterThan(20);
  });

  test("may be away for longer: programs are saved when the database is back, and everything else fails", async () => {
    await using store = new PostgresStore(await server.database());
    const owner = await store.takeOwner();
    const writer = store.executions.writer();
    await stored(writer, "a", owner.name);
    const restarting = server.restart(Bun.sleep(databaseRetryMs + 2_000));
    // The connections are lost before the save begins.
    await Bun.sleep(500);
    const saving = writer.do("save", "a", { ...saved(owner.name), version: 2 });
    const counting = store.counts.add({ at: 1, period: null, json: "{}" });
    const refused = expect(counting).rejects.toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    await restarting;
    await saving;
    await refused;
    expect(await store.executions.get("a")).toMatchObject({ isSaved: true, state: "open" });
    expect(await store.counts.all()).toEqual([]);
    await owner[Symbol.asyncDispose]();
  });

  test("may be lost with the server, which is started again", async () => {
    const url = await server.database();
    let isOver = false;
    const working = writeUntil(() => isOver, url);
    await Bun.sleep(300);
    await server.restart();
    await Bun.sleep(500);
    isOver = true;
    await working;
  });

  test("tell listeners of changes again after the server was away, and nothing on stderr", async () => {
    const url = await server.database();
    const program = `import { PostgresStore } from ${JSON.stringify(require.resolve("../../../src/store/postgres/store.ts"))};
      await using store = new PostgresStore(${JSON.stringify(url)});
      const stop = store.onChange(() => console.log("told"));
      await store.checkWritable();
      await Bun.stdin.text();
      stop();`;
    const child = Bun.spawn([process.execPath, "-e", program], { stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    let told = 0;
    const reading = (async () => {
      for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream()))
        told += chunk.split("told").length - 1;
    })();
    await eventually(() => told === 1);
    await server.restart(Bun.sleep(2_000));
    await eventually(() => told === 2);
    await server.run(url, "NOTIFY claudikins");
    await eventually(() => told === 3);
    child.stdin.end();
    await reading;
    expect([await child.exited, await child.stderr.text()]).toEqual([0, ""]);
  });

  test("keep the leases that could not be renewed while the server was away", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using owner = await store.takeOwner();
    await server.run(url, `UPDATE claudikins.owners SET expires_at = now() - interval '1 minute'`);
    await server.restart();
    expect(await store.isAlive(owner.name)).toBe(true);
    expect(await store.isAlive("another process")).toBe(false);
  });

  test.each(["before", "after"] as const)(
    "may be cut %s the server commits: the write takes effect once",
    async (when) => {
      const url = await server.database();
      await using direct = new PostgresStore(url);
      await direct.checkWritable();
      await using proxy = await cuttingProxy(server.port, when);
      const { pathname } = new URL(url);
      await using store = new PostgresStore(
        `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${proxy.port}${pathname}`,
      );
      await store.checkWritable();
      proxy.cutNext();
      expect(await store.quotas.take([{ ...span, limit: 1 }])).toBe(undefined);
      expect(proxy.cuts).toBe(1);
      proxy.cutNext();
      await store.audit.add([{ decision: "trusted", config: "one" }], by);
      expect(proxy.cuts).toBe(2);
      expect(await server.run(url, "SELECT amount FROM claudikins.quota_uses")).toEqual([{ amount: 1 }]);
      expect(await verify(direct.audit)).toMatchObject({ entries: 1 });
    },
  );

  test("from five processes to a new database make one schema", async () => {
    const url = await server.database();
    const program = `import { PostgresStore } from ${JSON.stringify(require.resolve("../../../src/store/postgres/store.ts"))};
      await using store = new PostgresStore(${JSON.stringify(url)});
      await store.checkWritable();
      console.log("ready");`;
    const all = Array.from({ length: 5 }, () => runProgram([process.execPath, "-e", program]));
    expect((await Promise.all(all)).map(({ stdout }) => stdout.trim())).toEqual(all.map(() => "ready"));
    expect(await server.run(url, "SELECT version FROM claudikins.schema_version")).toEqual([
      { version: schemaVersion },
    ]);
  });

  test("to a schema of a newer release work if this release may use it, and are refused otherwise", async () => {
    const url = await server.database();
    {
      await using store = new PostgresStore(url);
      await store.checkWritable();
    }
    await server.run(url, `UPDATE claudikins.schema_version SET version = ${schemaVersion + 1}`);
    {
      await using store = new PostgresStore(url);
      await store.checkWritable();
      expect(await store.isTooNew()).toBe(false);
    }
    await server.run(url, `UPDATE claudikins.schema_version SET oldest = ${schemaVersion + 1}`);
    await using store = new PostgresStore(url);
    expect(await store.isTooNew()).toBe(true);
    expect(await errorOf(store)).toMatchObject({ code: "VERSION_TOO_OLD" });
    expect(await server.run(url, "SELECT version FROM claudikins.schema_version")).toEqual([
      { version: schemaVersion + 1 },
    ]);
  });

  test("are refused with an explanation that has no password", async () => {
    const { pathname } = new URL(await server.database());
    await server.run(await server.database(), "CREATE ROLE guest LOGIN PASSWORD 'guest of tests'");
    const to = (user: string, secret: string, port = server.port, name = pathname) =>
      `postgres://${user}:${encodeURIComponent(secret)}@127.0.0.1:${port}${name}`;
    const cases = [
      [to("postgres", "a wrong password"), "The database refuses the user or the password of CLAUDIKINS_DATABASE"],
      [to("nobody", "a wrong password"), "The database refuses the user or the password of CLAUDIKINS_DATABASE"],
      [to("postgres", password, server.port, "/missing"), "The database that CLAUDIKINS_DATABASE names does not exist"],
      [to("guest", "guest of tests"), "The user of CLAUDIKINS_DATABASE has no right to use the schema claudikins"],
      [`${to("postgres", password)}?sslmode=require`, "The database cannot be reached with TLS"],
      [to("postgres", password, 9), "The database cannot be reached"],
    ] as const;
    for (const [url, message] of cases) {
      await using store = new PostgresStore(url);
      const error = await errorOf(store);
      expect(error).toMatchObject({ code: "DATABASE_UNAVAILABLE", message });
      expect(Bun.inspect(error)).not.toMatch(/password@|wrong password|of tests|127\.0\.0\.1/);
    }
  });
});

async function errorOf(store: PostgresStore): Promise<unknown> {
  return store.checkWritable().then(
    () => undefined,
    (error: unknown) => error,
  );
}
