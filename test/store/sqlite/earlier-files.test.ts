/** The files in which version 0.1.0 kept records and the ledger are taken over once, whatever happens meanwhile. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../../../src/programs/ledger/counts.ts";
import { readCounts } from "../../../src/programs/ledger/store.ts";
import { readRecord, readSummaries } from "../../../src/programs/trace/store.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { recordOf } from "../../programs/trace/records.ts";
import { root } from "../../support/claudikins.ts";
import { ownFolder } from "../../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
const file = () => join(folder.path, "executions.sqlite");

const callsOf = (count: number) => ({ tools: [["shop", "list", count, 0, 1, 10, 10, 2]] });
const line = (at: string, count: number) => `\n${JSON.stringify({ at: Date.parse(at) / 1_000, ...callsOf(count) })}\n`;

function writeLedger(): void {
  mkdirSync(join(folder.path, "ledger"));
  const totals = { version: 1, summed: ["2026-11-19T10.log"], periods: [["2026-10", callsOf(100)]] };
  folder.write("ledger/totals.json", JSON.stringify(totals));
  // It was summed up before the process was killed.
  folder.write("ledger/2026-11-19T10.log", line("2026-11-19T10:00:00Z", 1_000));
  folder.write("ledger/2026-11-21T11.log", line("2026-11-21T11:00:00Z", 1) + line("2026-11-21T11:30:00Z", 2));
  folder.write("ledger/.lock", "");
}

const sum = (periods: Iterable<Counts>) =>
  [...periods].reduce((all, counts) => all + (counts.tools.get("shop")?.get("list")?.calls ?? 0), 0);

/** The calls in the ledger, and the ids of the records, as a new process finds them. */
async function found(): Promise<{ calls: number; ids: string[] }> {
  await using store = new SqliteStore(file());
  const { periods } = await readCounts(store);
  return { calls: sum(periods.values()), ids: (await readSummaries(store)).map(({ id }) => id) };
}

function writeRecordFile(record: ReturnType<typeof recordOf>): void {
  const { code, timeline, moreCalls, logs, ...summary } = record;
  const rest = { code, timeline, moreCalls, logs };
  folder.write(`executions/${record.id}.json`, `${JSON.stringify(summary)}\n${JSON.stringify(rest)}\n`);
}

test("the ledger and the records are taken over once, and the files are gone", async () => {
  writeLedger();
  const [one, other] = [recordOf({ at: Date.now() - 1_000 }), recordOf({})];
  for (const record of [one, other]) writeRecordFile(record);
  const all = { calls: 103, ids: [other.id, one.id] };
  expect(await found()).toEqual(all);
  expect(await found()).toEqual(all);
  expect(readdirSync(folder.path)).toEqual(["executions.sqlite"]);
  await using store = new SqliteStore(file());
  expect(await readRecord(store, one.id)).toEqual(one);
});

test("files that a running process of the earlier version writes later are taken over too", async () => {
  writeLedger();
  expect((await found()).calls).toBe(103);
  folder.write("ledger/2026-11-21T11.log", line("2026-11-21T11:45:00Z", 4));
  const late = recordOf({});
  writeRecordFile(late);
  expect(await found()).toEqual({ calls: 107, ids: [late.id] });
});

test("nothing is counted twice if a process was killed before it removed the files", async () => {
  writeLedger();
  const moved = join(folder.path, `ledger-${crypto.randomUUID()}`);
  renameSync(join(folder.path, "ledger"), moved);
  const before = readdirSync(moved).map((name) => [name, readFileSync(join(moved, name), "utf8")] as const);
  expect((await found()).calls).toBe(103);
  mkdirSync(moved);
  for (const [name, text] of before) writeFileSync(join(moved, name), text);
  expect((await found()).calls).toBe(103);
  expect(existsSync(moved)).toBe(false);
});

test("files with damaged parts are taken over without these, and kept", async () => {
  writeLedger();
  folder.write("ledger/2026-11-21T12.log", `${line("2026-11-21T12:00:00Z", 8)}{"at":1,"tools":[["shop","li`);
  folder.write("executions/0t80fs9gjc.json", '{"version":1,"id":');
  expect(await found()).toEqual({ calls: 111, ids: [] });
  expect(await found()).toEqual({ calls: 111, ids: [] });
  const [aside = ""] = readdirSync(folder.path).filter((name) => name.startsWith("ledger-"));
  expect(readdirSync(join(folder.path, aside))).toEqual(["2026-11-21T12.log"]);
  expect(readdirSync(join(folder.path, "executions"))).toEqual(["0t80fs9gjc.json"]);
});

test("several processes that open the database at the same moment take over everything once", async () => {
  writeLedger();
  for (let place = 0; place < 40; place++) writeRecordFile(recordOf({ at: Date.now() - place }));
  const source = (name: string) => JSON.stringify(join(root, "src", name));
  const program = folder.write(
    "open.ts",
    `import { SqliteStore } from ${source("store/sqlite/store.ts")};
     import { readSummaries } from ${source("programs/trace/store.ts")};
     await using store = new SqliteStore(${JSON.stringify(file())});
     console.log((await readSummaries(store)).length);`,
  );
  const all = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, program], { stderr: "inherit" }));
  for (const each of all) expect(await each.exited).toBe(0);
  const { calls, ids } = await found();
  expect([calls, ids.length]).toEqual([103, 40]);
});
