/** Random conditions get the same result from a second implementation of CEL. */
import { expect, test } from "bun:test";
import { celEnv, isCelError, parse, plan } from "@bufbuild/cel";
import { strings } from "@bufbuild/cel/ext";
import { type ConditionFacts, conditionOf } from "../../../src/config/condition.ts";
import { randomCondition, randomFacts, randomFrom } from "./random-condition.ts";

const environment = celEnv({ funcs: strings });

/** True or false, and undefined if the condition cannot be decided. */
function byOthers(text: string, { labels, reads, ...facts }: ConditionFacts): boolean | undefined {
  const run = plan(environment, parse(text));
  const bindings = Object.fromEntries(
    Object.entries({ ...facts, labels: [...labels], reads: [...reads] }).map(([name, each]) => [
      name,
      withIntegers(each),
    ]),
  );
  const value = run(bindings as Parameters<typeof run>[0]);
  return isCelError(value) || typeof value !== "boolean" ? undefined : value;
}

function withIntegers(value: unknown): unknown {
  if (Number.isSafeInteger(value)) return BigInt(value as number);
  if (Array.isArray(value)) return value.map(withIntegers);
  if (typeof value !== "object" || value === null) return value;
  return new Map(Object.entries(value).map(([key, each]) => [key, withIntegers(each)]));
}

test("3,000 random conditions are decided as another implementation decides them", () => {
  const random = randomFrom(52);
  const counts = { true: 0, false: 0, undefined: 0 };
  const different: object[] = [];
  for (let compared = 0; compared < 3_000; ) {
    const text = randomCondition(random);
    const facts = randomFacts(random);
    let condition: ReturnType<typeof conditionOf>;
    try {
      condition = conditionOf(text);
    } catch {
      // A config with the condition is refused.
      continue;
    }
    compared += 1;
    let found: boolean | undefined;
    try {
      found = condition.isMet(facts);
      // A rule that cannot apply to the tool is not evaluated.
      if (!condition.mayBeMet(facts.tool, facts.labels)) found = false;
    } catch {}
    const expected = byOthers(text, facts);
    counts[`${expected}`] += 1;
    if (found !== expected) different.push({ text, found, expected, args: facts.args });
  }
  expect(different.slice(0, 3)).toEqual([]);
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(300);
});
