/** Records of executions in the database: reading, limits, and another version's. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { isId, newId, timeOf } from "../../../src/programs/trace/id.ts";
import {
  readRecord,
  readSummaries,
  recordsKept,
  removeRecords,
  writeRecords,
} from "../../../src/programs/trace/store.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { recordOf } from "./records.ts";

const folder = ownFolder();
let store: SqliteStore;
beforeEach(() => {
  store = new SqliteStore(join(folder.path, "data", "executions.sqlite"));
});

const ids = async () => (await readSummaries(store)).map(({ id }) => id);

test("ids sort by time, and contain it", () => {
  const times = [Date.UTC(2026, 0, 1), Date.UTC(2026, 10, 21, 12), Date.UTC(2026, 10, 21, 12) + 1, Date.UTC(2049, 1)];
  const made = times.map(newId);
  expect(made.every(isId)).toBe(true);
  expect(made.toSorted()).toEqual(made);
  expect(made.map(timeOf)).toEqual(times);
  expect(["", "abc", "../etc/pas", "0123456ilo", "0t80fs9gjc4", "../etc/passwd/0123456789abcd"].filter(isId)).toEqual(
    [],
  );
});

test("ids of the same moment have nothing in common but their first eight letters, which are followed by 100 random bits", () => {
  // The times of ids that are made together differ, so these are made an hour apart.
  const made = Array.from({ length: 512 }, (_, hour) => newId(Date.UTC(2027, 0, 1) + hour * 3_600_000));
  expect(new Set(made.map((id) => id.length))).toEqual(new Set([28]));
  for (let place = 8; place < 28; place++) {
    const letters = new Map<string, number>();
    for (const id of made) letters.set(id[place]!, (letters.get(id[place]!) ?? 0) + 1);
    // Each of 32 letters is expected 16 times.
    expect([place, letters.size]).toEqual([place, 32]);
    expect(Math.max(...letters.values())).toBeLessThan(64);
  }
});

test("a record is read completely and as a summary, and its file is private", async () => {
  const record = recordOf({ hasContents: true, value: { text: "1\n2", isWhole: true } });
  await writeRecords(store, [record]);
  expect(await readRecord(store, record.id)).toEqual(record);
  const { code, timeline, moreCalls, logs, value, ...summary } = record;
  expect(await readSummaries(store)).toEqual([summary]);
  if (process.platform !== "win32") expect(statSync(store.file).mode & 0o777).toBe(0o600);
});

test("a record that was removed is gone, and the others stay", async () => {
  const records = [recordOf({}), recordOf({})];
  await writeRecords(store, records);
  await removeRecords(store, [records[0]!.id]);
  expect([await ids(), await readRecord(store, records[0]!.id)]).toEqual([[records[1]!.id], undefined]);
});

test("old records are removed by number, age and size", async () => {
  const now = Date.now();
  const records = [5, 4, 3, 2, 1].map((days) => recordOf({ at: now - days * 86_400_000 }));
  for (const record of records) await writeRecords(store, [record]);
  const youngest = records.map(({ id }) => id).reverse();
  const prune = (kept: Partial<typeof recordsKept>) => store.records.add([], { ...recordsKept, ...kept }, now);
  expect(await ids()).toEqual(youngest);
  await prune({ count: 4 });
  expect(await ids()).toEqual(youngest.slice(0, 4));
  await prune({ ageMs: 3.5 * 86_400_000 });
  expect(await ids()).toEqual(youngest.slice(0, 3));
  const { summary, rest } = (await store.records.get(youngest[0]!))!;
  await prune({ bytes: 2.5 * (summary.length + rest.length) });
  expect(await ids()).toEqual(youngest.slice(0, 2));
  await prune({ bytes: 1 });
  expect(await ids()).toEqual(youngest.slice(0, 1));
});

test("each write removes excess records", async () => {
  await writeRecords(store, [recordOf({ at: Date.now() - 20 * 86_400_000 })]);
  const young = recordOf({});
  await writeRecords(store, [young]);
  expect(await ids()).toEqual([young.id]);
});

test("records can be written concurrently", async () => {
  const records = Array.from({ length: 30 }, () => recordOf({}));
  const other = new SqliteStore(store.file);
  const kept = { ...recordsKept, count: 20 };
  await Promise.all(records.map((record, place) => writeRecords(place % 2 === 0 ? store : other, [record], kept)));
  expect(await ids()).toHaveLength(20);
});

test("records of a newer version are not listed, and refused when they are asked for", async () => {
  const [good, other] = [recordOf({}), recordOf({})];
  await writeRecords(store, [good]);
  const facts = {
    config: null,
    door: null,
    person: null,
    agent: null,
    program: null,
    state: "done",
    tools: "",
    words: "",
  };
  const row = { id: other.id, at: other.at, summary: JSON.stringify({ ...other, version: 2 }), rest: "{}", facts };
  await store.records.add([row], recordsKept, Date.now());
  expect(await ids()).toEqual([good.id]);
  expect(await readRecord(store, newId(0))).toBeUndefined();
  await expect(readRecord(store, other.id)).rejects.toThrow("too old for this record");
});

test("without a database, there are no records, and none is created", async () => {
  expect(await readSummaries(store)).toEqual([]);
  expect(existsSync(store.file)).toBe(false);
});
