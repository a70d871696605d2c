/** Programs of agents, each with its task. Their files contain the expected values, logs, displayed values, files and calls. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { atMostAtOnce } from "../support/at-once.ts";
import { readPrograms, type Shown, settle } from "./program.ts";
import { runProgram, SharedSandbox } from "./run.ts";

setDefaultTimeout(180_000);

/** Successful programs for which a worker has loaded the advice. */
let advised = 0;
const PlainWorker = globalThis.Worker;
globalThis.Worker = class extends PlainWorker {
  constructor(...given: ConstructorParameters<typeof Worker>) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      if (data?.type === "explained" && "warnings" in data) advised += 1;
    });
  }
};

const sandbox = new SharedSandbox();
afterAll(() => {
  globalThis.Worker = PlainWorker;
  sandbox.end();
});

const programs = readPrograms();

test("there are programs in each folder", () => {
  const folders = Object.groupBy(programs, ({ name }) => name.split("/")[0] ?? "");
  const counts = Object.fromEntries(Object.entries(folders).map(([folder, each]) => [folder, each?.length]));
  expect(counts).toMatchObject({ habits: 30, natural: 35 });
  // Otherwise a file that is not read as a program would not be noticed.
  expect(programs.length).toBeGreaterThan(150);
});

const aFewAtOnce = atMostAtOnce(3);

for (const program of programs) {
  const title = `${program.name}: ${program.task}`;
  const run = () =>
    aFewAtOnce(async () => {
      const actual = await runProgram(program, sandbox);
      const expected = program.steps.map(({ expected }, at) => settled(expected, actual[at] ?? {}));
      expect(actual).toEqual(expected);
    });
  if (program.todo === undefined) test.concurrent(title, run);
  else test.todo(`${title} (${program.todo})`, run);
}

test("the advice is loaded for no program but the one whose value is a property that its result lacks", () => {
  expect(advised).toBe(1);
});

function settled(expected: Shown, actual: Shown): Shown {
  return Object.fromEntries(Object.entries(expected).map(([kind, body]) => [kind, settle(body, actual[kind] ?? "")]));
}
