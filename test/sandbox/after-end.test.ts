/** What code still does when its execution is over reaches nobody: not the next execution, no tool, no file, no worker. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { BindingCall } from "../../src/sandbox/contract.ts";
import { runProgram } from "../support/process.ts";
import { answer, Harness } from "./harness.ts";

setDefaultTimeout(30_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

/** Code that goes on with something when its value is there already: it waits for longer than the program ends. */
const goesOn = (later: string) =>
  `const going = (async () => { for (let i = 0; i < 50; i++) await null; ${later} })(); [going].length; return "over"`;

/** Every kept worker has it behind it. */
async function runEverywhere(code: string, timeoutMs: number): Promise<void> {
  const outcomes = await Promise.all([harness.run(code, { timeoutMs }), harness.run(code, { timeoutMs })]);
  expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual(["over", "over"]);
}

describe("the next execution finds its worker free", () => {
  test.each([
    ["a loop", "for (;;);"],
    ["a loop of the engine", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"],
    ["a loop that catches the stop", "for (;;) try { for (;;); } catch {} finally { for (;;); }"],
    ["microtasks without end", "const next = () => Promise.resolve().then(next); next()"],
    ["timers without end", "const next = () => { setTimeout(next, 0) }; next()"],
    ["calls without end", "for (;;) test.echo({})"],
    ["lines without end", "for (;;) console.log('x')"],
  ])("after %s", async (_, later) => {
    await runEverywhere(goesOn(later), 20_000);
    const startedAt = performance.now();
    const next = await Promise.all([harness.run("return 1"), harness.run("return 2")]);
    expect(next.map((outcome) => outcome.ok && outcome.value)).toEqual([1, 2]);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

test("what it says is not said by the next execution, and its calls are not made", async () => {
  const calls: BindingCall[] = [];
  const call: typeof answer = (asked, signal) => {
    calls.push(asked);
    return answer(asked, signal);
  };
  const late = "for (let i = 0; i < 5; i++) { test.echo({ late: true }); console.log('late'); display('late') }";
  const outcomes = [await harness.run(goesOn(late), { call }), await harness.run("return 1", { call })];
  for (const { logs, display, receipt } of outcomes) {
    expect({ logs, display, calls: receipt.calls }).toEqual({ logs: [], display: [], calls: 0 });
  }
  expect(calls).toEqual([]);
});

test("it writes no files", async () => {
  const late = "for (;;) try { require('node:fs').writeFileSync('./workspace/late.txt', 'late') } catch {}";
  expect(await harness.value(goesOn(late))).toBe("over");
  expect(await harness.value("return require('node:fs').existsSync('./workspace/late.txt')")).toBe(false);
});

test("a sandbox that is disposed while code is being read keeps no worker, and so the process ends", async () => {
  const ended = await runProgram([process.execPath, join(import.meta.dir, "disposed.ts")]);
  expect(ended).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
});
