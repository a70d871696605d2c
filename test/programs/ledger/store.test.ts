/** The ledger on disk: lines of many processes that are added up once, even after kills, damage and full disks. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withLock } from "../../../src/base/lock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { Counts } from "../../../src/programs/ledger/counts.ts";
import { Ledger } from "../../../src/programs/ledger/ledger.ts";
import { appendCounts, foldLedger, readLedger, resetLedger } from "../../../src/programs/ledger/store.ts";
import { root } from "../../support/claudikins.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let temporary: TemporaryFolder;
let folder: string;
beforeEach(() => {
  temporary = temporaryFolder();
  folder = join(temporary.path, "data", "ledger");
});
afterEach(() => temporary[Symbol.dispose]());

/** In the local time zone, as the days of the ledger are. */
const noon = (day: string) => new Date(`${day}T12:00:00`);

const now = noon("2026-11-21");
const hours = (count: number) => new Date(now.getTime() - count * 3_600_000);

/** The file of an hour is named in UTC. */
const fileOf = (date: Date) => `${date.toISOString().slice(0, 13)}.log`;

function calls(count: number, tool = "list"): Counts {
  const counts = new Counts();
  const use = { calls: count, failures: 0, durationMs: 1, resultChars: 10, takenChars: 10, argumentChars: 2 };
  counts.addUse("shop", tool, use);
  return counts;
}

async function found(at = now): Promise<Record<string, number>> {
  const { periods } = await readLedger(folder, at);
  return Object.fromEntries(
    [...periods].map(([name, counts]) => [name, counts.uses().reduce((sum, [, , use]) => sum + use.calls, 0)]),
  );
}

const names = () => readdirSync(folder).sort();

describe("counts on disk", () => {
  test("are visible at once, added up after the hour, and never counted twice", async () => {
    expect(await found()).toEqual({});
    expect(appendCounts(folder, calls(1), hours(20))).toBe(true);
    expect(appendCounts(folder, calls(2), hours(20))).toBe(false);
    expect(appendCounts(folder, calls(4), hours(1))).toBe(true);
    expect(appendCounts(folder, calls(8), now)).toBe(true);
    const expected = { "2026-11-20": 3, "2026-11-21": 12 };
    expect(await found()).toEqual(expected);
    expect(names()).toEqual([".lock", fileOf(hours(1)), fileOf(now), "totals.json"]);
    expect(await found()).toEqual(expected);
    await foldLedger(folder, hours(-5));
    expect(names()).toEqual([".lock", "totals.json"]);
    expect(await found()).toEqual(expected);
  });

  test("count once if the process is killed between writing the sums and removing the lines", async () => {
    appendCounts(folder, calls(3), hours(20));
    const line = readFileSync(join(folder, fileOf(hours(20))), "utf8");
    await foldLedger(folder, now);
    const totals = JSON.parse(readFileSync(join(folder, "totals.json"), "utf8"));
    writeFileSync(join(folder, "totals.json"), JSON.stringify({ ...totals, summed: [fileOf(hours(20))] }));
    writeFileSync(join(folder, fileOf(hours(20))), line);
    // The same for a reader that runs beside another process.
    await withLock(join(folder, ".lock"), "the ledger", async () => {
      expect(await found()).toEqual({ "2026-11-20": 3 });
    });
    expect(await found()).toEqual({ "2026-11-20": 3 });
    expect(names()).toEqual([".lock", "totals.json"]);
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
      appendCounts(folder, calls(1), noon(day));
    expect(await found()).toEqual({
      "2023": 2,
      "2024": 1,
      "2026-07": 1,
      "2026-08": 1,
      "2026-08-30": 1,
      "2026-11-20": 1,
    });
  });

  test("are removed by reset, without other files", async () => {
    await resetLedger(folder);
    appendCounts(folder, calls(3), hours(20));
    await foldLedger(folder, now);
    appendCounts(folder, calls(3), now);
    writeFileSync(join(folder, "mine.txt"), "");
    await resetLedger(folder);
    expect(names()).toEqual([".lock", "mine.txt"]);
    expect(await found()).toEqual({});
  });
});

describe("a ledger", () => {
  test("reports unreadable sums and sets them aside", async () => {
    appendCounts(folder, calls(3), hours(20));
    writeFileSync(join(folder, "totals.json"), '{"version":1,"periods":[["2026-11-01",{"tools":');
    const { periods, problems } = await readLedger(folder, now);
    expect([...periods.keys()]).toEqual(["2026-11-20"]);
    expect(problems).toEqual([
      "The ledger file totals.json was damaged or has an unknown version. It was kept as totals.damaged.json",
    ]);
    expect(readFileSync(join(folder, "totals.damaged.json"), "utf8")).toContain("2026-11-01");
    expect((await readLedger(folder, now)).problems).toEqual([]);
  });

  test("loses only the line that is damaged", async () => {
    appendCounts(folder, calls(3), hours(20));
    const file = join(folder, fileOf(hours(20)));
    writeFileSync(file, `${readFileSync(file, "utf8")}\n{"day":"2026-11-20","tools":[["shop","li`);
    appendCounts(folder, calls(4), hours(20));
    const { problems } = await readLedger(folder, now);
    expect(problems).toEqual([`1 line of the ledger file ${fileOf(hours(20))} could not be read`]);
    expect(await found()).toEqual({ "2026-11-20": 7 });
    expect(names()).toEqual([".lock", "hour.damaged.log", "totals.json"]);
  });

  test("can be read if its folder cannot be written to, and counting does not fail", async () => {
    mkdirSync(join(temporary.path, "data"), { recursive: true });
    // root can write everywhere, but not below a file.
    writeFileSync(folder, "in the way");
    const ledger = new Ledger({ folder, log: silentLog });
    ledger.called({ server: "shop", tool: "list" }, { ...calls(1).uses()[0]![2] });
    await ledger.end();
    expect(await found()).toEqual({});
    expect(readFileSync(folder, "utf8")).toBe("in the way");
  });

  test.if(process.getuid?.() !== 0)("can be read in a read-only folder", async () => {
    appendCounts(folder, calls(3), hours(20));
    chmodSync(folder, 0o500);
    expect(await found()).toEqual({ "2026-11-20": 3 });
    chmodSync(folder, 0o700);
  });

  test.if(process.platform === "linux")("can be read on a full disk", async () => {
    mkdirSync(folder, { recursive: true });
    const file = join(folder, fileOf(new Date()));
    symlinkSync("/dev/full", file);
    const ledger = new Ledger({ folder, log: silentLog });
    ledger.found("serve skill");
    await ledger.end();
    unlinkSync(file);
    ledger.found("serve skill");
    await ledger.end();
    const [counts] = (await readLedger(folder, new Date())).periods.values();
    expect([...(counts?.hooks ?? [])]).toEqual([["serve skill", 2]]);
  });

  test("gets counts that could not be written with the next write", async () => {
    mkdirSync(join(temporary.path, "data"), { recursive: true });
    const other = join(temporary.path, "data", "later");
    writeFileSync(other, "in the way");
    const ledger = new Ledger({ folder: other, log: silentLog });
    const [[, , use]] = calls(1).uses() as [[string, string, never]];
    ledger.called({ server: "shop", tool: "list" }, use);
    await ledger.end();
    await Bun.file(other).delete();
    ledger.called({ server: "shop", tool: "list" }, use);
    await ledger.end();
    folder = other;
    expect(Object.values(await found(new Date()))).toEqual([2]);
  });
});

describe("concurrent processes", () => {
  /** Writes one call 500 times, each separately, prints a line for each, and sometimes adds up past hours. */
  const program = () =>
    temporary.write(
      "count.ts",
      `import { Counts } from ${JSON.stringify(join(root, "src/programs/ledger/counts.ts"))};
       import { appendCounts, foldLedger } from ${JSON.stringify(join(root, "src/programs/ledger/store.ts"))};
       const use = { calls: 1, failures: 0, durationMs: 1, resultChars: 1, takenChars: 1, argumentChars: 1 };
       for (let round = 0; round < 500; round++) {
         const counts = new Counts();
         counts.addUse("shop", "list", use);
         const now = new Date(${now.getTime()});
         appendCounts(${JSON.stringify(folder)}, counts, now);
         console.log(round);
         if (round % 50 === 7) await foldLedger(${JSON.stringify(folder)}, now);
       }`,
    );

  const start = () => Bun.spawn([process.execPath, program()], { stdout: "pipe", stderr: "inherit" });

  test("count every call once", async () => {
    for (let ago = 2; ago < 30; ago++) appendCounts(folder, calls(1), hours(ago));
    const all = [start(), start(), start(), start()];
    for (const each of all) expect(await each.exited).toBe(0);
    expect(names()).toEqual([".lock", fileOf(now), "totals.json"]);
    expect(await found()).toEqual({ "2026-11-20": 17, "2026-11-21": 2_011 });
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
    expect((await readLedger(folder, now)).problems).toEqual([]);
  });
});
