/** The ledger in the database: counts of many processes that are added up once, even after kills and with a damaged row. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { silentLog } from "../../../src/base/log.ts";
import { Counts } from "../../../src/programs/ledger/counts.ts";
import { Ledger } from "../../../src/programs/ledger/ledger.ts";
import { addCounts, maxUnsummedWrites, readCounts, resetLedger } from "../../../src/programs/ledger/store.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { root } from "../../support/claudikins.ts";
import { ownFolder } from "../../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const file = () => join(folder.path, "data", "executions.sqlite");
let store: SqliteStore;
beforeEach(() => {
  store = new SqliteStore(file());
});

/** In the local time zone, as the days of the ledger are. */
const noon = (day: string) => new Date(`${day}T12:00:00`);

const now = noon("2026-11-21");
const hours = (count: number) => new Date(now.getTime() - count * 3_600_000);

function calls(count: number, tool = "list"): Counts {
  const counts = new Counts();
  const use = { calls: count, failures: 0, durationMs: 1, resultChars: 10, takenChars: 10, argumentChars: 2 };
  counts.addUse("shop", tool, use);
  return counts;
}

async function found(): Promise<Record<string, number>> {
  await using reader = new SqliteStore(file());
  const { periods } = await readCounts(reader);
  return Object.fromEntries(
    [...periods].map(([name, counts]) => [name, counts.uses().reduce((sum, [, , use]) => sum + use.calls, 0)]),
  );
}

const rows = () => store.counts.all();

/** Writes until everything before is summed up. */
async function sumUp(at = now): Promise<void> {
  for (let write = 0; write <= maxUnsummedWrites; write++) await addCounts(store, new Counts(), at);
}

describe("counts", () => {
  test("are visible at once, summed up after many writes, and never counted twice", async () => {
    expect(await found()).toEqual({});
    expect(existsSync(file())).toBe(false);
    await addCounts(store, calls(1), hours(20));
    await addCounts(store, calls(2), hours(20));
    await addCounts(store, calls(4), hours(1));
    await addCounts(store, calls(8), now);
    const expected = { "2026-11-20": 3, "2026-11-21": 12 };
    expect(await found()).toEqual(expected);
    expect(await rows()).toHaveLength(4);
    await sumUp();
    expect(await found()).toEqual(expected);
    expect((await rows()).length).toBeLessThan(10);
    await addCounts(store, calls(1), now);
    await sumUp();
    expect(await found()).toEqual({ ...expected, "2026-11-21": 13 });
  });

  test("are summed up by month, and later by year", async () => {
    for (const day of [
      "2026-11-20",
      "2026-08-30",
      "2026-08-01",
      "2026-07-31",
      "2024-10-30",
      "2023-02-01",
      "2023-05-01",
    ])
      await addCounts(store, calls(1), noon(day));
    await sumUp();
    expect(await found()).toEqual({
      "2023": 2,
      "2024": 1,
      "2026-07": 1,
      "2026-08": 1,
      "2026-08-30": 1,
      "2026-11-20": 1,
      "2026-11-21": 0,
    });
  });

  test("are removed by reset", async () => {
    await resetLedger(store);
    expect(existsSync(file())).toBe(false);
    await addCounts(store, calls(3), now);
    await resetLedger(store);
    expect(await found()).toEqual({});
    expect(await rows()).toEqual([]);
  });
});

describe("a ledger", () => {
  test("loses only the row that is damaged, and keeps it", async () => {
    await addCounts(store, calls(3), now);
    const damaged = { at: null, period: "2026-11-20", json: '{"tools":[["shop"' };
    await store.counts.add(damaged);
    await addCounts(store, calls(4), now);
    await sumUp();
    expect(await found()).toEqual({ "2026-11-21": 7 });
    expect((await readCounts(store)).problems).toEqual(["1 row of the ledger could not be read"]);
    expect(await rows()).toContainEqual(damaged);
  });

  test("fails nothing if it cannot be written, and gets the counts with the next write", async () => {
    // root can write everywhere, but not below a file.
    const data = folder.write("data", "in the way");
    const ledger = new Ledger({ store, log: silentLog });
    const [[, , use]] = calls(1).uses() as [[string, string, never]];
    ledger.called({ server: "shop", tool: "list" }, use);
    await ledger.end();
    expect(readFileSync(data, "utf8")).toBe("in the way");
    unlinkSync(data);
    ledger.called({ server: "shop", tool: "list" }, use);
    await ledger.end();
    expect(Object.values(await found())).toEqual([2]);
  });

  test("waits for another process that writes, without blocking this one", async () => {
    await addCounts(store, calls(1), now);
    const { Database } = await import("bun:sqlite");
    using other = new Database(file());
    other.run("BEGIN IMMEDIATE");
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
      if (turns === 10) other.run("COMMIT");
    }, 5);
    await addCounts(store, calls(2), now);
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(10);
    expect(await found()).toEqual({ "2026-11-21": 3 });
  });
});

describe("concurrent processes", () => {
  /** Writes one call 500 times, each separately, and prints a line for each. */
  function program(): string {
    const path = join(folder.path, "count.ts");
    const source = (name: string) => JSON.stringify(join(root, "src", name));
    writeFileSync(
      path,
      `import { Counts } from ${source("programs/ledger/counts.ts")};
       import { addCounts } from ${source("programs/ledger/store.ts")};
       import { SqliteStore } from ${source("store/sqlite/store.ts")};
       const use = { calls: 1, failures: 0, durationMs: 1, resultChars: 1, takenChars: 1, argumentChars: 1 };
       const store = new SqliteStore(${JSON.stringify(file())});
       for (let round = 0; round < 500; round++) {
         const counts = new Counts();
         counts.addUse("shop", "list", use);
         await addCounts(store, counts, new Date(${now.getTime()}));
         console.log(round);
       }`,
    );
    return path;
  }

  const start = () => Bun.spawn([process.execPath, program()], { stdout: "pipe", stderr: "inherit" });

  test("count every call once", async () => {
    const all = [start(), start(), start(), start()];
    for (const each of all) expect(await each.exited).toBe(0);
    expect(await found()).toEqual({ "2026-11-21": 2_000 });
  });

  test("lose only what a killed one had not written", async () => {
    const [killed, whole] = [start(), start()];
    let said = "";
    for await (const chunk of killed.stdout) {
      said += new TextDecoder().decode(chunk);
      if (said.split("\n").length > 100) break;
    }
    killed.kill("SIGKILL");
    await killed.exited;
    expect(await whole.exited).toBe(0);
    const { "2026-11-21": counted = 0 } = await found();
    expect(counted).toBeGreaterThanOrEqual(600);
    expect(counted).toBeLessThanOrEqual(1_000);
    expect((await readCounts(store)).problems).toEqual([]);
  });
});
