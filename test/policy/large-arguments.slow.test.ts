/** Calls with large arguments that a person must confirm: they block nobody, and a person who is asked can read the question. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { exceededLimit } from "../../src/policy/argument-size.ts";
import { leavingIn } from "../../src/policy/flow/leaving.ts";
import { SessionReads } from "../../src/policy/flow/session-reads.ts";
import { questionText, wholeQuestionText } from "../../src/policy/question-text.ts";
import { LongestTurn } from "../support/longest-turn.ts";
import { Person, Recorded } from "./recorded.ts";

const call = {
  server: "out",
  tool: "post",
  asksFor: () => undefined,
  isStrange: () => false,
  changes: () => true,
  describedIn: () => undefined,
};

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

/** Programs that make one call, by what is large about it. */
const refused: [string, string, string][] = [
  [
    "seven megabytes of nested objects",
    "{ list: Array.from({ length: 110_000 }, (_, id) => ({ id, tags: ['a', 'b'], deep: { x: { y: { z: id } } } })) }",
    "20,000 values",
  ],
  ["millions of small values", "{ a: new Array(3_000_000).fill(1) }", "20,000 values"],
  ["one huge text", "{ text: 'x'.repeat(6_000_000) }", "4,000,000 characters"],
  ["a huge text of escapes", "{ text: '\\n\\u0001'.repeat(800_000) }", "4,000,000 characters"],
  ["thousands of levels", "JSON.parse('{\"a\":'.repeat(1_000) + '1' + '}'.repeat(1_000))", "500 levels"],
  [
    "levels whose indents are longer than their values",
    "{ a: JSON.parse('['.repeat(400) + '1,'.repeat(9_000) + '1' + ']'.repeat(400)) }",
    "4,000,000 characters",
  ],
  [
    "keys of escapes",
    "Object.fromEntries(Array.from({ length: 30_000 }, (_, id) => ['\\n\"\\u0001' + id, 1]))",
    "20,000 values",
  ],
  ["a huge key", "{ ['k'.repeat(5_000_000)]: 1 }", "4,000,000 characters"],
];

/** The old code blocked for 1 to 10 s, and machines that run several tests are slow. */
const boundMs = 700;

describe("a call that a person must confirm", () => {
  let person: Person;
  beforeAll(async () => {
    await recorded.open({ confirm: { "remove-it": "always", "*": "destructive" } });
    person = new Person("once");
    recorded.app.pool.setHost({ responder: person.host });
    await recorded.run("return rec.remove_it({})");
    recorded.got();
    person.asked.length = 0;
  });

  test.each(refused)("is refused at once if it has %s, and nobody is asked", async (_, args, excess) => {
    using longest = new LongestTurn();
    const outcome = await recorded.run(`return await rec.remove_it(${args})`);
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: "POLICY_DENIED",
        message: `rec.remove-it was not called: a person must confirm it, and nobody reads arguments of more than ${excess}`,
        hint: expect.stringContaining("Make several calls with fewer arguments each. To call it without confirmation"),
      },
    });
    expect(person.asked).toEqual([]);
    expect(recorded.got()).toEqual([]);
    expect(longest.ms).toBeLessThan(boundMs);
  });

  test("is refused before it is parsed if it has hundreds of thousands of different keys", async () => {
    using longest = new LongestTurn();
    const keys = "Object.fromEntries(Array.from({ length: 400_000 }, (_, id) => ['k' + id, 1]))";
    expect(await recorded.run(`return await rec.remove_it(${keys})`)).toMatchObject({
      error: { code: "ARGUMENTS_TOO_LARGE", message: expect.stringContaining("more than 50,000 different keys") },
    });
    expect(longest.ms).toBeLessThan(boundMs);
  });

  test.each([
    ["ones", "new Array(3_500_000).fill(1)"],
    ["empty lists", "Array.from({ length: 2_300_000 }, () => [])"],
    ["empty objects", "Array.from({ length: 1_000_000 }, () => ({}))"],
    ["ones, 400 levels deep", "JSON.parse('['.repeat(400) + '1,'.repeat(3_400_000) + '1' + ']'.repeat(400))"],
    // Writing them takes time for each level: the engine looks at every list above for a circle.
    ["empty lists, 20 levels deep", "JSON.parse('['.repeat(20) + '[],'.repeat(1_000_000) + '1' + ']'.repeat(20))"],
  ])("is refused before it is parsed if it has millions of %s", async (_, value) => {
    using longest = new LongestTurn();
    expect(await recorded.run(`return await rec.remove_it({ a: ${value} })`)).toMatchObject({
      error: { code: "ARGUMENTS_TOO_LARGE", message: expect.stringContaining("have too many values") },
    });
    expect(longest.ms).toBeLessThan(100);
  });

  test("is made if text that looks like millions of lists is in it, and nobody has to be asked", async () => {
    const text = "JSON.stringify([`[],[],${'[],\"'.repeat(1_000_000)}`, 'a\\\\'])";
    expect(await recorded.run(`return await rec.add_it({ text: ${text} })`)).toMatchObject({ ok: true });
    expect(recorded.got()).toHaveLength(1);
  });

  test("is made after a confirmation if a file of 300 KB, or of two megabytes, is written", async () => {
    for (const length of [300_000, 2_000_000]) {
      const text = `'line of text é\\n'.repeat(${length / 15})`;
      expect(await recorded.run(`return await rec.remove_it({ path: 'a', text: ${text} })`)).toMatchObject({
        ok: true,
      });
      expect(recorded.got()).toMatchObject([{ args: { path: "a", text: "line of text é\n".repeat(length / 15) } }]);
      expect(person.asked.at(-1)).toContain('"path": "a"');
    }
  });

  test("blocks nobody together with nineteen others of a megabyte each", async () => {
    const text = "'x y '.repeat(250_000)";
    using longest = new LongestTurn();
    const source = `return (await Promise.all(Array.from({ length: 20 }, (_, id) => rec.remove_it({ id, text: ${text} })))).length`;
    expect(await recorded.run(source)).toMatchObject({ ok: true, value: 20 });
    expect(recorded.got()).toHaveLength(20);
    expect(longest.ms).toBeLessThan(boundMs);
  });

  test("is not refused for its size if nobody has to be asked", async () => {
    const args = refused[0]![1];
    expect(await recorded.run(`return await rec.add_it(${args})`)).toMatchObject({ ok: true, value: "did add-it" });
    expect(recorded.got()).toHaveLength(1);
    recorded.app.pool.setHost({ responder: new Person("session").host });
    await recorded.run("return rec.remove_it({})");
    expect(await recorded.run(`return await rec.remove_it(${args})`)).toMatchObject({ ok: true });
    expect(recorded.got()).toHaveLength(2);
  });
});

describe("a comparison of arguments with private data that was read", () => {
  const reads = new SessionReads();
  const secret = Array.from({ length: 20_000 }, (_, id) => `secret${id}`).join(" ");
  const text = { size: secret.length, text: () => secret };
  for (let each = 0; each < 7; each++) void reads.add([{ label: "private", source: `s.t${each}` }], text);
  void reads.add([{ label: "untrusted", source: "s.page" }], { size: 4, text: () => "page" });
  const whyAsked = (args: object) => leavingIn({ ...call, args, labels: new Set(["public"]), reads, mode: "ask" })?.why;
  whyAsked({ a: "some words" });

  test.each<[string, object]>([
    ["millions of ones", { a: Array<number>(3_400_000).fill(1) }],
    ["hundreds of thousands of empty lists", { a: Array.from({ length: 700_000 }, () => []) }],
    ["a text of 4 MB", { a: "abcdefgh zyx".repeat(330_000) }],
    ["4 MB of spaces", { a: " ".repeat(4_000_000) }],
    ["4 MB of backslashes", { a: "\\".repeat(4_000_000) }],
    ["thousands of texts", { a: Array.from({ length: 19_000 }, (_, id) => `abcdef${id}`) }],
    ["thousands of levels", JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`)],
    ["thousands of keys", Object.fromEntries(Array.from({ length: 50_000 }, (_, id) => [`key${id}`, 1]))],
  ])("takes less than 100 ms of CPU for %s", (_, args) => {
    using longest = new LongestTurn();
    expect(whyAsked(args)).toMatch(/too large|too many/);
    expect(longest.ms).toBeLessThan(100);
  });

  test("finds what the arguments repeat", () => {
    expect(whyAsked({ a: { b: [secret.slice(1_000, 1_100)] } })).toContain("its arguments repeat private data (s.t0:");
    expect(whyAsked({ a: `${"x ".repeat(20_000)}${secret.slice(500, 600)}` })).toContain("too many");
    expect(whyAsked({ a: "nothing of the kind" })).toBeUndefined();
  });
});

describe("the question about large arguments", () => {
  const shown = (args: object) => questionText({ server: "rec", tool: "remove-it", args, why: "of the config" });

  test.each<[string, object, RegExp]>([
    ["one text", { a: `BEGIN${"x y ".repeat(900_000)}END` }, /… about 3,600,000 characters are not shown …/],
    ["a text of spaces", { a: `BEGIN${" ".repeat(3_000_000)}END` }, /… about 3,000,000 characters are not shown …/],
    ["a text of marks", { a: `BEGIN${"\u0301".repeat(3_000_000)}END` }, /… about 3,000,000 characters are/],
    [
      "many values",
      { BEGIN: 1, list: Array.from({ length: 19_000 }, (_, id) => `x${id}`), END: 1 },
      /… about \d{3},000 characters in 18991 lines are not shown …/,
    ],
  ])("says about how much is not shown, and costs little: %s", (_, args, expected) => {
    const startedAt = performance.now();
    const text = shown(args);
    // To make all of it visible takes seconds.
    expect(performance.now() - startedAt).toBeLessThan(500);
    expect(text.length).toBeLessThan(2_500);
    expect(text).toMatch(expected);
    expect(text).toContain("BEGIN");
    expect(text).toContain("END");
    expect(text).toMatch(/\? about [\d,]+ characters of its arguments are not shown above\.$/);
  });

  test("shows the ends of a large text as it shows those of a small one", () => {
    const ends = (text: string) => shown({ a: text }).split("\n");
    for (const letter of ["x", "\u202e", "👍", "  ", "\u0301", '"', "\\", "\n", "é"]) {
      const [small, large] = [ends(letter.repeat(2_000)), ends(letter.repeat(200_000))];
      // The first lines and the end are the same; the numbers are not.
      expect(large.slice(0, 6)).toEqual(small.slice(0, 6));
      expect(large.slice(7, -1)).toEqual(small.slice(7, -1));
      expect(large.join("\n").isWellFormed()).toBe(true);
    }
  });

  test("can be shown whole in time that grows with its length", () => {
    const json = JSON.stringify({ a: "x".repeat(400_000), b: "é👍".repeat(100_000) }, null, 2);
    const question = { server: "rec", tool: "remove-it", why: "of the config" };
    const startedAt = performance.now();
    const text = wholeQuestionText(question, json, 80);
    // The old code needed minutes.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    const lines = text.split("\n").slice(3);
    expect(lines.every((line) => Bun.stringWidth(line) <= 80)).toBe(true);
    expect(lines.join("").replace(/\s/g, "")).toBe(json.replace(/\s/g, ""));
  });
});

test("the size of arguments is measured without visiting what exceeds it", () => {
  const visited: string[] = [];
  const watched = (value: object): object =>
    new Proxy(value, {
      get(target, key) {
        visited.push(String(key));
        return Reflect.get(target, key);
      },
    });
  expect(exceededLimit(watched(Array.from({ length: 5_000_000 }, () => 0)))).toBe("20,000 values");
  expect(visited.length).toBeLessThan(20);
  expect(exceededLimit({ a: "x".repeat(3_990_000) })).toBeUndefined();
  expect(exceededLimit({ a: "x".repeat(4_000_000) })).toBe("4,000,000 characters");
  expect(exceededLimit({ a: "\n".repeat(2_000_000) })).toBe("4,000,000 characters");
  expect(exceededLimit(Array.from({ length: 20_000 }, (_, id) => id))).toBeUndefined();
  expect(exceededLimit(Array.from({ length: 20_001 }, (_, id) => id))).toBe("20,000 values");
  expect(exceededLimit({})).toBeUndefined();
});
