/** Code that continues after its execution has ended reaches nothing: not the next execution, a tool or a file. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { BindingCall } from "../../src/sandbox/contract.ts";
import { runProgram } from "../support/process.ts";
import { answer, Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

/** Code that continues after its value is returned, for longer than the program waits. */
const goesOn = (later: string) =>
  `const going = (async () => { for (let i = 0; i < 50; i++) await null; ${later} })(); [going].length; return "over"`;

/** Runs the code in every kept worker. */
async function runEverywhere(code: string, timeoutMs: number): Promise<void> {
  const outcomes = await Promise.all([harness.run(code, { timeoutMs }), harness.run(code, { timeoutMs })]);
  expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual(["over", "over"]);
}

describe("the next execution gets a free worker", () => {
  test.each([
    ["a loop", "for (;;);"],
    ["a loop of the engine", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)"],
    ["a loop that catches the stop", "for (;;) try { for (;;); } catch {} finally { for (;;); }"],
    ["microtasks without end", "const next = () => Promise.resolve().then(next); next()"],
    ["timers without end", "const next = () => { setTimeout(next, 0) }; next()"],
    ["calls without end", "for (;;) test.echo({})"],
    ["lines without end", "for (;;) console.log('x')"],
  ])("after %s", async (_, later) => {
    await runEverywhere(goesOn(later), 50_000);
    const startedAt = performance.now();
    const next = await Promise.all([harness.run("return 1"), harness.run("return 2")]);
    expect(next.map((outcome) => outcome.ok && outcome.value)).toEqual([1, 2]);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});

test("code after the end adds no logs to the next execution, and makes no calls", async () => {
  const calls: BindingCall[] = [];
  const call: typeof answer = (asked, context) => {
    calls.push(asked);
    return answer(asked, context);
  };
  const late = "for (let i = 0; i < 5; i++) { test.echo({ late: true }); console.log('late'); display('late') }";
  const outcomes = [await harness.run(goesOn(late), { call }), await harness.run("return 1", { call })];
  for (const { logs, display, receipt } of outcomes) {
    expect({ logs, display, calls: receipt.calls }).toEqual({ logs: [], display: [], calls: 0 });
  }
  expect(calls).toEqual([]);
});

test("code after the end writes no files", async () => {
  const late = "for (;;) try { require('node:fs').writeFileSync('./workspace/late.txt', 'late') } catch {}";
  expect(await harness.value(goesOn(late))).toBe("over");
  expect(await harness.value("return require('node:fs').existsSync('./workspace/late.txt')")).toBe(false);
});

test("a sandbox that is disposed while code is parsed keeps no worker, so the process ends", async () => {
  const ended = await runProgram([process.execPath, join(import.meta.dir, "disposed.ts")]);
  expect(ended).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
});
