/** A workspace of several replicas whose contents are in a bucket. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { bucketFixture } from "../../support/bucket.ts";
import { eventually } from "../../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../../support/postgres.ts";
import { config, person, workspaceReplicas } from "./replicas.ts";

setDefaultTimeout(120_000);

describe.skipIf(postgresNote !== "")(`a shared workspace with a bucket${postgresNote}`, () => {
  let server: PostgresFixture;
  beforeAll(async () => {
    server = await postgresFixture();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** Replicas, their bucket, and what the database has. */
  async function team() {
    const replicas = await workspaceReplicas(server);
    const bucket = await bucketFixture();
    const numbers = async (statement: string) => Object.values((await server.run(replicas.url, statement))[0]!)[0];
    return {
      ...replicas,
      bucket,
      /** A replica that has the bucket. */
      start: (name: string) => replicas.start(name, bucket.open()),
      startWithout: (name: string) => replicas.start(name),
      run: (statement: string) => server.run(replicas.url, statement),
      partsInDatabase: () => numbers("SELECT count(*)::int FROM claudikins.file_parts"),
      objects: () => numbers("SELECT count(*)::int FROM claudikins.objects"),
      [Symbol.asyncDispose]: async () => {
        await replicas[Symbol.asyncDispose]();
        await bucket[Symbol.asyncDispose]();
      },
    };
  }
  type Team = Awaited<ReturnType<typeof team>>;

  /** Objects are removed after the transaction that no longer needs them. */
  const hasObjects = ({ bucket, objects }: Team, count: number) =>
    eventually(async () => (await bucket.names()).length === count && (await objects()) === count);

  test("has files of one replica at the others; replaced and removed ones leave no object", async () => {
    await using all = await team();
    const [one, other] = [all.start("one"), all.start("other")];
    const large = randomBytes(2_500_000);
    one.write("notes.txt", "first");
    one.write("large.bin", large);
    one.write("empty.txt", "");
    mkdirSync(one.at("folder"));
    expect(await one.workspace.keep()).toEqual([]);
    await other.workspace.bring();
    expect(readFileSync(other.at("large.bin")).equals(large)).toBe(true);
    expect(other.files()).toMatchObject({ "notes.txt": "first", "empty.txt": "", folder: null });
    // Three parts of the large one, and one of the small one.
    expect(await all.bucket.names()).toHaveLength(4);
    expect(await all.partsInDatabase()).toBe(0);
    other.write("notes.txt", "second, and longer");
    other.remove("large.bin");
    expect(await other.workspace.keep()).toEqual([]);
    await one.workspace.bring();
    expect(one.files()).toEqual({ "notes.txt": "second, and longer", "empty.txt": "", folder: null });
    await hasObjects(all, 1);
    expect(all.warnings).toEqual([]);
  });

  test("reads contents that were stored before there was a bucket, and stores new ones there", async () => {
    await using all = await team();
    const before = all.startWithout("before");
    before.write("old.txt", "of the database");
    before.write("changed.txt", "of the database");
    await before.workspace.keep();
    const [one, other] = [all.start("one"), all.start("other")];
    await one.workspace.bring();
    expect(one.files()).toEqual({ "changed.txt": "of the database", "old.txt": "of the database" });
    one.write("changed.txt", "of the bucket, now");
    await one.workspace.keep();
    await other.workspace.bring();
    expect(other.files()).toEqual({ "changed.txt": "of the bucket, now", "old.txt": "of the database" });
    expect([await all.partsInDatabase(), (await all.bucket.names()).length]).toEqual([1, 1]);
    // A replica without the bucket says so, and changes nothing.
    const without = all.startWithout("without");
    const error = await without.workspace.bring().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "BUCKET_UNAVAILABLE",
      message: "The content is in the bucket of the team, and CLAUDIKINS_BUCKET is not set here",
    });
    expect(await all.bucket.names()).toHaveLength(1);
  });

  test("fails within a set time while the bucket is away, loses nothing, and works again afterwards", async () => {
    await using all = await team();
    const [one, other] = [all.start("one"), all.start("other")];
    one.write("notes.txt", "kept");
    await one.workspace.keep();
    await all.bucket.stop();
    const begunAt = performance.now();
    const error = await other.workspace.bring().catch((thrown: unknown) => thrown);
    expect(performance.now() - begunAt).toBeLessThan(17_000);
    expect(error).toMatchObject({ code: "BUCKET_UNAVAILABLE", message: "The bucket cannot be reached" });
    expect(Bun.inspect(error)).not.toContain("S3RVER");
    one.write("notes.txt", "changed meanwhile");
    one.write("more.txt", "new meanwhile");
    const [problem = ""] = await one.workspace.keep();
    expect(problem).toBe("what was changed in ./workspace is on this replica alone: The bucket cannot be reached");
    expect(one.files()).toEqual({ "more.txt": "new meanwhile", "notes.txt": "changed meanwhile" });
    await all.bucket.start();
    await other.workspace.bring();
    expect(other.files()).toEqual({ "notes.txt": "kept" });
    expect(await one.workspace.keep()).toEqual([]);
    await other.workspace.bring();
    expect(other.files()).toEqual({ "more.txt": "new meanwhile", "notes.txt": "changed meanwhile" });
  });

  test("is tidied: objects that a process has left, and objects that could not be removed", async () => {
    await using all = await team();
    const one = all.start("one");
    one.write("notes.txt", "text");
    one.write("gone.txt", "text");
    await one.workspace.keep();
    // A process that has died after it has stored a content, and before it has stored the row.
    const content = one.store.files.newContent();
    await one.store.files.addParts([{ content, part: 0, bytes: Buffer.from("unfinished") }]);
    await one.store.files.tidy(Date.now());
    expect(await all.bucket.names()).toHaveLength(3);
    await all.bucket.stop();
    one.remove("gone.txt");
    await one.workspace.keep();
    await one.store[Symbol.asyncDispose]();
    await all.bucket.start();
    await all.run("UPDATE claudikins.objects SET added_at = now() - interval '2 hours'");
    await all.start("other").store.files.tidy(Date.now());
    expect(await all.bucket.names()).toEqual([expect.not.stringContaining(content)]);
    expect(await all.objects()).toBe(1);
    const again = all.start("again");
    await again.workspace.bring();
    expect(again.files()).toEqual({ "notes.txt": "text" });
  });

  test("refuses to refer to contents that were tidied away because their process stood still", async () => {
    await using all = await team();
    const { store } = all.start("one");
    const content = store.files.newContent();
    await store.files.addParts([{ content, part: 0, bytes: Buffer.from("text") }]);
    await all.run("UPDATE claudikins.objects SET added_at = now() - interval '2 hours'");
    await all.start("other").store.files.tidy(Date.now());
    const row = {
      path: "notes.txt",
      kind: "file",
      size: 4,
      sha256: "0".repeat(64),
      content,
      changedAt: 1_000,
    } as const;
    const place = { id: "0".repeat(64), config, person: undefined };
    const refused = store.files.commit(place, [{ ...row, base: null }], { entries: 10, bytes: 1_000 });
    expect(await refused.catch((thrown: unknown) => thrown)).toMatchObject({ code: "FILE_NOT_WRITABLE" });
    expect(await all.run("SELECT path FROM claudikins.files")).toEqual([]);
  });

  test("goes from the bucket with its person", async () => {
    await using all = await team();
    const one = all.start("one");
    one.write("notes.txt", "private");
    one.write("more.txt", "private too");
    await one.workspace.keep();
    expect(await all.bucket.names()).toHaveLength(2);
    expect(await one.store.files.clear({ config, person: person.id }, Date.now())).toBe(2);
    expect(await all.bucket.names()).toEqual([]);
    expect(await all.objects()).toBe(0);
  });

  test("a person is deleted while the bucket is away, and the contents when it is back", async () => {
    await using all = await team();
    const one = all.start("one");
    one.write("notes.txt", "private");
    await one.workspace.keep();
    await all.bucket.stop();
    expect(await one.store.files.clear({ config, person: person.id }, Date.now())).toBe(1);
    expect(await all.run("SELECT path FROM claudikins.files")).toEqual([]);
    await all.bucket.start();
    expect(await all.bucket.names()).toHaveLength(1);
    await one.store.files.tidy(Date.now());
    expect(await all.bucket.names()).toEqual([]);
  });

  test("leaves a file as it is if its content is gone from the bucket, or is another one", async () => {
    await using all = await team();
    const [one, other] = [all.start("one"), all.start("other")];
    one.write("notes.txt", "text");
    await one.workspace.keep();
    await other.workspace.bring();
    one.write("notes.txt", "text of the second version");
    await one.workspace.keep();
    await hasObjects(all, 1);
    await all.bucket.remove((await all.bucket.names())[0]!);
    await other.workspace.bring();
    expect(other.files()).toEqual({ "notes.txt": "text" });
    expect(all.warnings).toEqual(["The content of ./workspace/notes.txt is not stored any more"]);
  });
});
