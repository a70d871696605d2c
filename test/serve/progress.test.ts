/** Progress for the host is limited in rate, and the last report is always sent before the answer. */
import { expect, test } from "bun:test";
import { ProgressReporter } from "../../src/serve/code-session.ts";
import { eventually } from "../support/eventually.ts";

function reporter() {
  const sent: [number, string][] = [];
  return { sent, reporter: new ProgressReporter((progress, message) => void sent.push([progress, message])) };
}

test("the first report is sent at once, and of many reports the last", () => {
  const { sent, reporter: progress } = reporter();
  for (let count = 1; count <= 1_000; count++) progress.report(`at ${count}`);
  progress.end();
  expect(sent[0]).toEqual([1, "at 1"]);
  expect(sent.at(-1)).toEqual([1_000, "at 1000"]);
  expect(sent.length).toBeLessThan(100);
});

test("a delayed report is sent later", async () => {
  const { sent, reporter: progress } = reporter();
  progress.report("one");
  progress.report("two");
  await eventually(() => sent.length >= 2);
  expect(sent).toEqual([
    [1, "one"],
    [2, "two"],
  ]);
  progress.end();
  expect(sent.length).toBe(2);
});

test("nothing is sent after the end, or without reports", async () => {
  const { sent, reporter: progress } = reporter();
  progress.end();
  progress.report("late");
  await Bun.sleep(150);
  expect(sent).toEqual([]);
});
