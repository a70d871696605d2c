/** What documents must do, in files and in a Postgres: two processes read and change the same ones. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { type DocumentChanges, type Documents, fileDocuments } from "../../src/base/documents.ts";
import { peopleFolder, tokensFile, userDataFolder } from "../../src/config/locations.ts";
import { PostgresDocuments } from "../../src/store/postgres/documents.ts";
import { eventually } from "../support/eventually.ts";
import { type PostgresFixture, postgresFixture, postgresNote } from "../support/postgres.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { rejection } from "./contract/rejection.ts";

setDefaultTimeout(60_000);

/** A process, with the environment that says where its data folder is. */
interface Process {
  documents: Documents;
  env: Record<string, string>;
}

let server: PostgresFixture | undefined;
beforeAll(async () => {
  if (postgresNote === "") server = await postgresFixture();
});
afterAll(() => server?.[Symbol.asyncDispose]());

async function processes(kind: string, folder: TemporaryFolder): Promise<[Process, Process] & AsyncDisposable> {
  if (kind === "files") {
    const env = { XDG_DATA_HOME: folder.path };
    const one = { documents: fileDocuments, env };
    return Object.assign([one, one] as [Process, Process], { [Symbol.asyncDispose]: async () => {} });
  }
  const database = await server!.database();
  // Nothing is in these folders: they only name the documents.
  const envOf = (name: string) => ({ XDG_DATA_HOME: join(folder.path, name), CLAUDIKINS_DATABASE: database });
  const [here, there] = [envOf("here"), envOf("there")];
  const [one, other] = [new PostgresDocuments(here), new PostgresDocuments(there)];
  const both: [Process, Process] = [
    { documents: one, env: here },
    { documents: other, env: there },
  ];
  const close = async () => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return Object.assign(both, { [Symbol.asyncDispose]: close });
}

const programs = ({ env }: Process) => join(userDataFolder(env), "programs", "shop");

/** Changes what is in the folder of programs. */
function change(process: Process, work: (changes: DocumentChanges, folder: string) => void | Promise<void>) {
  const folder = programs(process);
  const lock = { folder, lock: join(folder, ".lock"), what: "the programs" };
  return process.documents.alone(lock, (changes) => work(changes, folder));
}

const write = (process: Process, name: string, text: string) =>
  change(process, (changes, folder) => changes.write(join(folder, name), text));

const kinds = [
  ["files", ""],
  [`a Postgres${postgresNote}`, postgresNote],
] as const;

describe.each(kinds)("documents in %s", (kind, note) => {
  test.skipIf(note !== "")(
    "are known to the other process as soon as they are written, renamed or removed",
    async () => {
      using folder = temporaryFolder();
      await using all = await processes(kind, folder);
      const [one, other] = all;
      for (const { documents } of all) await documents.ready();
      expect(other.documents.areKnown).toBe(true);
      expect(other.documents.read(join(programs(other), "a.json"))).toBeUndefined();
      expect(other.documents.namesIn(programs(other))).toEqual([]);
      await write(one, "b.json", "first");
      await write(one, "a.json", "other");
      const file = join(programs(other), "b.json");
      await eventually(() => other.documents.namesIn(programs(other)).filter((name) => name !== ".lock").length === 2);
      expect(other.documents.read(file)).toBe("first");
      const stamps = () => [other.documents.stampOf(file), other.documents.stampOf(programs(other))];
      const before = stamps();
      await write(one, "b.json", "second");
      await eventually(() => other.documents.read(file) === "second");
      for (const [index, stamp] of stamps().entries()) expect(stamp).not.toBe(before[index]!);
      await change(one, (changes, folder) => changes.rename(join(folder, "b.json"), join(folder, "c.json")));
      await eventually(() => other.documents.read(file) === undefined);
      expect(other.documents.read(join(programs(other), "c.json"))).toBe("second");
      await change(one, (changes, folder) => changes.remove(join(folder, "c.json")));
      await eventually(() => other.documents.read(join(programs(other), "c.json")) === undefined);
      expect(one.documents.namesIn(programs(one)).filter((name) => name !== ".lock")).toEqual(["a.json"]);
    },
  );

  test.skipIf(note !== "")(
    "are changed by one process at a time, which sees what the one before has written",
    async () => {
      using folder = temporaryFolder();
      await using all = await processes(kind, folder);
      const add = (process: Process) =>
        change(process, async (changes, folder) => {
          const file = join(folder, "count.json");
          const count = Number(process.documents.read(file) ?? 0);
          await Bun.sleep(5);
          changes.write(file, String(count + 1));
        });
      await Promise.all(Array.from({ length: 20 }, (_, index) => add(all[index % 2]!)));
      await all[0]!.documents.ready();
      await eventually(() => all[0]!.documents.read(join(programs(all[0]!), "count.json")) === "20");
    },
  );

  test.skipIf(note !== "")("stay as they are if the work throws, and the lock is free again", async () => {
    using folder = temporaryFolder();
    await using all = await processes(kind, folder);
    const [one, other] = all;
    const failed = change(one, () => {
      throw new Error("no");
    });
    expect(await rejection(failed)).toMatchObject({ message: "no" });
    await write(other, "a.json", "text");
    await one.documents.ready();
    await eventually(() => one.documents.read(join(programs(one), "a.json")) === "text");
  });

  test.skipIf(note !== "")("are refused to a process that waits too long for the lock", async () => {
    using folder = temporaryFolder();
    await using all = await processes(kind, folder);
    const [one, other] = all;
    const { promise, resolve } = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    const first = change(one, () => {
      began.resolve();
      return promise;
    });
    await began.promise;
    const second = other.documents.alone(
      { folder: programs(other), lock: join(programs(other), ".lock"), what: "the programs", waitMs: 100 },
      () => {},
    );
    expect(await rejection(second)).toMatchObject({
      code: "CALL_TIMEOUT",
      message: "Another claudikins has locked the programs for too long",
    });
    resolve();
    await first;
  });

  test.skipIf(note !== "")(
    "the documents of people are read when they are asked for, and removed with their folder",
    async () => {
      using folder = temporaryFolder();
      await using all = await processes(kind, folder);
      const [one, other] = all;
      const at = ({ env }: Process, person: string) => join(peopleFolder(env), "config", person);
      for (const person of ["ann", "bob"]) {
        const own = at(one, person);
        const lock = { folder: own, lock: join(own, "locks", "file"), what: "the credentials" };
        await one.documents.alone(lock, (changes) => changes.writeSecret(join(own, "credentials.json"), person));
      }
      const fileOf = (process: Process, person: string) => join(at(process, person), "credentials.json");
      await other.documents.ready();
      await other.documents.ready([at(other, "ann")]);
      expect(other.documents.read(fileOf(other, "ann"))).toBe("ann");
      if (!other.documents.areFiles) expect(other.documents.read(fileOf(other, "bob"))).toBeUndefined();
      await one.documents.removeFolder(at(one, "ann"));
      await eventually(() => other.documents.read(fileOf(other, "ann")) === undefined);
      await other.documents.ready([at(other, "ann"), at(other, "bob")]);
      expect(other.documents.read(fileOf(other, "ann"))).toBeUndefined();
      expect(other.documents.read(fileOf(other, "bob"))).toBe("bob");
    },
  );
});

describe.skipIf(postgresNote !== "")(`documents in a Postgres${postgresNote}`, () => {
  test("are not written by a process that has lost its lock, such as one that stood still", async () => {
    using folder = temporaryFolder();
    await using all = await processes("Postgres", folder);
    const [one, other] = all;
    const late = change(one, async (changes, folder) => {
      changes.write(join(folder, "a.json"), "late");
      await server!.run(
        one.env["CLAUDIKINS_DATABASE"]!,
        "UPDATE claudikins.document_locks SET expires_at = now() - interval '1 second'",
      );
      await write(other, "a.json", "in time");
    });
    expect(await rejection(late)).toMatchObject({ code: "CALL_TIMEOUT" });
    expect(other.documents.read(join(programs(other), "a.json"))).toBe("in time");
    // Nobody holds a lock any more.
    expect(await server!.run(one.env["CLAUDIKINS_DATABASE"]!, "SELECT * FROM claudikins.document_locks")).toEqual([]);
  });

  test("are known again after the connections were lost", async () => {
    using folder = temporaryFolder();
    await using all = await processes("Postgres", folder);
    const [one, other] = all;
    await other.documents.ready();
    await server!.cut(one.env["CLAUDIKINS_DATABASE"]!);
    await write(one, "a.json", "text");
    await eventually(() => other.documents.read(join(programs(other), "a.json")) === "text", { withinMs: 20_000 });
  });

  test("cannot be read until the database was reached, and an error says so", async () => {
    using folder = temporaryFolder();
    const env = { XDG_DATA_HOME: folder.path, CLAUDIKINS_DATABASE: "postgres://nobody@127.0.0.1:1/nothing" };
    await using documents = new PostgresDocuments(env);
    expect(documents.areKnown).toBe(false);
    expect(documents.stampOf(tokensFile(env))).toBe("");
    expect(() => documents.read(tokensFile(env))).toThrow("The database was not reached yet");
    expect(await rejection(documents.ready())).toMatchObject({ code: "DATABASE_UNAVAILABLE" });
    expect(() => documents.namesIn(folder.path)).toThrow("The database cannot be reached");
  });
});
