/** Changes a program of the corpus at random: moves tokens and lines, makes literals extreme, inserts other code. */

import type { Random } from "../random.ts";
import { grammarProgram } from "./grammar.ts";

const tokens = /\s+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\d[\w.]*|[\w$#]+|=>|\.{3}|[^\s\w]/g;

const extremes = [
  "NaN",
  "-0",
  "2 ** 53",
  "-1",
  "1e308",
  "null",
  "undefined",
  "[]",
  "({})",
  '"\\u0000"',
  '"\\ud800"',
].concat([
  '"x".repeat(1e6)',
  '"__proto__"',
  "Symbol.iterator",
  "10n ** 99n",
  "globalThis",
  "new Proxy({}, {})",
  "() => {}",
  '"%s"',
]);

const operators = ["+", "-", "*", "**", "===", "<", ">>>", "&&", "??", "in", "=", "+=", ",", "?.", "instanceof"];

const changes: readonly ((program: string, random: Random, corpus: readonly string[]) => string)[] = [
  (program, random) => withTokens(program, random, (list, at) => list.splice(at, 1 + random.below(3))),
  (program, random) => withTokens(program, random, (list, at) => list.splice(at, 0, list[at] ?? "")),
  (program, random) => withTokens(program, random, swapWith(random)),
  (program, random) => withTokens(program, random, (list, at) => list.splice(at, 1, random.pick(list))),
  (program, random) => literalChanged(program, random),
  (program, random) => literalChanged(program, random),
  (program, random) => literalChanged(program, random),
  (program, random) => operatorChanged(program, random),
  (program, random) => operatorChanged(program, random),
  (program, random) => withLines(program, random, (list, at) => list.splice(at, 1)),
  (program, random) => withLines(program, random, (list, at) => list.splice(at, 0, list[at] ?? "")),
  (program, random) => withLines(program, random, swapWith(random)),
  (program, random, corpus) => withLines(program, random, (list, at) => list.splice(at, 0, random.pick(corpus))),
  (program, random, corpus) => withLines(program, random, (list, at) => list.splice(at, 0, lineOf(corpus, random))),
  (program, random, corpus) => withLines(program, random, (list, at) => list.splice(at, 0, lineOf(corpus, random))),
  (program, random) => withLines(program, random, (list, at) => list.splice(at, 0, grammarProgram(random))),
  (program, random) => `try {\n${program}\n} catch (error) { console.log(error) } finally { ${random.pick(extremes)} }`,
  (program, random) => `for (let round = 0; round < ${1 + random.below(20)}; round++) {\n${program}\n}`,
  (program) => `await (async () => {\n${program}\n})()`,
  (program, random) => nested(program, random.pick(["{}", "()", "[]"]), 10 ** (1 + random.below(4))),
  (program, random) => `let sum = 0${"+1".repeat(10 ** (1 + random.below(4)))};\n${program}`,
  (program) => `setTimeout(async () => {\n${program}\n}, 1)`,
];

export function mutatedProgram(corpus: readonly string[], random: Random): string {
  let program = random.pick(corpus);
  for (let count = 1 + random.below(3); count > 0; count--) program = random.pick(changes)(program, random, corpus);
  return program;
}

function nested(program: string, [open = "", close = ""]: string, depth: number): string {
  return `${open.repeat(depth)}${program}${close.repeat(depth)}`;
}

type Change = (list: string[], at: number) => unknown;

function withTokens(program: string, random: Random, change: Change): string {
  const list = program.match(tokens) ?? [""];
  change(list, random.below(list.length));
  return list.join("");
}

/** A program on one line is changed by its statements. */
function withLines(program: string, random: Random, change: Change): string {
  const separator = program.includes("\n") ? "\n" : "; ";
  const list = program.split(separator);
  change(list, random.below(list.length));
  return list.join(separator);
}

function swapWith(random: Random): Change {
  return (list, at) => {
    const other = random.below(list.length);
    [list[at], list[other]] = [list[other] ?? "", list[at] ?? ""];
  };
}

function literalChanged(program: string, random: Random): string {
  return oneChanged(program, random, /^(?:["'`\d]|true$|false$|null$|undefined$)/, random.pick(extremes));
}

function operatorChanged(program: string, random: Random): string {
  return oneChanged(program, random, /^(?:[-+*/%<>=&|?,!]|=>)$/, ` ${random.pick(operators)} `);
}

function oneChanged(program: string, random: Random, kind: RegExp, by: string): string {
  const list = program.match(tokens) ?? [];
  const places = list.flatMap((token, at) => (kind.test(token) ? [at] : []));
  if (places.length > 0) list[random.pick(places)] = by;
  return list.join("");
}

function lineOf(corpus: readonly string[], random: Random): string {
  return random.pick(random.pick(corpus).split("\n"));
}
