/** Makes random conditions and facts for them, which a seed determines. */
import type { ConditionFacts } from "../../../src/config/condition.ts";

/** Returns numbers from 0 up to, but not including, 1: mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The other implementation says that a map lacks a key whose value is null, and that a number lacks every key. CEL says neither. */
const without = new Set(["none", "map"]);
const names = ["n", "m", "ratio", "branch", "text", "list", "words", "map", "on", "none", "deep"];

/**
 * What `$name` may be. A line that occurs twice is chosen more often. The other implementation cuts texts between the halves of a code point, and does
 * not look for objects in lists; the conformance data does both.
 */
const grammar: Readonly<Record<string, readonly string[]>> = {
  condition: [
    "$bool",
    "$bool",
    "$bool && $bool",
    "$bool || $bool",
    '"public" in labels && ($bool)',
    'tool == "s.t" && $bool',
    '$bool && tool == "s.u"',
    "($bool) == ($bool)",
    "($bool) != ($bool)",
  ],
  bool: [
    "$int $order $int",
    "$int $order $int",
    "$number $order $number",
    "$text $order $text",
    "$any == $any",
    "$any != $any",
    "($bool) && ($bool)",
    "($bool) || ($bool)",
    "$bool && $bool",
    "$bool || $bool",
    "!($bool)",
    "!($bool) && !($bool)",
    "($bool ? $bool : $bool)",
    "($bool) == ($bool)",
    "$arg",
    "has(args.$name)",
    "has(args.map.k)",
    "$digit in $list",
    "'$word' in $list",
    "size($list) in $list",
    "'$word' in args.map",
    "$text.startsWith($text)",
    "$text.endsWith($text)",
    "$text.contains($text)",
    "$text.matches('$pattern')",
    "$list.all($own, $own $order $any)",
    "$list.exists($own, $own == $any)",
    "$list.exists_one($own, $own == $any)",
    "$list.exists($own, $list.exists(inner, inner == $own))",
    "args.map.exists($own, args.map[$own] == $any)",
    "type($any) == $type",
    "'$label' in labels",
    "'$label' in reads",
    "agent.name == $text",
    "true",
    "false",
  ],
  order: ["==", "!=", "<", "<=", ">", ">="],
  int: [
    "args.n",
    "args.m",
    "args.n",
    "$digit",
    "-$digit",
    "$int + $int",
    "$int - $int",
    "$int - ($int + $int)",
    "$int - ($int - $int)",
    "($int + $int) * $int",
    "$int * $int",
    "$int / ($int / $int)",
    "$int / $int",
    "$int % $int",
    "$int % ($int * $int)",
    "-($int - $int)",
    "size($list)",
    "size($text)",
    "int($number)",
    "($bool ? $int : $int)",
    "$list[$digit]",
    "$text.indexOf($text)",
    "args.deep.a.b[$digit]",
  ],
  number: [
    "$int",
    "args.ratio",
    "1.5",
    "args.ratio - (args.ratio + 0.5)",
    "double($int)",
    "-args.ratio",
    "args.ratio / 2.0",
  ],
  text: [
    "args.branch",
    "args.text",
    "args.text",
    "'$word'",
    "'$word'",
    "$text + $text",
    "$text.lowerAscii()",
    "$text.trim()",
    "string($int)",
    "$list.map(x, string(x)).join('-')",
    "args.words[$digit]",
    "agent.version",
    "server",
    "tool",
    "($bool ? $text : $text)",
  ],
  list: [
    "args.list",
    "args.words",
    "[$int, $int, $int]",
    "[$any, $any]",
    "[]",
    "$list + $list",
    "$list.filter($own, $own != $any)",
    "$list.map($own, [$own])",
    "$list.map($own, $own == $any, $own)",
    "$text.split('$word')",
    "labels",
  ],
  any: [
    "$int",
    "$text",
    "$number",
    "$bool",
    "$list",
    "$arg",
    "null",
    "{'k': $int}",
    "args.map",
    "args.map.k",
    "args.deep",
  ],
  arg: names.map((name) => `args.${name}`),
  name: [...names.filter((name) => !without.has(name)), "absent"],
  own: ["x", "each"],
  type: ["int", "string", "double", "bool", "list", "map", "null_type"],
  label: ["public", "private", "untrusted"],
  digit: ["0", "1", "2", "3", "7"],
  word: ["", "a", "main", "ab", "-", " ", "\u{1f600}", "é", "7", "\u{e000}", "A\u{1f600}b"],
  pattern: ["^m[a-z]+$", "a+", "[0-9]", "^$", "(a|b)*c", "."],
};

/** Gets shorter lines the deeper it is, so that it ends. */
export function randomCondition(random: () => number, start = "condition", depth = 0): string {
  const lines = grammar[start]!;
  const simple = lines.filter(
    (line) => !line.includes("$") || /^(?:[^$]|\$(?:digit|word|name|own|label|type|arg))*$/.test(line),
  );
  const choices = depth > 5 && simple.length > 0 ? simple : lines;
  const line = choices[Math.floor(random() * choices.length)]!;
  const own = grammar["own"]![Math.floor(random() * 2)]!;
  return line.replaceAll(/\$([a-z]+)/g, (_, name: string) =>
    name === "own" ? own : randomCondition(random, name, depth + 1),
  );
}

function pick<T>(random: () => number, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}

export function randomFacts(random: () => number): ConditionFacts {
  const number = () => pick(random, [0, 1, 2, 3, -1, 7, 90, 1e15, -7]);
  const word = () => pick(random, grammar["word"]!);
  const labels = () => new Set(["public", "private", "untrusted"].filter(() => random() < 0.5));
  const values: Record<string, () => unknown> = {
    n: number,
    m: number,
    ratio: () => pick(random, [0.5, -0.25, 1.5, 1e300]),
    branch: word,
    text: () => pick(random, [word(), word() + word(), ` ${word()} `]),
    list: () =>
      Array.from({ length: Math.floor(random() * 4) }, () => pick<unknown>(random, [number(), number(), word(), true])),
    words: () => Array.from({ length: Math.floor(random() * 4) }, word),
    map: () => (random() < 0.5 ? { k: number() } : { a: word(), constructor: number(), ["__proto__"]: 1 }),
    on: () => random() < 0.5,
    none: () => null,
    deep: () => ({ a: { b: [number(), number()] } }),
  };
  // Now and then, an argument has the type of another one.
  const swapped = names.filter((name) => !without.has(name));
  const kind = (name: string) => (random() < 0.1 && !without.has(name) ? pick(random, swapped) : name);
  const args = Object.fromEntries(names.map((name) => [name, values[kind(name)]!()]));
  return {
    server: "s",
    tool: pick(random, ["s.t", "s.u"]),
    args,
    labels: labels(),
    reads: labels(),
    agent: { name: word(), version: "2.1", door: "", person: "" },
  };
}
