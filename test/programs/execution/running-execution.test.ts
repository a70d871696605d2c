/** The id of a program in the background is the promise that it is kept. */
import { expect, jest, test } from "bun:test";
import type { ExecutionParts } from "../../../src/programs/execute.ts";
import type { ExecutionCheckpointer } from "../../../src/programs/execution/checkpointer.ts";
import { programSavingMs, RunningExecution } from "../../../src/programs/execution/running-execution.ts";
import type { Outcome } from "../../../src/sandbox/contract.ts";

const never = new Promise<never>(() => {});

/** A program whose first save ends with `begun`. */
function programOf(begun: Promise<void>, isBackground: boolean): RunningExecution {
  const checkpointer = { begun, saved: begun, lost: never, want: async () => {} } as unknown as ExecutionCheckpointer;
  const parts = { sandbox: { running: () => undefined } } as unknown as ExecutionParts;
  const about = { id: "e1", startedAt: 1, parts, starter: undefined, checkpointer, isBackground };
  return new RunningExecution(about, () => new Promise<Outcome>(() => {}));
}

test.each([
  ["in the background is handed out once it is stored, however long that takes", true],
  ["in the foreground is handed out in time", false],
])("a program %s", async (_, isBackground) => {
  jest.useFakeTimers();
  try {
    const begun = Promise.withResolvers<void>();
    let isOut = false;
    const out = programOf(begun.promise, isBackground)
      .handOut()
      .then(() => {
        isOut = true;
      });
    jest.advanceTimersByTime(10 * programSavingMs);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(isOut).toBe(!isBackground);
    begun.resolve();
    await out;
  } finally {
    jest.useRealTimers();
  }
});

test("a program in the background that cannot be stored is not handed out", async () => {
  const begun = Promise.reject(new Error("the disk is full"));
  await expect(programOf(begun, true).handOut()).rejects.toThrow("the disk is full");
});
