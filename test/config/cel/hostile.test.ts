/** No arguments that a program can choose make conditions block the thread: the rules of a call have a limit, and one that needs more applies. */
import { describe, expect, test } from "bun:test";
import { conditionOf } from "../../../src/config/condition.ts";
import type { RuleLine } from "../../../src/config/policy.ts";
import { Rules } from "../../../src/policy/rules.ts";

// Steps are counted, and a core that is busy or slow needs longer for one. A condition without a limit takes seconds.
const mostMs = 300;
const megabyte = 1_000_000;

function facts(args: object) {
  const none = new Set<"public">();
  return {
    server: "s",
    tool: "s.t",
    args,
    labels: none,
    reads: none,
    agent: { name: "", version: "", door: "", person: "" },
  };
}

/** The time of this thread: tests beside this one may have all cores. */
function usedMs(begin: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1_000;
}

/** Whether the rules apply to a call, and how long that takes. */
async function decided(
  conditions: readonly string[],
  args: object,
): Promise<{ applies: boolean; why: string; ms: number }> {
  const rules = new Rules();
  const lines = conditions.map(
    (condition, index): RuleLine => ({ effect: "deny", condition, line: `policy.rules[${index}]` }),
  );
  await rules.load(lines);
  const { tool, labels } = facts(args);
  const begin = process.threadCpuUsage();
  const applied = rules.applied(
    lines,
    { tool, labels },
    () => facts(args),
    () => undefined,
  );
  return { applies: applied !== undefined, why: applied?.problem ?? "", ms: usedMs(begin) };
}

const long = (text: string, size = 4 * megabyte) => text.repeat(size / text.length);
const random = (letters: string, size: number) => {
  let state = 52;
  return Array.from({ length: size }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return letters[(state >>> 16) % letters.length];
  }).join("");
};
const nested = (levels: number) => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
  return value;
};

describe("patterns", () => {
  test.each<[string, string, boolean]>([
    [String.raw`\\s+$`, `${" ".repeat(20_000)}x`, false],
    [String.raw`\\s+$`, " ".repeat(20_000), true],
    [String.raw`[^@]+@example\\.com`, "a".repeat(20_000), false],
    [String.raw`[^@]+@example\\.com`, `${"a".repeat(20_000)}@example.com`, true],
    ["(?:(?:a)+)+$", `${"a".repeat(20_000)}!`, false],
    ["((a|b)?c?)+$", `${"ab".repeat(10_000)}!`, true],
    ["^((a|b)?c?)+$", `${"ab".repeat(10_000)}!`, false],
    ["^(a+)+$", `${"a".repeat(20_000)}!`, false],
    ["(a|aa)+$", `${"a".repeat(20_000)}!`, false],
    ["^(.*?,){11}P", "1,2,3,4,5,6,7,8,9,10,11,12,".repeat(1_000), false],
    ["(x+x+)+y", "x".repeat(20_000), false],
    [String.raw`(?i)password\\s*[:=]`, `${"password ".repeat(2_000)}=`, true],
    [String.raw`^\\p{L}+$`, "ä".repeat(20_000), true],
  ])("%s is right and quick for 20,000 characters", async (pattern, text, expected) => {
    const { applies, why, ms } = await decided([`args.text.matches("${pattern}")`], { text });
    expect({ applies, why }).toEqual({ applies: expected, why: "" });
    expect(ms).toBeLessThan(mostMs);
  });

  test.each<[string, string]>([
    [String.raw`\\s+$`, `${long(" ", 8 * megabyte)}x`],
    ["(?s).*a.{15}$", random("ab", megabyte)],
    ["(?:.?.?.?.?.?.?.?.?)*b.{20}$", random("ab", megabyte)],
    ["(?i)(?:[^a]*a.{9,12}){3}$", random("ab", megabyte)],
    ["(?:a?){300}a{300}", "a".repeat(megabyte)],
    [String.raw`[\\pL\\pN\\pS\\x{10000}-\\x{10ffff}]{200}x`, random("aé\u4e00", 4 * megabyte)],
    ["((a{100}){5})$", random("aaaaaaaaaaab", megabyte)],
  ])("%s for megabytes of text is quick, and applies if it is not done", async (pattern, text) => {
    const condition = `args.text.matches("${pattern}")`;
    const { applies, why, ms } = await decided(
      Array<string>(20).fill(`${condition} && false || ${condition} && false`),
      { text },
    );
    expect(ms).toBeLessThan(mostMs);
    if (applies) expect(why).toBe("the arguments are too large for it");
  });
});

const ones = Array<number>(megabyte).fill(1);
const words = Array.from({ length: 200_000 }, (_, index) => `word ${index}`);

describe("other work that grows with the arguments", () => {
  test.each<[string, object]>([
    ["args.list.all(a, args.list.all(b, a == b))", { list: ones }],
    ["args.list.exists(a, args.list.exists(b, args.list.exists(c, a + b + c == 0)))", { list: ones.slice(0, 2_000) }],
    ["args.list.map(a, args.list.map(b, a)).size() == 0", { list: ones }],
    ["args.list.filter(a, a in args.list).size() == 0", { list: words }],
    ["args.list.exists_one(a, a in args.list.filter(b, b != a))", { list: words }],
    ["args.list.map(a, args.text + string(a)).size() == 0", { list: ones, text: long("a") }],
    ["args.list.map(a, args.list + args.list).size() == 0", { list: ones }],
    ["args.list.exists(a, args.text.contains('b' + string(a)))", { list: words, text: long("a") }],
    ["args.list.exists(a, size(args.text) == 1)", { list: ones, text: long("ä") }],
    ["args.list.exists(a, args.text.lowerAscii() == args.text.upperAscii())", { list: ones, text: long("aB") }],
    ["args.list.exists(a, args.text.trim() == '')", { list: ones, text: long(" ") }],
    ["args.list.exists(a, args.text.split('a').size() == 0)", { list: ones, text: long("ab") }],
    ["args.text.split('').exists(a, a == 'b')", { text: long("a") }],
    ["args.list.join(args.text) == ''", { list: words, text: long("a") }],
    ["args.text.contains(args.part)", { text: long("a"), part: `${long("a", 2 * megabyte)}b` }],
    ["args.text.contains(args.part)", { text: long("ab"), part: `${long("ab", megabyte)}ba` }],
    ["args.text.lastIndexOf(args.part) == 1", { text: long("a"), part: `b${long("a", 2 * megabyte)}` }],
    ["args.text.split(args.part).size() == 1", { text: long("a"), part: `${long("a", 2 * megabyte)}b` }],
    ["args.list.exists(a, args.text < args.other)", { list: ones, text: long("a"), other: `${long("a")}b` }],
    ["args.list.exists(a, args.text == args.other)", { list: ones, text: long("a"), other: `${long("a").slice(1)}b` }],
    ["args.list.exists(a, args.text.substring(1000000).startsWith('b'))", { list: ones, text: long("ä") }],
    ["args.one == args.other", { one: ones, other: [...ones] }],
    ["args.list.exists(a, args.one == args.other)", { list: ones, one: ones, other: [...ones] }],
    ["args.one == args.other", { one: nested(5_000), other: nested(5_000) }],
    ["args.one != args.other", { one: nested(400), other: nested(400) }],
    ["args.list.exists(a, a.matches('(?:b?)+c$'))", { list: words }],
    [
      "args.list.exists(a, timestamp(a).getHours('Europe/Berlin') == 99)",
      { list: Array<string>(50_000).fill("2026-01-01T00:00:00Z") },
    ],
    ["args.list.exists(a, int(a) == 1)", { list: Array<string>(100).fill(long("9", 40_000)) }],
    ["args.list.exists(a, duration(a) == duration('1s'))", { list: Array<string>(100_000).fill("1h".repeat(50)) }],
    [
      "args.list.exists(a, args.map.exists(b, b == 'c'))",
      { list: ones, map: Object.fromEntries(words.map((each) => [each, 1])) },
    ],
    [
      "args.list.exists(a, size(args.map) == 1)",
      { list: ones, map: Object.fromEntries(words.map((each) => [each, 1])) },
    ],
    [
      "args.list.exists(a, args.map == args.map)",
      { list: ones, map: Object.fromEntries(words.map((each) => [each, 1])) },
    ],
    ["args.list.map(a, args.list.map(b, [a, b])).exists(c, c == args.list)", { list: ones }],
  ])("%s", async (condition, args) => {
    for (const text of [condition, `!(${condition})`]) {
      const { ms } = await decided([text], args);
      expect(ms).toBeLessThan(mostMs);
    }
    // Neither a condition nor its opposite holds if it is too much work, so both rules apply.
    const both = await Promise.all([condition, `!(${condition})`].map((text) => decided([text], args)));
    expect(both.some(({ applies }) => applies)).toBe(true);
  });

  test("two hundred rules about one call have one limit together", async () => {
    const conditions = Array.from({ length: 200 }, (_, index) => `args.list.exists(a, a == ${index + 2})`);
    const { applies, why, ms } = await decided(conditions, { list: ones });
    expect({ applies, why }).toEqual({ applies: true, why: "the arguments are too large for it" });
    expect(ms).toBeLessThan(mostMs);
  });

  test("ordinary calls are far from the limit", async () => {
    const files = Array.from({ length: 500 }, (_, index) => ({
      path: `src/file-${index}.ts`,
      content: long("const x = 1;\n", 13_000),
    }));
    const conditions = [
      "args.files.exists(f, f.path.startsWith('secret/'))",
      "args.files.exists(f, f.content.contains('BEGIN PRIVATE KEY'))",
      "args.files.exists(f, f.path.matches('\\\\.(?:pem|key)$'))",
      "args.files.map(f, f.path).exists(p, p in ['.env', '.npmrc'])",
      "size(args.files) > 1000",
    ];
    expect(await decided(conditions, { files })).toMatchObject({ applies: false, why: "" });
  });
});

test("a program cannot make conditions keep memory", () => {
  const condition = conditionOf("args.one == args.other");
  const shapes = () => Array.from({ length: 1_000 }, () => ({ one: shape(60), other: shape(60) }));
  const shape = (levels: number): unknown =>
    levels === 0 ? 1 : Math.random() < 0.5 ? [shape(levels - 1)] : { a: shape(levels - 1) };
  for (const args of shapes()) condition.isMet(facts(args));
  Bun.gc(true);
  const before = process.memoryUsage().heapUsed;
  for (let round = 0; round < 3; round++) for (const args of shapes()) condition.isMet(facts(args));
  Bun.gc(true);
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20 * megabyte);
});
