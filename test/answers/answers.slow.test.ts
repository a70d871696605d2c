/** An agent can correct a mistake with the answer alone: the complete answers to wrong programs. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Answers } from "./answers.ts";
import { given, stopping } from "./given.ts";
import { own, type Wrong } from "./own.ts";
import { right } from "./right.ts";

// Real servers start once, and some of the programs are stopped at their time limit.
setDefaultTimeout(60_000);

const answers = new Answers();
afterAll(() => answers[Symbol.asyncDispose]());

async function expectAnswer({ code, must, stops }: Pick<Wrong, "code" | "must" | "stops">): Promise<void> {
  const { text } = await answers.run(code, stops ? 2_500 : 50_000);
  expect(text).toMatchSnapshot();
  for (const phrase of must) expect(text).toContain(phrase);
}

describe("programs that agents wrote", () => {
  const rows = readFileSync(join(import.meta.dir, "wrong.jsonl"), "utf8")
    .trim()
    .split("\n");
  const programs: Omit<Wrong, "must">[] = rows.map((row) => JSON.parse(row));

  test.each(programs)("$id: $mistake", async ({ id, code }) => {
    expect(given).toHaveProperty(id);
    await expectAnswer({ code, must: given[id] ?? [], ...(stopping.has(id) ? { stops: true } : {}) });
  });
});

describe("correct programs", () => {
  test.each(right)("run without warnings: %s", async (_, code) => {
    const { outcome } = await answers.run(code, 50_000);
    expect(outcome.ok ? "ran" : outcome.error).toBe("ran");
    expect(outcome.logs.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe("our own wrong programs", () => {
  test.each(own)("$id: $mistake", expectAnswer);

  test("every program has phrases that its answer must contain, and a unique id", () => {
    expect(own.filter(({ must }) => must.length === 0)).toEqual([]);
    expect(new Set(own.map(({ id }) => id)).size).toBe(own.length);
  });
});
