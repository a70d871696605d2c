/** What several replicas change together in one Postgres. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { verify } from "../../../src/store/audit/verify.ts";
import { Connections } from "../../../src/store/postgres/connections.ts";
import { migrate } from "../../../src/store/postgres/schema.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { asking } from "../approvals.ts";
import { storedCall } from "../contract/call-log.ts";

setDefaultTimeout(60_000);

const by = { user: "ada", pid: 1, terminal: false };

describe.skipIf(postgresNote !== "")(`four replicas on one Postgres${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Does the work in four replicas at once. */
  async function inFour<T>(url: string, work: (store: PostgresStore) => Promise<T>): Promise<T[]> {
    const stores = Array.from({ length: 4 }, () => new PostgresStore(url));
    try {
      return await Promise.all(stores.map(work));
    } finally {
      for (const each of stores) await each[Symbol.asyncDispose]();
    }
  }

  test("add the tables that a schema of an earlier version lacks, and write at once", async () => {
    const url = await server.database();
    await inFour(url, (store) => store.counts.add({ at: 1, period: null, json: "{}" }));
    await server.run(url, "DROP TABLE claudikins.call_log");
    const call = storedCall("a", Date.now());
    await inFour(url, (store) => store.callLog.add([{ ...call, id: crypto.randomUUID() }]));
    const [read] = await inFour(url, (store) => store.callLog.read({}, { order: "newest first", limit: 10 }));
    expect(read).toHaveLength(4);
    const [counts] = await inFour(url, (store) => store.counts.all());
    expect(counts).toHaveLength(4);
  });

  test("write records and calls while another one holds back its own", async () => {
    const url = await server.database();
    const keeping = { count: 10, ageMs: 1_000_000, bytes: 1_000_000 };
    const none = { config: null, door: null, person: null, agent: null, program: null };
    const facts = { ...none, state: "done", tools: "", words: "" };
    const record = (id: string) => ({ id, at: 1, summary: "{}", rest: "{}", facts });
    const call = storedCall("a", Date.now());
    await inFour(url, (store) => store.callLog.add([{ ...call, id: crypto.randomUUID() }]));
    const connections = new Connections(url, migrate);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    // A transaction that does not end, as of a replica that stands still.
    const holding = connections.transaction(async (querying) => {
      await querying.run(
        "INSERT INTO claudikins.records (id, at, bytes, summary, rest) VALUES ('held', 1, 1, '{}', '{}')",
      );
      await querying.run("DELETE FROM claudikins.records WHERE id = 'old'");
      const columns =
        "id, at, started_by, server, tool, outcome, duration_ms, waited_ms, argument_bytes, result_bytes, sent";
      const values = `'held', ${call.at}, 'exec', 's', 't', 'ok', 1, 0, 1, 1, 1`;
      await querying.run(`INSERT INTO claudikins.call_log (${columns}) VALUES (${values})`);
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await inFour(url, (store) => store.records.add([record(crypto.randomUUID())], keeping, 1));
    await inFour(url, (store) => store.callLog.add([{ ...call, id: crypto.randomUUID() }]));
    await inFour(url, (store) =>
      store.callLog.add([{ ...call, id: crypto.randomUUID(), at: call.at + 3 * 86_400_000 }]),
    );
    held.resolve();
    await holding;
    await connections[Symbol.asyncDispose]();
    const [calls] = await inFour(url, (store) => store.callLog.read({}, { order: "newest first", limit: 100 }));
    expect(calls).toHaveLength(13);
    const [summaries] = await inFour(url, (store) => store.records.summaries());
    expect(summaries).toHaveLength(5);
  });

  test("never take more than a quota has, and take nothing if another quota of the call is used up", async () => {
    const url = await server.database();
    const span = { from: 0, to: 60_000, amount: 1 };
    const calls = { key: "calls", ...span, limit: 100 };
    const bytes = { key: "bytes", ...span, amount: 0, limit: 5 };
    const taken = await inFour(url, (store) =>
      Promise.all(Array.from({ length: 40 }, () => store.quotas.take([bytes, calls]))),
    );
    expect(taken.flat().filter((each) => each === undefined)).toHaveLength(100);
    expect(taken.flat().filter((each) => each === calls)).toHaveLength(60);
    await inFour(url, (store) => store.quotas.add([{ ...bytes, amount: 2 }]));
    expect((await inFour(url, (store) => store.quotas.take([calls, bytes]))).every((each) => each === calls)).toBe(
      true,
    );
    expect(await server.run(url, "SELECT key, amount FROM claudikins.quota_uses ORDER BY key")).toEqual([
      { key: "bytes", amount: 8 },
      { key: "calls", amount: 100 },
    ]);
    await using store = new PostgresStore(url);
    await store.quotas.take([{ ...calls, from: 60_000, to: 120_000 }]);
    // The clock of another replica is still in the span that has ended here.
    expect(await store.quotas.take([calls])).toBe(calls);
    await store.quotas.take([{ ...calls, from: 3_660_000, to: 3_720_000 }]);
    expect(await server.run(url, "SELECT key, from_at FROM claudikins.quota_uses ORDER BY from_at")).toEqual([
      { key: "calls", from_at: 60_000 },
      { key: "calls", from_at: 3_660_000 },
    ]);
  });

  test("decide each call once, with one line in a chain that holds", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    const ids: string[] = [];
    for (let call = 0; call < 10; call++) {
      const [row] = await store.approvals.change({ type: "ask", asking: asking({ call }), tool: "t" }, by, 1_000);
      ids.push(row!.id);
    }
    const decision = { state: "approved", scope: "once", by: "page" } as const;
    const decided = await inFour(url, (each) =>
      Promise.all(ids.map((id) => each.approvals.change({ type: "decide", id, decision }, by, 1_500))),
    );
    expect(decided.flat(2)).toHaveLength(10);
    expect(await verify(store.audit)).toMatchObject({ entries: 10, notes: [] });
    expect(await store.approvals.argumentsOf(ids[0]!)).toBe(undefined);
  });

  test("cannot change or remove lines of the audit log, and notice when an administrator does", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    for (const config of ["one", "two", "three"]) await store.audit.add([{ decision: "trusted", config }], by);
    const changes = [
      "UPDATE claudikins.audit SET line = '{}'",
      "DELETE FROM claudikins.audit WHERE place = 3",
      "TRUNCATE claudikins.audit",
      "UPDATE claudikins.audit_end SET place = 2",
      "DELETE FROM claudikins.audit_end",
    ];
    for (const each of changes) {
      expect(await server.run(url, each).catch((error: Error) => error.message)).toBe(
        "lines of the audit log are only added",
      );
    }
    expect(await verify(store.audit)).toMatchObject({ entries: 3 });
    await server.run(url, "ALTER TABLE claudikins.audit DISABLE TRIGGER USER");
    await server.run(url, "DELETE FROM claudikins.audit WHERE place = 3");
    expect((await verify(store.audit)).problem).toBe("entries 3 to 3 are missing");
    await store.audit.add([{ decision: "trusted", config: "four" }], by);
    expect((await verify(store.audit)).problem).toBe("entry 3 records that entries before it were removed: 1");
  });

  test("do not wait for long for one that stands still within a transaction", async () => {
    const url = await server.database();
    await using still = new Connections(url, migrate);
    await using store = new PostgresStore(url);
    await store.audit.requireWritable();
    const [held, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const standing = still.transaction(async (querying) => {
      await querying.get("SELECT place FROM claudikins.audit_end FOR UPDATE");
      held.resolve();
      await isOver.promise;
      await querying.run("UPDATE claudikins.audit_end SET place = 7");
      throw new Error("it is over");
    });
    standing.catch(() => {});
    await held.promise;
    await store.audit.add([{ decision: "trusted", config: "one" }], by);
    expect(await verify(store.audit)).toMatchObject({ entries: 1, notes: [] });
    await still[Symbol.asyncDispose]();
    isOver.resolve();
    expect(await standing.catch((error) => error.code)).toBe("DATABASE_UNAVAILABLE");
    expect(await store.audit.lastPlace()).toBe(1);
  });
});
