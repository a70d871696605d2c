/** The audit log: its chain of hashes, several writers, and what a change of its lines looks like. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../src/base/sha256.ts";
import { thisProcess } from "../../../src/store/audit/decider.ts";
import type { AuditLine, Decider } from "../../../src/store/audit/event.ts";
import { addEvents } from "../../../src/store/audit/table.ts";
import { verify } from "../../../src/store/audit/verify.ts";
import { openDatabase, transact } from "../../../src/store/sqlite/database.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { auditTexts, blockAudit, tamper, unblockAudit } from "../../support/audit.ts";
import { ownFolder } from "../../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const file = () => join(folder.path, "executions.sqlite");

const by: Decider = { place: "command", user: "ada", pid: 7, terminal: true, parent: "bash" };
let store: SqliteStore;
beforeEach(() => {
  store = new SqliteStore(file());
});
afterEach(() => store[Symbol.asyncDispose]());

const log = () => store.audit;
const write = (tool: string, more: object = {}) =>
  log().add([{ decision: "approved", server: "github", tool, ...more }], by, 1_000);
async function three(): Promise<void> {
  for (const tool of ["one", "two", "three"]) await write(tool);
}

const texts = () => auditTexts(file());
const lines = () => texts().map((text) => JSON.parse(text) as AuditLine);
const verified = (wanted?: string) => verify(log(), wanted);
const problem = async () => (await verified()).problem;

/** Replaces a text of an entry, as somebody would who hides something. */
const change = (place: number, from: string, to: string, more = "") =>
  tamper(file(), `UPDATE audit SET line = replace(line, '${from}', '${to}')${more} WHERE place = ${place}`);

test("each line has its number and the hash of the line before it, in a file for its user only", async () => {
  await three();
  const [first, second, third] = texts();
  expect(lines()[0]).toEqual({
    entry: 1,
    previous: "0".repeat(64),
    at: 1_000,
    decision: "approved",
    server: "github",
    tool: "one",
    by,
  });
  expect(lines().map(({ entry, previous }) => [entry, previous])).toEqual([
    [1, "0".repeat(64)],
    [2, sha256(first!)],
    [3, sha256(second!)],
  ]);
  if (process.platform !== "win32") expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(await verified()).toEqual({ entries: 3, sha256: sha256(third!), notes: [] });
});

test("an empty log holds, and is not made by reading it", async () => {
  expect(await verified()).toEqual({ entries: 0, sha256: "0".repeat(64), notes: [] });
  expect(existsSync(file())).toBe(false);
  await log().requireWritable();
  expect(await verified()).toEqual({ entries: 0, sha256: "0".repeat(64), notes: [] });
});

test("several processes write one chain", async () => {
  const script = join(import.meta.dir, "append.ts");
  const writers = ["a", "b", "c"].map((name) =>
    Bun.spawn([process.execPath, script, file(), name, "15"], { stderr: "inherit" }),
  );
  expect(await Promise.all(writers.map(({ exited }) => exited))).toEqual([0, 0, 0]);
  expect(await verified()).toEqual({ entries: 45, sha256: sha256(texts().at(-1)!), notes: [] });
  for (const name of ["a", "b", "c"]) {
    const calls = lines().flatMap(({ server, call }) => (server === name ? [call] : []));
    expect(calls).toEqual(Array.from({ length: 15 }, (_, at) => at + 1));
  }
});

test("an event that cannot be written fails the transaction, and nothing of it is left", async () => {
  await write("one");
  blockAudit(file());
  expect(write("two")).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
  await write("two").catch(() => {});
  unblockAudit(file());
  await write("three");
  expect(lines().map(({ entry, tool }) => [entry, tool])).toEqual([
    [1, "one"],
    [2, "three"],
  ]);
  expect(await problem()).toBeUndefined();
});

test("a transaction that is rolled back leaves no gap", async () => {
  await write("one");
  using database = await openDatabase(file());
  const failing = () =>
    transact(database, function* () {
      yield* addEvents([{ decision: "denied" }, { decision: "denied" }], by, 1_000);
      throw new Error("the row is gone");
    });
  expect(failing).toThrow("the row is gone");
  await write("two");
  expect(await verified()).toMatchObject({ entries: 2, notes: [] });
  expect(await problem()).toBeUndefined();
});

test("a database that cannot be opened is reported", async () => {
  folder.write("executions.sqlite/in-the-way", "");
  expect(log().requireWritable()).rejects.toMatchObject({ code: "FILE_NOT_WRITABLE" });
  await log()
    .requireWritable()
    .catch(() => {});
});

test("long texts are shortened", async () => {
  await write("x".repeat(10_000));
  expect(lines()[0]?.tool).toHaveLength(501);
});

test("many events at once are one chain", async () => {
  await write("one");
  const events = Array.from({ length: 500 }, (_, at) => ({ decision: "expired" as const, tool: `t${at}` }));
  await log().add(events, by);
  expect(await verified()).toEqual({ entries: 501, sha256: sha256(texts().at(-1)!), notes: [] });
});

describe("the database refuses", () => {
  test.each([
    ["a change", "UPDATE audit SET line = '{}' WHERE place = 1"],
    ["a removal", "DELETE FROM audit WHERE place = 3"],
    ["the removal of everything", "DELETE FROM audit"],
    ["an earlier end", "UPDATE audit_end SET place = 2"],
    ["the removal of its end", "DELETE FROM audit_end"],
  ])("%s", async (_, statement) => {
    await three();
    using database = await openDatabase(file());
    expect(() => database.run(statement)).toThrow("lines of the audit log are only added");
    expect(await verified()).toMatchObject({ entries: 3 });
  });
});

describe("verify finds", () => {
  test("a changed line", async () => {
    await three();
    change(2, '"tool":"two"', '"tool":"six"');
    expect(await verified()).toMatchObject({
      entries: 1,
      problem: "entry 2 was changed: it was stored with another hash",
    });
  });

  test("a changed line whose hash was changed too", async () => {
    await three();
    const changed = sha256(texts()[1]!.replace('"tool":"two"', '"tool":"six"'));
    change(2, '"tool":"two"', '"tool":"six"', `, sha256 = '${changed}'`);
    expect(await verified()).toMatchObject({ entries: 2, problem: "entry 2 was changed, or entry 3 was" });
  });

  test("a changed last line, also after the next entry", async () => {
    await three();
    change(3, '"tool":"three"', '"tool":"other"');
    expect(await problem()).toBe("entry 3 was changed: it was stored with another hash");
    await write("four");
    expect(lines().map(({ decision }) => decision)).toEqual(["approved", "approved", "approved", "broken", "approved"]);
    expect(await problem()).toBe("entry 3 was changed: it was stored with another hash");
  });

  test("a removed line", async () => {
    await three();
    tamper(file(), "DELETE FROM audit WHERE place = 2");
    expect(await problem()).toBe("entry 2 is missing: entry 3 follows entry 1");
  });

  test("a removed first line", async () => {
    await three();
    tamper(file(), "DELETE FROM audit WHERE place = 1");
    expect(await problem()).toBe("entry 1 is missing: entry 2 follows entry 0");
  });

  test("an inserted line", async () => {
    await three();
    tamper(
      file(),
      "UPDATE audit SET place = -place",
      "UPDATE audit SET place = -place + 1 WHERE place < -1",
      "INSERT INTO audit SELECT 2, line, sha256 FROM audit WHERE place = -1",
      "UPDATE audit SET place = 1 WHERE place = -1",
    );
    expect(await problem()).toBe("entry 2 is missing: entry 1 follows entry 1");
  });

  test("a line that is not an entry", async () => {
    await three();
    tamper(file(), "UPDATE audit SET line = 'no entry' WHERE place = 2");
    expect(await problem()).toBe("the line after entry 1 is not an entry");
  });

  test("a line at the end that is not an entry, also after the next entry", async () => {
    await three();
    tamper(file(), "INSERT INTO audit (line, sha256) VALUES ('no entry', '')");
    expect(await problem()).toBe("the line after entry 3 is not an entry");
    await write("four");
    expect(await problem()).toBe("the line after entry 3 is not an entry");
  });

  test("lines that are missing at the end, also after the next entry", async () => {
    await three();
    tamper(file(), "DELETE FROM audit WHERE place > 1");
    expect(await verified()).toMatchObject({ entries: 1, problem: "entries 2 to 3 are missing" });
    await write("four");
    expect(lines().map(({ decision }) => decision)).toEqual(["approved", "broken", "approved"]);
    expect(await problem()).toBe("entry 2 records that entries before it were removed: 2");
  });

  test("the removal of all lines", async () => {
    await three();
    tamper(file(), "DELETE FROM audit");
    expect(await problem()).toBe("entries 1 to 3 are missing");
    await write("four");
    expect(await problem()).toBe("entry 1 records that entries before it were removed: 3");
  });

  test("the hash that somebody noted earlier", async () => {
    await three();
    const noted = sha256(texts()[1]!);
    expect((await verified(noted)).contains).toBe(true);
    expect((await verified(sha256("other"))).contains).toBe(false);
  });
});

test("the decider is this process", () => {
  expect(thisProcess("terminal")).toMatchObject({ place: "terminal", pid: process.pid, terminal: expect.any(Boolean) });
  expect(thisProcess()).not.toHaveProperty("place");
  if (process.platform === "linux") expect(thisProcess().parent).toBeString();
});
