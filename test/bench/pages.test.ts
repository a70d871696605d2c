/** Figures on pages are written from one run, and a page that differs from that run is reported. */
import { expect, test } from "bun:test";
import { figuresOf, type Results } from "../../scripts/bench/figures.ts";
import { problemsOf, textOf, withFigures } from "../../scripts/bench/pages.ts";
import { type Row, rowOf, rowOfAll } from "../../scripts/bench/report.ts";

const versions = {
  mcporter: { version: "0.9.0" },
  deno: { missing: "no network" },
  "SDK, node": { version: "1.32.2" },
};

const resultsOf = (ms: number): Results => ({
  run: "0a1b2c3d",
  date: "2026-01-02",
  command: "bun run bench --quick",
  machine: { platform: "linux x64", cpus: 2, bun: "1.4.5", load: 0.1 },
  peers: versions,
  sections: figuresOf(
    [
      {
        name: "call",
        rows: [
          {
            ...rowOf("again", { ours: [ms], mcporter: [10 * ms], "SDK, node": [ms] }, { deno: { none: "not here" } }),
            target: { text: "under 50 ms", met: true },
          },
          rowOfAll("p99", { ours: [2 * ms] }, (values) => Math.max(...values)),
        ],
        notes: ["A note."],
      },
      {
        name: "tasks",
        rows: [
          {
            what: "all tasks: tokens",
            id: "all",
            unit: "tokens",
            ours: 1_200,
            others: { direct: { value: 24_000, ratio: 0.05 } },
            how: "computed",
            counted: "once",
          },
        ],
        notes: [],
      },
    ],
    versions,
  ),
});

const page = [
  "A call takes 0 ms<!-- figure: call.again -->, which is 1.00x<!-- figure: call.again/mcporter/ratio -->.",
  "",
  "<!-- bench:begin -->",
  "<!-- bench:end -->",
  "",
  "And 1 %<!-- figure: tasks.all/direct/saved --> fewer tokens than 2 tokens<!-- figure: tasks.all/direct -->.",
  "",
].join("\n");

test("a run is written between the marks and into the figures in prose, and each row says how it was obtained", () => {
  expect(withFigures(page, resultsOf(26))).toMatchInlineSnapshot(`
    "A call takes 26.0 ms<!-- figure: call.again -->, which is 0.10x<!-- figure: call.again/mcporter/ratio -->.

    <!-- bench:begin -->
    Run 0a1b2c3d of 2026-01-02: \`bun run bench --quick\` on linux x64, 2 CPUs, Bun 1.4.5. Measured beside claudikins: mcporter 0.9.0, SDK, node 1.32.2.
    deno was not measured: no network.

    ### call

    Time for one tool call from a shell. The tool is \`everything.echo\`. To measure it: \`bun run bench --only call\`.

    | | claudikins | others | how |
    | --- | --- | --- | --- |
    | again | 26.0 ms | mcporter 260 ms (0.10x) · SDK, node 26.0 ms (1.00x) · deno (not here) | measured, 1 rounds |
    | p99 | 52.0 ms |  | measured, 1 times |

    - A note.

    ### tasks

    Tokens, round trips and time for whole tasks with four servers: demo, filesystem, memory and everything. To measure it: \`bun run bench --only tasks\`.

    | | claudikins | others | how |
    | --- | --- | --- | --- |
    | all tasks: tokens | 1,200 tokens | direct 24,000 tokens (0.05x) | computed, once |
    <!-- bench:end -->

    And 95 %<!-- figure: tasks.all/direct/saved --> fewer tokens than 24,000 tokens<!-- figure: tasks.all/direct -->.
    "
  `);
  const lines = withFigures(page, resultsOf(26))
    .split("\n")
    .filter((line) => line.startsWith("| "));
  const rows = lines.filter((line) => !/^\| (?:\||---)/.test(line));
  expect(rows.length).toBe(3);
  for (const row of rows)
    expect(row).toMatch(/ (?:measured|computed|estimated), (?:once|\d+ (?:rounds|times)(?: in \d+ rounds)?) \|$/);
});

test("a quantity that several tasks share becomes a column", () => {
  const counted = (what: string, ours: number, others: Row["others"] = {}): Row => ({
    ...{ what, unit: "tokens", ours, others, counted: "once" },
  });
  const rows = ["one", "two: a", "three"].flatMap((task, index) => [
    counted(`${task}: tokens`, index + 1, { direct: { value: 10, ratio: (index + 1) / 10 } }),
    ...(index < 2 ? [counted(`${task}: trips`, 7)] : []),
  ]);
  const results = { ...resultsOf(26), sections: figuresOf([{ name: "tasks", rows, notes: [] }], versions) };
  const written = withFigures("<!-- bench:begin -->\n<!-- bench:end -->", results);
  expect(written.slice(written.indexOf("| |"))).toMatchInlineSnapshot(`
    "| | claudikins | others | how |
    | --- | --- | --- | --- |
    | one: trips | 7 tokens |  | measured, once |
    | two: a: trips | 7 tokens |  | measured, once |

    | | tokens (measured, once) |
    | --- | --- |
    | one | **1 token** · direct 10 tokens (0.10x) |
    | two: a | **2 tokens** · direct 10 tokens (0.20x) |
    | three | **3 tokens** · direct 10 tokens (0.30x) |
    <!-- bench:end -->"
  `);
});

test("writing the same run twice changes nothing, and the next run replaces it", () => {
  const first = withFigures(page, resultsOf(26));
  expect(withFigures(first, resultsOf(26))).toBe(first);
  expect(withFigures(first, resultsOf(31))).toBe(withFigures(page, resultsOf(31)));
});

test("a figure that differs from the results is a problem", () => {
  const right = withFigures(page, resultsOf(26));
  expect(problemsOf(right, resultsOf(26))).toEqual([]);
  const stale = ["the figures differ from the results; to write them: bun run bench --write"];
  expect(problemsOf(right, { ...resultsOf(26), run: "ffffffff" })).toEqual(stale);
  expect(problemsOf(right.replace("26.0 ms<!--", "16.0 ms<!--"), resultsOf(26))).toEqual(stale);
  expect(problemsOf(right, undefined)).toEqual(["there are figures but no results"]);
});

test("a measurement in prose that names no figure is a problem, unless it is a known limit", () => {
  const text = "It starts in 12 ms and takes 5.5 MB, 3x less; see `40 ms` and at most 30 seconds, in 2025.\n| 7 ms |\n";
  const problem = (number: string) => `"${number}" is a measurement that names no figure`;
  expect(problemsOf(text, undefined, ["30 seconds"])).toEqual(["12 ms", "5.5 MB", "3x", "7 ms"].map(problem));
});

test("unknown figures, values that are not numbers, and duplicate names are refused", () => {
  const results = resultsOf(26);
  expect(textOf(results, "call.again/SDK,_node")).toBe("26.0 ms");
  expect(() => textOf(results, "call.first")).toThrow("the bench has printed no figure call.first");
  expect(() => textOf(results, "call.again/deno")).toThrow("call.again has no deno beside it");
  expect(withFigures("# No marks", results)).toBe("# No marks");
  expect(() => withFigures("<!-- bench:begin -->", results)).toThrow("the page needs <!-- bench:begin -->");
  const row = rowOf("again", { ours: [Number.NaN] });
  expect(() => figuresOf([{ name: "call", rows: [row], notes: [] }], {})).toThrow(
    "call.again was not measured: the value is NaN",
  );
  const twice = [rowOf("again", { ours: [1] }), rowOf("Again!", { ours: [1] })];
  expect(() => figuresOf([{ name: "call", rows: twice, notes: [] }], {})).toThrow("two figures are called call.again");
});
