/** The database of what outlives a process. */
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { isNewerDatabase } from "../../../src/store/sqlite/database.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { runProgram } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { storedCall } from "../contract/call-log.ts";

setDefaultTimeout(60_000);

test("processes that create it at the same moment all open it", async () => {
  using folder = temporaryFolder();
  const script = join(import.meta.dir, "open-once.ts");
  for (let round = 0; round < 8; round++) {
    const at = String(Date.now() + 400);
    const file = join(folder.path, `${round}.sqlite`);
    const all = Array.from({ length: 6 }, () => runProgram([process.execPath, script, file, at]));
    expect((await Promise.all(all)).map(({ stdout }) => stdout.trim())).toEqual(all.map(() => "opened"));
  }
});

test("a database of an earlier version gets the tables that it lacks, and keeps its rows", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "earlier.sqlite");
  const shapeOf = (database: Database) =>
    database.query("SELECT type, name, sql FROM sqlite_master ORDER BY name").all();
  let whole: unknown[];
  {
    await using store = new SqliteStore(file);
    await store.counts.add({ at: 1, period: null, json: "{}" });
    using database = new Database(file, { strict: true });
    whole = shapeOf(database);
    database.run("DROP TABLE call_log");
    expect(shapeOf(database)).toHaveLength(whole.length - 4);
  }
  // One process has the earlier database open while others add to it.
  using earlier = new Database(file, { strict: true });
  const stores = [new SqliteStore(file), new SqliteStore(file)];
  await Promise.all(stores.map((store, place) => store.callLog.add([storedCall(String(place), place)])));
  expect(earlier.query("SELECT count(*) AS count FROM call_log").get()).toEqual({ count: 2 });
  expect(shapeOf(earlier)).toEqual(whole);
  expect(await stores[0]!.counts.all()).toHaveLength(1);
  expect(await stores[0]!.isTooNew()).toBe(false);
  for (const store of stores) await store[Symbol.asyncDispose]();
});

test("whether a newer version has changed it can be asked while another process has locked it", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "locked.sqlite");
  const holder = Bun.spawn([process.execPath, join(import.meta.dir, "hold-lock.ts"), file], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await holder.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("locked\n");
  holder.stdin.write("unlock\n");
  holder.stdin.flush();
  expect(await isNewerDatabase(file)).toBe(false);
  expect(await holder.exited).toBe(0);
});
