/** Calls and answers of one moment cross between the threads together. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { maxJoinedChars } from "../../src/sandbox/limits.ts";
import { answer, Harness, type HarnessOptions } from "./harness.ts";

let harness: Harness;
beforeEach(() => {
  harness = new Harness();
});
afterEach(() => harness[Symbol.dispose]());

/** The names of the calls in order, with the time of each. */
function recorder(): { made: { i: unknown; at: number }[]; call: NonNullable<HarnessOptions["call"]> } {
  const made: { i: unknown; at: number }[] = [];
  return {
    made,
    call: async (call, context) => {
      made.push({ i: call.args["i"], at: performance.now() });
      return answer(call, context);
    },
  };
}

test("a hundred calls together are made in their order, and each gets its own answer", async () => {
  const { made, call } = recorder();
  const code = "return await Promise.all(Array.from({ length: 100 }, async (_, i) => (await test.echo({ i })).i));";
  const expected = Array.from({ length: 100 }, (_, i) => i);
  expect(await harness.value(code, { call })).toEqual(expected);
  expect(made.map(({ i }) => i)).toEqual(expected);
});

test("short and long calls and answers stay in order", async () => {
  const { made, call } = recorder();
  const code = `
    const long = "x".repeat(${maxJoinedChars});
    const sizes = await Promise.all(Array.from({ length: 30 }, async (_, i) => {
      const { text } = await test.echo({ i, text: i % 3 === 0 ? long : "short" });
      return text.length;
    }));
    return sizes.reduce((sum, size) => sum + size, 0);`;
  expect(await harness.value(code, { call })).toBe(10 * maxJoinedChars + 20 * 5);
  expect(made.map(({ i }) => i)).toEqual(Array.from({ length: 30 }, (_, i) => i));
});

test("a call leaves while the program computes", async () => {
  const { made, call } = recorder();
  const code = `
    const first = test.echo({ i: 1 });
    for (const end = Date.now() + 400; Date.now() < end; );
    await Promise.all([first, test.echo({ i: 2 })]);`;
  await harness.value(code, { call });
  const [first, second] = made;
  expect(second!.at - first!.at).toBeGreaterThan(200);
});

test("a call leaves although the program ends at once", async () => {
  const { made, call } = recorder();
  const outcome = await harness.run('void test.echo({ i: 1 }); throw new Error("over");', { call });
  expect(outcome.ok).toBe(false);
  expect(made.map(({ i }) => i)).toEqual([1]);
});

test("answers with any characters arrive as they were sent", async () => {
  const text = '\u0000 \ud800 \u2028 " \\ 🚀 \n';
  const call = async () => ({ text });
  const code = "return (await Promise.all([test.text(), test.text(), test.text()])).map((each) => each === test_text);";
  const given = `const test_text = ${JSON.stringify(text)};`;
  expect(await harness.value(`${given}\n${code}`, { call })).toEqual([true, true, true]);
});
