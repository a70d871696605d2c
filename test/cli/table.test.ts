/** Tables, colours and texts in terminals of different widths. */
import { describe, expect, test } from "bun:test";
import { durationText } from "../../src/base/duration.ts";
import { proseLines } from "../../src/cli/terminal/layout.ts";
import { type Column, table } from "../../src/cli/terminal/table.ts";
import { green, hasStyles, red, safeOutput, stateCell, yellow } from "../../src/cli/terminal/terminal-output.ts";

const columns: Column[] = ["id", { text: "what" }, "state", { number: "count" }, { path: "config" }];
const row = [
  "52cd444790bf",
  "a long description that says much",
  "waits for approval",
  "1,234",
  "/home/ada/shop/claudikins.json",
];
const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));

describe("a table", () => {
  test.each([120, 100, 80, 60, 48])("fits a terminal of %d columns and cuts no name, state or number", (width) => {
    const text = table(columns, [row], width);
    expect(widthOf(text)).toBeLessThanOrEqual(width);
    for (const whole of ["52cd444790bf", "waits for approval", "1,234"]) expect(text).toContain(whole);
  });

  test("shortens texts at their end and paths at their beginning, the widest first", () => {
    expect(table(columns, [row], 90)).toBe(
      [
        "id            what                      state               count  config",
        "52cd444790bf  a long description that…  waits for approval  1,234  …a/shop/claudikins.json",
        "",
      ].join("\n"),
    );
  });

  test("puts its last columns on a line below each row if there is no room for them", () => {
    expect(table(columns, [row, ["x", "", "ready", "1", ""]], 60)).toBe(
      [
        "id            what                 state               count",
        "52cd444790bf  a long description…  waits for approval  1,234",
        "    config: /home/ada/shop/claudikins.json",
        "x                                  ready                   1",
        "",
      ].join("\n"),
    );
  });

  test("has no cell in a pipe that widens the cells of others, and cuts none", () => {
    const long = "x".repeat(400);
    const text = table(
      ["id", { text: "what" }, "state"],
      [
        ["1", long, "ready"],
        ["2", "short", "ready"],
      ],
    );
    expect(text).toContain(`1   ${long}  ready\n`);
    expect(text.split("\n")[2]).toBe(`2   short${" ".repeat(37)}ready`);
    expect(text.split("\n")[0]?.length).toBeLessThan(60);
  });

  test("gives no width to a column that is empty in all rows, if there is too little", () => {
    const rows = [["52cd444790bf", "a description", "", "-", ""]];
    expect(table(columns, rows, 40)).toBe("id            what\n52cd444790bf  a description\n");
    expect(table(columns, rows)).toContain("count  config\n");
  });

  test("never cuts the first column, which holds what a person types next", () => {
    for (const width of [30, 20, 1]) expect(table(columns, [row], width)).toMatch(/^52cd444790bf\b/m);
    expect(table([{ text: "id" }], [["52cd444790bf"]], 4)).toBe("id\n52cd444790bf\n");
  });

  test("measures wide characters and shows control characters of others as escapes", () => {
    const text = table(["name", { text: "what" }], [["日本語", "\u001b[31m次の次の次の次の次の次の次の"]], 30);
    expect(widthOf(text)).toBeLessThanOrEqual(30);
    expect(text).not.toContain("\u001b");
  });
});

test("a cell has the colour of its state and the width of its text", () => {
  const plain = table(["server", "state", "tools"], [["a", "ready", "1"]]);
  const styled = table(["server", "state", "tools"], [["a", stateCell("ready"), "1"]]);
  expect(Bun.stripANSI(styled)).toBe(plain);
  expect(styled).toContain(`${green("ready")}  1`);
});

test.each([
  ["ready in 1.2 s", green],
  ["signed in", green],
  ["broken", red],
  ["failed", red],
  ["SERVER_UNAVAILABLE", red],
  ["needs GITHUB_TOKEN", yellow],
  ["waits for approval", yellow],
  ["not signed in", yellow],
])("%s has a colour that differs from those of other states", (text, style) => {
  expect(stateCell(text).style("x")).toBe(style("x"));
});

test("a dumb terminal and NO_COLOR get no colour in tables", async () => {
  const written: string[] = [];
  const output = { isTerminal: true, write: async (text: string) => void written.push(text) };
  for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
    await safeOutput(output, hasStyles(output, env)).write(table(["state"], [[stateCell("broken")]]));
  }
  expect(written).toEqual(["state\nbroken\n", "state\nbroken\n"]);
});

test("an error is wrapped between words; commands and code stay in one piece", () => {
  const text = [
    'hint: demo.list_orders(args?: { status?: "pending" | "paid"; customer_id?: string })',
    "  1 | await demo.list_orders({ a long line of code that is wider than the terminal })",
    "Sign in first: claudikins auth login a-very-long-name-of-a-server --config x.json. Then try again.",
  ].join("\n");
  expect(proseLines(text, 40)).toBe(
    [
      "hint: demo.list_orders(args?: { status?:",
      '"pending" | "paid"; customer_id?: string',
      "})",
      "  1 | await demo.list_orders({ a long line of code that is wider than the terminal })",
      "Sign in first:",
      "claudikins auth login a-very-long-name-of-a-server --config x.json.",
      "Then try again.",
    ].join("\n"),
  );
  expect(proseLines(text)).toBe(text);
});

test.each([
  [0, "0 ms"],
  [8.44, "8.4 ms"],
  [411.6, "412 ms"],
  [999.6, "1 s"],
  [1_234, "1.2 s"],
  [14_500, "14.5 s"],
  [60_000, "60 s"],
  [221_493, "3.7 min"],
  [300_000, "5 min"],
  [7_500_000, "2.1 h"],
  [86_400_000, "24 h"],
  [1_036_800_000, "12 days"],
])("%d ms is written as %s on every surface", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
