/** The bench itself: two of its cheap sections end to end, and what it prints. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../support/claudikins.ts";
import { runProgram } from "../support/process.ts";
import { ratioOf, slope } from "./measure.ts";
import { atMostAbove, rowOf, rowOfAll, table, under, within } from "./report.ts";

const bench = (...args: string[]) => runProgram([process.execPath, join(root, "test", "bench", "run.ts"), ...args]);

const figure = { value: expect.any(Number), ratio: expect.any(Number) };
const notHere = { none: "not here" };

test("sections are measured, and come as one JSON document", async () => {
  const { exitCode, stdout, stderr } = await bench("--only", "warm,compute", "--runs", "1", "--json", "--no-deno");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  const row = (what: string, counted: string) => ({
    what,
    unit: "ms",
    ours: expect.any(Number),
    others: { "node:vm": figure, deno: notHere },
    counted,
  });
  expect(JSON.parse(stdout)).toEqual({
    machine: {
      platform: `${process.platform} ${process.arch}`,
      cpus: expect.any(Number),
      cpu: expect.any(String),
      load: expect.any(Number),
    },
    runs: 1,
    deno: { missing: "--no-deno" },
    sections: [
      {
        name: "warm",
        rows: [
          { ...row("return 1, p50", "20 times"), target: { text: "under 2 ms", met: expect.any(Boolean) } },
          row("return 1, p99", "20 times"),
        ],
        notes: [expect.stringContaining("node:vm is no isolation"), expect.stringContaining("deno")],
      },
      { name: "compute", rows: [row("fib(27), inside", "1 rounds")], notes: [] },
    ],
  });
}, 30_000);

test("a section that there is not is refused", async () => {
  const { exitCode, stdout, stderr } = await bench("--only", "warm,cold");
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toContain('--only has "cold"; there are startup, surface, warm,');
});

test("people get a table", () => {
  const machine = { platform: "linux x64", cpus: 2, cpu: "any", load: 3.14 };
  const times = { ours: [1, 2, 30], deno: [10, 10, 10], "raw client": [1, 1, 15] };
  const rows = [
    within(rowOf("a call", times, { "node:vm": { none: "not here" } }), "raw client", 1.5),
    under(
      rowOfAll("the longest", { ours: times.ours }, (values) => Math.max(...values)),
      100,
    ),
  ];
  expect(table([{ name: "calls", rows, notes: ["A note."] }], machine)).toMatchInlineSnapshot(`
    "linux x64, 2 CPUs: few, so that servers, host and workers take turns and parallel figures suffer
    Load average before: 3.1: others were at work, which costs most where processes take turns
    Medians where nothing else is said; all of a row measured in turn; (1.20x): ours divided by that one, the median of the rounds' ratios.

    calls          claudikins       raw client   node:vm             deno  target                              counted
      a call          2.00 ms  1.00 ms (2.00x)  not here  10.0 ms (0.20x)  within 1.5x of raw client: NOT met  3 rounds
      the longest     30.0 ms                                              under 100 ms: met                   3 times
      * A note.
    "
  `);
});

test("a target may be a difference", () => {
  const row = (ours: number) => atMostAbove(rowOf("a call", { ours: [ours], bare: [5] }), "bare", 40).target;
  expect(row(44)).toEqual({ text: "under 40 ms above bare", met: true });
  expect(row(45)?.met).toBe(false);
  expect(() => atMostAbove(rowOf("a call", { ours: [1] }), "bare", 40)).toThrow("a call has no bare");
});

test("a ratio is the median of the pairs' ratios, and a slope the one of the nearest line", () => {
  expect(ratioOf([1, 2, 30], [1, 1, 10])).toBe(2);
  expect(slope([1, 2, 4].map((x) => ({ x, y: 5 + 3 * x })))).toBeCloseTo(3);
});
