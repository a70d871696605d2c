/** Records of executions on disk: reading, limits, and damage. */
import { beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isId, newId, timeOf } from "../../../src/programs/trace/id.ts";
import { defaultKeeping, prune, readRecord, readSummaries, writeRecord } from "../../../src/programs/trace/store.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { recordOf } from "./records.ts";

const folder = ownFolder();
let path: string;
beforeEach(() => {
  path = join(folder.path, "executions");
});

const ids = () => readSummaries(path).map(({ id }) => id);

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

test("ids of earlier versions, with two random letters, are still ids, and their records are read and removed", async () => {
  const record = recordOf({ id: `${newId(Date.now()).slice(0, 8)}jc` });
  expect([isId(record.id), Math.abs(timeOf(record.id) - Date.now()) < 60_000]).toEqual([true, true]);
  await writeRecord(path, record);
  expect([ids(), readRecord(path, record.id)]).toEqual([[record.id], record]);
  prune(path, Date.now() + defaultKeeping.ageMs + 3_600_000, defaultKeeping);
  expect(ids()).toEqual([]);
});

test("a record is read completely and as a summary, and its file is private", async () => {
  const record = recordOf({ hasContents: true, value: { text: "1\n2", isWhole: true } });
  await writeRecord(path, record);
  expect(readRecord(path, record.id)).toEqual(record);
  const { code, timeline, moreCalls, logs, value, ...summary } = record;
  expect(readSummaries(path)).toEqual([summary]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, `${record.id}.json`)).mode & 0o777).toBe(0o600);
});

test("old records are removed by number, age and size", async () => {
  const now = Date.now();
  const records = [5, 4, 3, 2, 1].map((days) => recordOf({ at: now - days * 86_400_000 }));
  for (const record of records) await writeRecord(path, record);
  const youngest = records.map(({ id }) => id).reverse();
  expect(ids()).toEqual(youngest);
  prune(path, now, { ...defaultKeeping, count: 4 });
  expect(ids()).toEqual(youngest.slice(0, 4));
  prune(path, now, { ...defaultKeeping, ageMs: 3.5 * 86_400_000 });
  expect(ids()).toEqual(youngest.slice(0, 3));
  const { size } = statSync(join(path, `${youngest[0]}.json`));
  prune(path, now, { ...defaultKeeping, bytes: 2.5 * size });
  expect(ids()).toEqual(youngest.slice(0, 2));
  prune(path, now, { ...defaultKeeping, bytes: 1 });
  expect(ids()).toEqual(youngest.slice(0, 1));
});

test("each write removes excess records, and files of killed processes", async () => {
  await writeRecord(path, recordOf({ at: Date.now() - 20 * 86_400_000 }));
  writeFileSync(join(path, "0123456789.json.999999999.0.tmp"), "{");
  writeFileSync(join(path, "mine.txt"), "mine");
  const young = recordOf({});
  await writeRecord(path, young);
  expect(readdirSync(path).sort()).toEqual([`${young.id}.json`, "mine.txt"].sort());
});

test("records can be written concurrently", async () => {
  const records = Array.from({ length: 30 }, () => recordOf({}));
  await Promise.all(records.map((record) => writeRecord(path, record, { ...defaultKeeping, count: 20 })));
  expect(ids()).toHaveLength(20);
});

test("damaged records and those of another version are skipped", async () => {
  const [good, bad, other] = [recordOf({}), recordOf({}), recordOf({})];
  await writeRecord(path, good);
  writeFileSync(join(path, `${bad.id}.json`), '{"version":1,"id":');
  writeFileSync(join(path, `${other.id}.json`), '{"version":0}\n{}\n');
  expect(ids()).toEqual([good.id]);
  expect([readRecord(path, bad.id), readRecord(path, other.id), readRecord(path, newId(0))]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(existsSync(join(path, `${bad.id}.json`))).toBe(true);
});

test("a missing folder has no records", () => {
  expect(readSummaries(path)).toEqual([]);
});
