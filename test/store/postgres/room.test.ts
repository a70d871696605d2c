/** The count of the bytes that stored programs have, against what they have: among several processes, after failures, and after an upgrade. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { Connections } from "../../../src/store/postgres/connections.ts";
import { Room } from "../../../src/store/postgres/room.ts";
import { migrate } from "../../../src/store/postgres/schema.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { add, fresh, roomBytes, save } from "../contract/stored.ts";

setDefaultTimeout(120_000);

/** What the count must be. */
const wanted = `SELECT ((SELECT coalesce(sum(octet_length(bytes)), 0) FROM claudikins.pages)
  + (SELECT coalesce(sum(octet_length(message) + coalesce(octet_length(message_text), 0) + coalesce(octet_length(answer_text), 0)), 0) FROM claudikins.calls)
  + (SELECT coalesce(sum(octet_length(request) + coalesce(octet_length(outcome), 0) + coalesce(octet_length(value), 0)), 0) FROM claudikins.executions)
  )::double precision AS bytes`;

describe.skipIf(postgresNote !== "")(`the count of stored bytes${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const bytesIn = async (url: string, statement: string) => (await server.run(url, statement))[0]!["bytes"] as number;
  const countedIn = (url: string) => bytesIn(url, "SELECT sum(bytes) AS bytes FROM claudikins.stored_bytes");

  /** One life of an execution: some stay, some end, some are removed. Jobs that fail are part of it. */
  async function live(store: PostgresStore, owner: string, id: string, seed: number): Promise<void> {
    const writer = store.executions.writer();
    const texts = { 1: "a".repeat(seed * 7), 2: "b".repeat(3_000), 3: "ü".repeat(seed) };
    if (seed % 2 === 0) await add(writer, id, owner);
    const about = seed % 2 === 0 ? { owner } : fresh(owner);
    await save(writer, id, about, { texts, records: ["one", "two".repeat(seed)], open: [1, 2] });
    await save(writer, id, { owner }, { texts: { 2: "c" }, open: [2], made: [], version: 2, isWhole: false });
    const answer = { call: 2, ok: true, value: "x".repeat(100 * seed), roomBytes } as never;
    await writer.do("answered", id, answer).catch(() => {});
    if (seed % 3 === 0) await writer.do("ended", id, { outcome: '{"ok":true}', value: "v".repeat(seed), isOk: true });
    if (seed % 3 === 1) await writer.do("remove", id, {});
    // Not its own any more.
    await writer.do("remove", "nothing", {}).catch(() => {});
  }

  test("equals their sum after the work of three processes at once", async () => {
    const url = await server.database();
    await using one = new PostgresStore(url);
    await using two = new PostgresStore(url);
    await using three = new PostgresStore(url);
    const stores = [one, two, three];
    const owners = await Promise.all(stores.map((store) => store.takeOwner()));
    await Promise.all(
      Array.from({ length: 45 }, (_, seed) => live(stores[seed % 3]!, owners[seed % 3]!.name, `e${seed}`, seed)),
    );
    const bytes = await countedIn(url);
    expect(bytes).toBe(await bytesIn(url, wanted));
    expect(bytes).toBeGreaterThan(1_000);
    await server.run(url, "DELETE FROM claudikins.executions; DELETE FROM claudikins.pages");
    expect(await countedIn(url)).toBe(0);
    for (const owner of owners) await owner[Symbol.asyncDispose]();
  });

  test("is not changed by a transaction that fails, and needs none of the tables that it counts", async () => {
    const url = await server.database();
    await using store = new PostgresStore(url);
    await using owner = await store.takeOwner();
    await add(store.executions.writer(), "e1", owner.name);
    const before = await countedIn(url);
    await using sql = new SQL(url, { max: 1 });
    const failing = sql.begin(async (transaction) => {
      await transaction.unsafe("UPDATE claudikins.executions SET outcome = repeat('x', 5000)");
      throw new Error("given up");
    });
    expect(await failing.catch(String)).toContain("given up");
    expect(await countedIn(url)).toBe(before);
    await using connections = new Connections(url, migrate);
    const room = new Room(connections);
    await sql.begin(async (transaction) => {
      await transaction.unsafe("LOCK TABLE claudikins.pages, claudikins.calls, claudikins.executions");
      expect([await room.has(before + 1, 1), await room.has(before, 1)]).toEqual([true, false]);
    });
  });

  test("begins with what an earlier version has stored, while that version still writes", async () => {
    const url = await server.database();
    await using earlier = new PostgresStore(url);
    await using owner = await earlier.takeOwner();
    const writer = earlier.executions.writer();
    for (let index = 0; index < 20; index++) await add(writer, `before${index}`, owner.name);
    // The schema of the earlier version does not count.
    const functions = await server.run(
      url,
      "SELECT proname FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE nspname = 'claudikins' AND proname LIKE 'count%'",
    );
    expect(functions).toHaveLength(12);
    await using sql = new SQL(url, { max: 1 });
    for (const { proname } of functions) await sql.unsafe(`DROP FUNCTION claudikins.${proname} CASCADE`);
    await sql.unsafe("DROP TABLE claudikins.stored_bytes, claudikins.objects, claudikins.object_pages");
    let isDone = false;
    let written = 0;
    const writing = (async () => {
      for (; !isDone || written < 5; written++) {
        await sql.unsafe("INSERT INTO claudikins.pages VALUES ($1, 1, 1, $2)", [
          `orphan${written}`,
          new Uint8Array(50),
        ]);
      }
    })();
    const upgraded = Array.from({ length: 3 }, () => new PostgresStore(url));
    await Promise.all(upgraded.map((store) => store.isAlive("nobody")));
    isDone = true;
    await writing;
    await live(upgraded[0]!, owner.name, "after", 4);
    const bytes = await countedIn(url);
    expect(bytes).toBe(await bytesIn(url, wanted));
    expect(bytes).toBeGreaterThan(50 * written);
    for (const store of upgraded) await store[Symbol.asyncDispose]();
  });
});
