/** The database as the main thread uses it: it notices changes of others, and creates nothing for a question. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { megabyte } from "../../../src/base/units.ts";
import { countRows } from "../../../src/store/counts.ts";
import { Connection, storeLookMs } from "../../../src/store/sqlite/connection.ts";
import { run } from "../../../src/store/work.ts";
import { eventually } from "../../support/eventually.ts";
import { ownFolder } from "../../support/own-folder.ts";

const folder = ownFolder();
let store: Connection;
let other: Connection;
beforeEach(() => {
  const file = join(folder.path, "data", "executions.sqlite");
  store = new Connection(file);
  other = new Connection(file);
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const add = (to: Connection) => countRows(to).add({ at: 1, period: null, json: "{}" });
const count = async (from: Connection) => (await countRows(from).all()).length;

test("a question creates no database", async () => {
  expect([store.exists, await count(store), existsSync(join(folder.path, "data"))]).toEqual([false, 0, false]);
  await add(other);
  expect([store.exists, await count(store)]).toEqual([true, 1]);
});

test("a change of another connection is noticed until nobody listens, and one of our own is not", async () => {
  await add(store);
  let changes = 0;
  const stop = store.onChange(() => {
    changes += 1;
  });
  // What changed before the first look may have been missed.
  await eventually(() => changes === 1);
  await add(store);
  await Bun.sleep(2 * storeLookMs);
  expect(changes).toBe(1);
  await add(other);
  await eventually(() => changes === 2);
  stop();
  await add(other);
  await Bun.sleep(2 * storeLookMs);
  expect(changes).toBe(2);
});

test("a write that throws changes nothing", async () => {
  await add(store);
  const write = store.write(function* () {
    yield* run("DELETE FROM claudikins.counts");
    throw new Error("no");
  });
  await expect(write).rejects.toThrow("no");
  expect(await count(other)).toBe(1);
});

test("a long write-ahead log is copied into the database and emptied", async () => {
  const text = "x".repeat(megabyte / 2);
  for (let at = 0; at < 60; at++) await countRows(store).add({ at, period: null, json: `"${text}"` });
  const sizeOf = (ending: string) => statSync(`${store.file}${ending}`).size;
  const before = sizeOf("-wal");
  expect(before).toBeGreaterThan(16 * megabyte);
  await eventually(async () => {
    await add(store);
    return sizeOf("-wal") < before / 2;
  });
  expect(await count(other)).toBeGreaterThan(60);
});

test("a store that was closed can be used again", async () => {
  await add(store);
  await store[Symbol.asyncDispose]();
  await add(store);
  expect(await count(store)).toBe(2);
});
