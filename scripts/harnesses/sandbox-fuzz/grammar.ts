/** A random program from the grammar. */
import type { Random } from "../random.ts";
import { leafOf, rules } from "./rules.ts";

/** Rules that nest deeper than this end in their leaves. */
const maxDepth = 5;

/** The number of characters after which only leaves are chosen, so that programs stay small. */
const enough = 3_000;

/** TypeScript that is mostly well formed. It ends in a value of any kind, or in nothing. */
export function grammarProgram(random: Random): string {
  const maker = new Maker(random);
  const lines = ["let a: any, b: any, c: any, d: any, e: any, f: any;"];
  for (const name of "abcdef") lines.push(caught(`${name} = ${maker.expand("e", 3)};`, name));
  for (let count = 1 + random.below(9); count > 0; count--) {
    const statement = maker.expand("s", 0);
    lines.push(random.chance(0.6) ? caught(statement, maker.expand("v", 0)) : statement);
  }
  if (random.chance(0.8)) lines.push(`return ${maker.expand("e", 2)};`);
  return lines.join("\n");
}

/** So that the following code runs too. */
function caught(statement: string, variable: string): string {
  return `try { ${statement} } catch (error) { ${variable} = error }`;
}

/** Rules whose results need parentheses as part of an expression. */
const compound = new Set(["e", "f", "promise", "number", "class", "callexpression", "apiexpression"]);

class Maker {
  readonly #random: Random;
  #fresh = 0;
  #made = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  expand(rule: string, depth: number, mayAwait = true): string {
    const deep = depth > maxDepth || this.#made > enough;
    const name = (deep && leafOf[rule]) || rule;
    // Rules without leaves could go on forever.
    if (depth > 3 * maxDepth) return "a";
    const line = this.#lineOf(name, mayAwait);
    this.#made += line.length;
    const own = line.includes("$own") ? this.#freshName() : "";
    const text = line.replace(/\$(\$?)([a-z]+)/g, (_, sync: string, part: string) => {
      if (part === "own") return own;
      if (part === "fresh") return this.#freshName();
      // The body of an async function may await again, whatever surrounds it.
      return this.expand(part, depth + 1, sync === "" && (mayAwait || line.includes("async ")));
    });
    return compound.has(rule) && /[^\w."]/.test(text) ? `(${text})` : text;
  }

  #lineOf(name: string, mayAwait: boolean): string {
    for (;;) {
      const line = this.#random.pick(rules[name] ?? []);
      if (mayAwait || !line.includes("await ") || line.includes("async ")) return line;
    }
  }

  #freshName(): string {
    return `v${this.#fresh++}`;
  }
}
