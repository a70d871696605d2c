/** Small changes of source code that should make a test fail. Formatted code has spaces around operators. */
import { Random } from "../random.ts";

export interface Mutation {
  /** Below src. */
  file: string;
  line: number;
  before: string;
  after: string;
  /** The result may not compile. */
  mayBreakTypes: boolean;
}

interface Rule {
  pattern: RegExp;
  /** The first group of the pattern is kept. */
  replacement: string;
}

/** Types are narrowed by these. */
const conditions: readonly Rule[] = [
  { pattern: /( )===(?= )/g, replacement: "$1!==" },
  { pattern: /( )!==(?= )/g, replacement: "$1===" },
  { pattern: /( )&&(?= )/g, replacement: "$1||" },
  { pattern: /( )\|\|(?= )/g, replacement: "$1&&" },
  { pattern: /((?:if|while) \()!(?=[\w(])/g, replacement: "$1" },
  { pattern: /((?:if|while) \()(?=\w[\w.?]*\) )/g, replacement: "$1!" },
];

const others: readonly Rule[] = [
  { pattern: /( )<(?= )/g, replacement: "$1<=" },
  { pattern: /( )<=(?= )/g, replacement: "$1<" },
  { pattern: /( )>(?= )/g, replacement: "$1>=" },
  { pattern: /( )>=(?= )/g, replacement: "$1>" },
  { pattern: /( )\+(?= \d)/g, replacement: "$1-" },
  { pattern: /( )-(?= \d)/g, replacement: "$1+" },
  { pattern: /\b(return )true(?=;)/g, replacement: "$1false" },
  { pattern: /\b(return )false(?=;)/g, replacement: "$1true" },
  { pattern: /(\.)some(?=\()/g, replacement: "$1every" },
  { pattern: /(\.)every(?=\()/g, replacement: "$1some" },
  // A call whose result is not used.
  { pattern: /^(\s+)(?:await )?(?:this\.)?#?[\w.]+\([^{}]*\);$/g, replacement: "$1;" },
];

const rules = [
  ...conditions.map((rule) => ({ ...rule, mayBreakTypes: true })),
  ...others.map((rule) => ({ ...rule, mayBreakTypes: false })),
];

/** Every mutation of a source text, in the order of its lines. */
export function mutationsOf(file: string, text: string): Mutation[] {
  return text.split("\n").flatMap((before, index) => {
    if (/^\s*(?:\/\/|\*|\/\*|import |export (?:type|interface) |type |interface )/.test(before)) return [];
    return rules.flatMap(({ pattern, replacement, mayBreakTypes }) =>
      [...before.matchAll(pattern)].map((match) => {
        const [whole, kept = ""] = match;
        const changed = replacement.replace("$1", kept);
        const after = before.slice(0, match.index) + changed + before.slice(match.index + whole.length);
        return { file, line: index + 1, before, after, mayBreakTypes };
      }),
    );
  });
}

/** `count` mutations, spread evenly over the groups; the same for the same seed. */
export function chosen(groups: readonly Mutation[][], count: number, seed: number): Mutation[] {
  const random = new Random(seed, 0);
  const shuffled = groups.map((group) => {
    const rest = [...group];
    for (let end = rest.length; end > 1; end--) {
      const other = random.below(end);
      [rest[end - 1], rest[other]] = [rest[other]!, rest[end - 1]!];
    }
    return rest;
  });
  const picked: Mutation[] = [];
  for (let round = 0; picked.length < count && shuffled.some((group) => group.length > round); round++) {
    for (const group of shuffled) {
      const mutation = group[round];
      if (mutation && picked.length < count) picked.push(mutation);
    }
  }
  return picked;
}
