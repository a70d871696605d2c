/** The bench itself: cheap sections end to end, and that it misses neither a slow-down nor a failure. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { Results } from "../../scripts/bench/figures.ts";
import { inTurn, ratioOf, slope, spreadOf } from "../../scripts/bench/measure.ts";
import { atMostAbove, rowOf, rowOfAll, table, under, within } from "../../scripts/bench/report.ts";
import { executable, root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(300_000);

let folder: TemporaryFolder;
beforeAll(() => {
  folder = temporaryFolder();
  return () => folder[Symbol.dispose]();
});

const alone = ["--without", "deno,mcporter,mcpc,executor,@utcp/code-mode"];
const outFile = () => join(folder.path, "bench.json");
const bench = (...args: string[]) =>
  runProgram([process.execPath, join(root, "scripts", "bench", "run.ts"), "--out", outFile(), ...args]);

/** A program that replaces the executable. */
function wrapper(name: string, ...lines: string[]): string {
  const file = folder.write(name, ["#!/bin/sh", ...lines, ""].join("\n"));
  chmodSync(file, 0o755);
  return file;
}

test("the benchmark measures sections, and prints them as one JSON document", async () => {
  const args = ["--only", "warm,cancel", "--runs", "1", "--json", "--binary", executable(), ...alone];
  const { exitCode, stdout, stderr } = await bench(...args);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const number = expect.any(Number);
  const notHere = { none: "not here" };
  // One round gives no spread.
  const once = { value: number, ratio: number, version: expect.any(String) };
  const figure = (id: string, what: string, runs: string) => ({
    ...{ id, what, value: number, unit: "ms", how: "measured", runs, spread: null },
    peers: { "node:vm": once, deno: notHere, "@utcp/code-mode": notHere },
  });
  // With a ratio, unless the times were too scattered for one.
  const warm = {
    "node:vm": expect.objectContaining({ value: number, spread: number }),
    deno: notHere,
    "@utcp/code-mode": notHere,
    executor: notHere,
  };
  const p99 = { value: number, version: expect.any(String) };
  const results: object = JSON.parse(stdout);
  expect(results).toEqual({
    run: expect.stringMatching(/^[0-9a-f]{8}$/),
    date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    command: "bun run bench",
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpus: number,
      bun: Bun.version,
      load: number,
    },
    peers: expect.objectContaining({ deno: { missing: "--without deno" }, "raw client": { version: "1.32.2" } }),
    sections: [
      {
        name: "warm",
        figures: [
          {
            ...figure("warm.return-1-p50", "return 1, p50", "20 rounds"),
            spread: number,
            peers: warm,
            target: { text: "under 2 ms", met: expect.any(Boolean) },
          },
          {
            ...figure("warm.return-1-p99", "return 1, p99", "20 times"),
            spread: null,
            peers: { ...warm, "node:vm": p99 },
          },
        ],
        notes: expect.any(Array),
      },
      {
        name: "cancel",
        figures: ["p50", "maximum"].map((which) => ({
          ...figure(
            `cancel.abort-of-a-busy-loop-to-its-outcome-${which}`,
            `abort of a busy loop to its outcome, ${which}`,
            "10 times",
          ),
          peers: { "node:vm": { none: "cannot", version: expect.any(String) }, deno: notHere },
        })),
        notes: expect.any(Array),
      },
    ],
  });
  expect(await Bun.file(outFile()).json()).toEqual(results);
  // Only the kind of the machine: no name and no folder.
  expect(stdout).not.toContain(root);
  expect(stdout).not.toContain(folder.path);
});

test("a slower executable has a larger figure", async () => {
  const slow = wrapper("slow", "sleep 1", `exec '${executable()}' "$@"`);
  const startOf = async (binary: string) => {
    const { exitCode, stderr } = await bench("--only", "startup", "--runs", "1", "--binary", binary, ...alone);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const { sections }: Results = await Bun.file(outFile()).json();
    const found = sections[0]?.figures.find(({ id }) => id === "startup.exec-e-return-1-start-to-exit");
    return { ms: found?.value ?? 0, peers: Object.values(found?.peers ?? {}) as { value: number; ratio: number }[] };
  };
  const [before, after] = [await startOf(executable()), await startOf(slow)];
  expect(after.ms).toBeGreaterThan(1_000);
  expect(after.ms).toBeGreaterThan(before.ms);
  for (const { ms, peers } of [before, after]) {
    expect(peers.length).toBeGreaterThan(0);
    for (const { value, ratio } of peers) expect(ratio).toBeCloseTo(ms / value, 5);
  }
});

test("a failed section is reported, and the others are measured", async () => {
  const broken = wrapper("broken", "exit 3");
  const { exitCode, stdout, stderr } = await bench(
    "--only",
    "surface,cancel,startup",
    "--runs",
    "1",
    "--binary",
    broken,
    ...alone,
  );
  expect(exitCode).toBe(1);
  expect(stderr).toStartWith("Some sections failed:\n");
  expect(stderr).toContain(`startup: ${broken} exec -e return 1 ended with 3\n`);
  expect(stderr).toMatch(/^surface: ./m);
  expect(stdout).toContain("abort of a busy loop");
  expect(stdout).not.toContain("start to exit");
  const { sections }: Results = await Bun.file(outFile()).json();
  const measured = sections.map(({ name, figures, notes }) => [name, figures.length > 0, notes[0]]);
  expect(measured).toEqual([
    ["surface", false, expect.stringMatching(/^Not measured: ./)],
    ["cancel", true, expect.anything()],
    ["startup", false, `Not measured: ${broken} exec -e return 1 ended with 3`],
  ]);
});

test("a run of some sections cannot be published", async () => {
  const { exitCode, stderr } = await bench("--write", "--only", "compute");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("--write publishes all figures of this source");
});

test("an unknown section is refused", async () => {
  const { exitCode, stdout, stderr } = await bench("--only", "warm,cold");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain('--only: unknown name "cold"; known names: startup, first-minute, surface, tasks, ');
});

test("the default output is a table", () => {
  const machine = { platform: "linux x64", cpus: 2, bun: "1.4.5", load: 3.14 };
  const times = { ours: [1, 2, 30], deno: [10, 10, 10], "raw client": [1, 1, 15] };
  const rows = [
    within(rowOf("a call", times, { "node:vm": { none: "not here" } }), "raw client", 1.5),
    under(
      rowOfAll("the longest", { ours: times.ours }, (values) => Math.max(...values)),
      100,
    ),
  ];
  expect(table([{ name: "calls", rows, notes: ["A note."] }], machine)).toMatchInlineSnapshot(`
    "linux x64, 2 CPUs: few, so servers, host and workers share them and parallel figures suffer
    Load average before: 3.1: other work was running, which slows down figures with several processes
    Values are medians of measured times unless a row says otherwise; the programs of a row run in turn. "(1.20x ±3 %)" is the median ratio of claudikins to that program, with its 95 % confidence interval (lower confidence below five rounds). "scattered" means the interval is wider than ±12 %, so no ratio is shown.

    calls          claudikins                  raw client   node:vm                         deno  target                              counted
      a call          2.00 ms  1.00 ms (scattered, ±25 %)  not here  10.0 ms (scattered, ±725 %)  within 1.5x of raw client: NOT met  3 rounds
      the longest     30.0 ms                                                                     under 100 ms: met                   3 times
      * A note.
    "
  `);
});

test("widely scattered times have no ratio, but still a target", () => {
  const [steady, scattered] = [
    [10, 10.5, 10, 9.5],
    [10, 18, 10, 4],
  ];
  const row = rowOf("a call", { ours: [20, 20, 20, 20], steady, scattered });
  expect(row.others["steady"]).toMatchObject({ value: 10, ratio: 2 });
  expect(row.others["scattered"]).toEqual({ value: 10, spread: expect.any(Number) });
  expect(within(row, "scattered", 1.5).target?.met).toBe(false);
  expect(within(row, "scattered", 2.5).target?.met).toBe(true);
});

test("a target may be a difference", () => {
  const row = (ours: number) => atMostAbove(rowOf("a call", { ours: [ours], bare: [5] }), "bare", 40).target;
  expect(row(44)).toEqual({ text: "under 40 ms above bare", met: true });
  expect(row(45)?.met).toBe(false);
  expect(() => atMostAbove(rowOf("a call", { ours: [1] }), "bare", 40)).toThrow("a call has no bare");
});

test("a ratio is the median of the ratios of pairs, and a slope is that of the best-fitting line", () => {
  expect(ratioOf([1, 2, 30], [1, 1, 10])).toBe(2);
  expect(slope([1, 2, 4].map((x) => ({ x, y: 5 + 3 * x })))).toBeCloseTo(3);
});

test("a median is known from the ranks of values, and rounds end once the ratios are known", async () => {
  expect(spreadOf([5, 6])).toBeUndefined();
  expect(spreadOf([8, 10, 12])).toBeCloseTo(0.2);
  const steady = await inTurn({ least: 3, most: 50 }, { ours: async () => 2, other: async () => 1 });
  expect(steady.ours.length).toBe(3);
  let next = 0;
  const unsteady = await inTurn({ least: 3, most: 50 }, { ours: async () => (next += 1), other: async () => 1 });
  expect(unsteady.ours.length).toBe(50);
});

test("a fast peer is measured more often per round, unless the number of rounds is fixed", async () => {
  const contestants = {
    ours: async () => 1,
    other: async () => {
      await Bun.sleep(100);
      return 2;
    },
  };
  const times = await inTurn({ least: 2, most: 2, withinMs: 60_000 }, contestants);
  expect([times.ours.length, times["other"]?.length]).toEqual([10, 2]);
  expect(rowOf("a call", times)).toMatchObject({ counted: "10 times in 2 rounds", others: { other: { ratio: 0.5 } } });
  expect((await inTurn(2, contestants)).ours.length).toBe(2);
});
