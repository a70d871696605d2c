/** Records of executions, and the counts of the ledger. */
import { expect, test } from "bun:test";
import type { ActivityFacts, ActivityFilter, ActivityOrder } from "../../../src/store/activity.ts";
import type { CountRow } from "../../../src/store/counts.ts";
import type { Keeping, NewRecord } from "../../../src/store/records.ts";
import type { Processes } from "../contract.ts";
import { rejection } from "./rejection.ts";

const facts: ActivityFacts = {
  config: "c",
  door: null,
  person: null,
  agent: null,
  program: null,
  state: "done",
  tools: "\n",
  words: "",
};
const stored = (id: string, at: number, rest = "{}") => ({ id, at, summary: JSON.stringify({ id }), rest });
const record = (id: string, at: number, rest = "{}", more: Partial<ActivityFacts> = {}): NewRecord => ({
  ...stored(id, at, rest),
  facts: { ...facts, ...more },
});
const all: Keeping = { count: 100, ageMs: 1_000_000, bytes: 1_000_000 };

export function recordsContract(processes: Processes): void {
  const ids = async () => (await processes.other.records.summaries()).map(({ id }) => id);

  test("come back as they were written, newest first, and the first one with an id stays", async () => {
    const { one, other } = processes;
    await one.records.add([record("a", 1, '{"text":"é"}'), record("b", 2)], all, 10);
    await other.records.add([record("a", 5, '{"text":"other"}')], all, 10);
    expect(await other.records.get("a")).toEqual(stored("a", 1, '{"text":"é"}'));
    expect(await other.records.get("c")).toBeUndefined();
    expect(await one.records.summaries()).toEqual([
      { id: "b", summary: '{"id":"b"}' },
      { id: "a", summary: '{"id":"a"}' },
    ]);
  });

  test("are kept if a text has a character that a database cannot store: all of a write", async () => {
    const { one, other } = processes;
    await one.records.add(
      [record("a", 1), record("b", 2, '"\ud83d"', { agent: "half \ud83d\0", words: "\ude00" })],
      all,
      10,
    );
    expect(await ids()).toEqual(["b", "a"]);
    expect((await other.records.facets({})).agents[0]).toStartWith("half ");
  });

  test("are removed by id", async () => {
    const { one } = processes;
    await one.records.add(
      ["a", "b", "c"].map((id) => record(id, 1)),
      all,
      10,
    );
    await one.records.remove(["a", "c", "unknown"]);
    expect(await ids()).toEqual(["b"]);
  });

  test("are limited by number, age and bytes with each write, and the newest stays", async () => {
    const { one } = processes;
    const rows = ["a", "b", "c", "d", "e"].map((id, place) => record(id, place * 100, "é".repeat(50)));
    await one.records.add(rows, all, 500);
    const prune = (kept: Partial<Keeping>, now = 500) => one.records.add([], { ...all, ...kept }, now);
    await prune({ count: 4 });
    expect(await ids()).toEqual(["e", "d", "c", "b"]);
    await prune({ ageMs: 300 }, 450);
    expect(await ids()).toEqual(["e", "d", "c"]);
    const { summary } = rows[0]!;
    await prune({ bytes: 2 * (summary.length + 100) });
    expect(await ids()).toEqual(["e", "d"]);
    await prune({ bytes: 1 });
    expect(await ids()).toEqual(["e"]);
  });

  test("come in the order of their times and of their sessions, in pages, with the newest first where nothing else decides", async () => {
    const { one, other } = processes;
    const summaries: [string, object][] = [
      ["a", { durationMs: 9, session: "s1", startedBy: "serve" }],
      ["b", { durationMs: 80, startedBy: "exec", folder: "/home" }],
      ["c", { durationMs: 700.5, session: "s2", startedBy: "serve" }],
      ["d", { durationMs: 80, session: "s1", startedBy: "serve" }],
      ["e", { durationMs: 10, startedBy: "exec", folder: "/home" }],
      ["f", { durationMs: 10, startedBy: "exec" }],
    ];
    await one.records.add(
      summaries.map(([id, summary], at) => ({ ...record(id, at), summary: JSON.stringify(summary) })),
      all,
      10,
    );
    const found = async (order: ActivityOrder, limit = 10, after?: string, filter: ActivityFilter = {}) =>
      (await other.records.activity(filter, { limit, after, order })).map(({ id }) => id).join("");
    expect(await found("newest")).toBe("fedcba");
    expect(await found("longest")).toBe("cdbfea");
    expect(await found("session")).toBe("febdac");
    expect([await found("longest", 2, "d"), await found("longest", 9, "f"), await found("longest", 9, "a")]).toEqual([
      "bf",
      "ea",
      "",
    ]);
    expect([await found("session", 2, "e"), await found("session", 9, "d"), await found("session", 9, "c")]).toEqual([
      "bd",
      "ac",
      "",
    ]);
    // Records that are left out do not decide about the place of their session.
    expect(await found("session", 9, undefined, { until: 3 })).toBe("cba");
    expect(await found("session", 9, "b", { until: 3 })).toBe("a");
  });

  test("of several processes that write at the same moment are all there, within the limits", async () => {
    const { one, other } = processes;
    const names = Array.from({ length: 30 }, (_, place) => `r${String(place).padStart(2, "0")}`);
    const kept = { ...all, count: 20 };
    await Promise.all(
      names.map((id, place) => (place % 2 === 0 ? one : other).records.add([record(id, place)], kept, 100)),
    );
    const left = await ids();
    expect(left.length).toBeGreaterThanOrEqual(20);
    expect(left.slice(0, 20)).toEqual(names.slice(10).toReversed());
    await one.records.add([], kept, 100);
    expect(await ids()).toHaveLength(20);
  });

  test("are selected by each fact and by all together, in pages, newest first", async () => {
    const { one, other } = processes;
    const tools = "\nshop\tlist_orders\na%\tit_em\n";
    await one.records.add(
      [
        record("a", 1, "{}", { door: "qa", agent: "codex 1", tools, words: "nightly 100% Ä!".toLowerCase() }),
        record("b", 2, "{}", { person: "p1", state: "denied", program: "nightly" }),
        record("c", 3, "{}", { config: null, state: "failed", words: "\u0000" }),
        record("d", 4, "{}", { agent: "codex 1", program: "nightly" }),
        record("e", 5, "{}", { program: "nightly" }),
      ],
      all,
      10,
    );
    const found = async (filter: ActivityFilter, limit = 10, after?: string) =>
      (await other.records.activity(filter, { limit, after })).map(({ id }) => id).join("");
    const asked: [ActivityFilter, string][] = [
      [{}, "edcba"],
      [{ config: "c" }, "edba"],
      [{ config: null }, "c"],
      [{ door: "qa" }, "a"],
      [{ person: "p1" }, "b"],
      [{ agent: "codex 1" }, "da"],
      [{ states: ["denied", "failed"] }, "cb"],
      [{ states: [] }, ""],
      [{ programs: ["nightly", "other"] }, "edb"],
      [{ server: "shop" }, "a"],
      [{ server: "sho" }, ""],
      [{ server: "shop", tool: "list_orders" }, "a"],
      [{ server: "shop", tool: "list_order" }, ""],
      [{ server: "shop", tool: "listXorders" }, ""],
      [{ server: "a%", tool: "it_em" }, "a"],
      [{ server: "ab", tool: "it_em" }, ""],
      [{ since: 4 }, "ed"],
      [{ text: "100% Ä" }, "a"],
      [{ text: "100%x" }, ""],
      [{ text: "NIGHTLY" }, "a"],
      [{ agent: "codex 1", door: "qa", text: "night", since: 1 }, "a"],
      [{ agent: "codex 1", door: "qa", text: "night", since: 2 }, ""],
    ];
    for (const [filter, ids] of asked) expect([filter, await found(filter)]).toEqual([filter, ids]);
    expect([await found({}, 2), await found({}, 2, "d"), await found({}, 2, "b")]).toEqual(["ed", "cb", "a"]);
    expect((await one.records.runs("c", 2)).map(({ id }) => id)).toEqual(["e", "d"]);
    expect(await one.records.facets({ config: "c" })).toEqual({ agents: ["codex 1"], doors: ["qa"], people: ["p1"] });
    expect(await one.records.facets({ person: "p1" })).toEqual({ agents: [], doors: [], people: ["p1"] });
    expect(await one.records.known(["e", "x", "a"])).toHaveLength(2);
    await one.records.remove(["e", "a"]);
    expect([await found({}), await found({ text: "nightly" })]).toEqual(["dcb", ""]);
  });
}

export function countsContract(processes: Processes): void {
  const write = (at: number): CountRow => ({ at, period: null, json: `{"calls":${at}}` });
  const sum: CountRow = { at: null, period: "2026-11-21", json: '{"calls":9}' };

  test("come back in the order in which they were added", async () => {
    const { one, other } = processes;
    for (const row of [write(3), sum, write(1)]) await one.counts.add(row);
    expect(await other.counts.all()).toEqual([write(3), sum, write(1)]);
  });

  test("are summed up when more writes than the limit are there, and not before", async () => {
    const { one } = processes;
    const seen: CountRow[][] = [];
    const sumUp = (rows: CountRow[]) => {
      seen.push(rows);
      return [sum];
    };
    for (const at of [1, 2]) await one.counts.add(write(at), { above: 2, sumUp });
    expect(seen).toEqual([]);
    await one.counts.add(write(3), { above: 2, sumUp });
    expect(await one.counts.all()).toEqual([sum]);
    for (const at of [4, 5]) await one.counts.add(write(at), { above: 2, sumUp });
    // Sums do not count as writes.
    expect(await one.counts.all()).toEqual([sum, write(4), write(5)]);
    expect(seen.at(-1)).toEqual([write(1), write(2), write(3)]);
  });

  test("that cannot be summed up stay as they were", async () => {
    const { one } = processes;
    await one.counts.add(write(1));
    const sumUp = () => {
      throw new Error("no");
    };
    expect((await rejection(one.counts.add(write(2), { above: 0, sumUp }))).message).toBe("no");
    expect(await one.counts.all()).toEqual([write(1)]);
  });

  test("of several processes are all counted, and once", async () => {
    const { one, other } = processes;
    const callsIn = (rows: CountRow[]) => rows.reduce((total, { json }) => total + JSON.parse(json).calls, 0);
    const sumUp = (rows: CountRow[]) => [{ ...sum, json: JSON.stringify({ calls: callsIn(rows) }) }];
    const adds = Array.from({ length: 40 }, (_, place) => (place % 2 === 0 ? one : other));
    await Promise.all(adds.map(({ counts }) => counts.add(write(1), { above: 3, sumUp })));
    expect(callsIn(await one.counts.all())).toBe(40);
  });

  test("can all be removed", async () => {
    const { one, other } = processes;
    await one.counts.removeAll();
    await one.counts.add(write(1));
    await other.counts.removeAll();
    expect(await one.counts.all()).toEqual([]);
  });
}
