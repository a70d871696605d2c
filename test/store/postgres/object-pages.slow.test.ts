/** The images of programs whose pages are in the bucket, or some of them in the database. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ExecutionWriter } from "../../../src/store/jobs.ts";
import { PostgresStore } from "../../../src/store/postgres/store.ts";
import type { Owner } from "../../../src/store/replicas.ts";
import { type BucketFixture, bucketFixture } from "../../support/bucket.ts";
import { eventually } from "../../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { rejection } from "../contract/rejection.ts";
import { batchOf, fresh, imageOf, roomBytes, save, textsOf } from "../contract/stored.ts";

setDefaultTimeout(60_000);

/** Text that is large enough for the bucket. */
const large = (word: string) => `${word} `.repeat(40_000);

describe.skipIf(postgresNote !== "")(`pages in a bucket${postgresNote}`, () => {
  let server: PostgresFixture;
  let bucket: BucketFixture;
  let url: string;
  let one: PostgresStore;
  let other: PostgresStore;
  let writer: ExecutionWriter;
  let reader: ExecutionWriter;
  let owner: Owner;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    bucket = await bucketFixture();
    url = await server.database();
    [one, other] = [
      new PostgresStore(url, { bucket: bucket.open() }),
      new PostgresStore(url, { bucket: bucket.open() }),
    ];
    [writer, reader] = [one.executions.writer(), other.executions.writer()];
    owner = await one.takeOwner();
  });
  afterEach(async () => {
    for (const each of [writer, reader]) await each.close();
    await owner[Symbol.asyncDispose]();
    for (const each of [one, other]) await each[Symbol.asyncDispose]();
    await bucket[Symbol.asyncDispose]();
  });

  const image = async (versions: Record<number, number>) => textsOf(await reader.do("image", "e1", imageOf(versions)));
  const number = async (statement: string) => Number(Object.values((await server.run(url, statement))[0]!)[0]);
  const objects = () => number("SELECT count(*) FROM claudikins.objects");
  const inDatabase = () => number("SELECT count(*) FROM claudikins.pages WHERE page < 16777216");
  const countedBytes = () => number("SELECT sum(bytes) FROM claudikins.stored_bytes");
  const hasObjects = (count: number) =>
    eventually(async () => (await bucket.names()).length === count && (await objects()) === count);

  test("are read together with pages in the database, and an object goes with its last page", async () => {
    const first = { 0: large("zero"), 1: large("one"), 2: large("two") };
    await save(writer, "e1", fresh(owner.name), { texts: first, records: ["a record"] });
    await hasObjects(1);
    expect([await inDatabase(), await image({ 0: 1, 1: 1, 2: 1 })]).toEqual([0, first]);
    // A few changes stay in the database.
    await save(writer, "e1", { owner: owner.name }, { texts: { 1: "small" }, version: 2, isWhole: false });
    expect(await image({ 0: 1, 1: 2, 2: 1 })).toEqual({ ...first, 1: "small" });
    expect([await inDatabase(), (await bucket.names()).length]).toEqual([1, 1]);
    const again = { 0: large("zero again"), 2: large("two again") };
    await save(writer, "e1", { owner: owner.name }, { texts: again, version: 3, isWhole: false });
    await hasObjects(1);
    expect(await image({ 0: 3, 1: 2, 2: 3 })).toEqual({ ...again, 1: "small" });
    await writer.do("ended", "e1", { outcome: '{"ok":true}', value: undefined, isOk: true });
    await hasObjects(0);
    expect(await number("SELECT count(*) FROM claudikins.object_pages")).toBe(0);
  });

  test("count as bytes of the room, until they are deleted", async () => {
    await save(writer, "e0", fresh(owner.name), { texts: { 0: "small" } });
    const before = await countedBytes();
    const text = large("zero");
    await save(writer, "e1", fresh(owner.name), { texts: { 0: text } });
    expect(await countedBytes()).toBeGreaterThanOrEqual(before + text.length);
    await writer.do("remove", "e1", {});
    expect(await countedBytes()).toBe(before);
  });

  test("are not used if they are gone, or are not what was stored", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: large("zero") } });
    const [name = ""] = await bucket.names();
    const wrong = "a page of the program is missing in the bucket, or is not what was stored";
    await bucket.open().put(name, Buffer.from(large("evil")));
    expect((await rejection(image({ 0: 1 }))).message).toBe(wrong);
    await bucket.remove(name);
    expect((await rejection(image({ 0: 1 }))).message).toBe(wrong);
    expect((await rejection(image({ 0: 1, 5: 1 }))).message).toBe("a page of the program is missing");
  });

  test("are deleted if a first save was interrupted and its process has died, and not before", async () => {
    await writer.do("begin", "e1", { owner: owner.name });
    await writer.do("pages", "e1", { ...batchOf({ 0: large("zero") }), version: 1, roomBytes });
    await reader.deleteOrphans((name) => other.isAlive(name));
    expect(await objects()).toBe(1);
    await reader.deleteOrphans(async () => false);
    await hasObjects(0);
  });

  test("are deleted if a program that was taken over does not need them", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: large("zero") } });
    // A save that its process did not end.
    await writer.do("pages", "e1", { ...batchOf({ 0: large("later") }), version: 2, roomBytes });
    await hasObjects(2);
    await using taker = await other.takeOwner();
    await owner[Symbol.asyncDispose]();
    expect(await reader.do("claim", "e1", { owner: taker.name, from: owner.name })).toBe(true);
    await reader.do("records", "e1", { ...imageOf({ 0: 1 }), records: 0 });
    await hasObjects(1);
    expect(await image({ 0: 1 })).toEqual({ 0: large("zero") });
  });

  test("are not taken by a process without the bucket, and it removes their rows", async () => {
    await save(writer, "e1", fresh(owner.name), { texts: { 0: large("zero") } });
    await using without = new PostgresStore(url);
    const without1 = without.executions.writer();
    await using taker = await without.takeOwner();
    await owner[Symbol.asyncDispose]();
    const claim = without1.do("claim", "e1", { owner: taker.name, from: owner.name });
    expect(await rejection(claim)).toMatchObject({ code: "BUCKET_UNAVAILABLE" });
    expect(await image({ 0: 1 })).toEqual({ 0: large("zero") });
    await without1.do("remove", "e1", {});
    await without1.close();
    expect([await number("SELECT count(*) FROM claudikins.object_pages"), await objects()]).toEqual([0, 1]);
    await other.files.tidy(Date.now());
    await hasObjects(0);
  });

  test("have their tables in a database of an earlier version", async () => {
    await save(writer, "e0", fresh(owner.name), { texts: { 0: "small" } });
    const before = await countedBytes();
    await server.run(url, "DROP TABLE claudikins.objects, claudikins.object_pages");
    for (const event of ["insert", "update", "delete"]) {
      await server.run(url, `DROP FUNCTION claudikins.count_object_pages_${event}`);
    }
    await using later = new PostgresStore(url, { bucket: bucket.open() });
    const laterWriter = later.executions.writer();
    await using laterOwner = await later.takeOwner();
    await save(laterWriter, "e1", fresh(laterOwner.name), { texts: { 0: large("zero") } });
    expect(await image({ 0: 1 })).toEqual({ 0: large("zero") });
    expect(await countedBytes()).toBeGreaterThan(before + large("zero").length - 1);
    await laterWriter.close();
  });
});
