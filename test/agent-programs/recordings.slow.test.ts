/** Programs of agents are recorded while they run with real servers, and replayed without them. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { toClaudikinsError } from "../../src/base/errors.ts";
import { execute } from "../../src/programs/execute.ts";
import { makeRecording } from "../../src/programs/recordings/make.ts";
import { CallTape } from "../../src/programs/recordings/tape.ts";
import { testRecording } from "../../src/programs/recordings/test-program.ts";
import { withoutFunction } from "../../src/programs/saved/last-programs.ts";
import { withoutFences } from "../../src/sandbox/code/transpile.ts";
import { readPrograms } from "./program.ts";
import { runProgram, SharedSandbox } from "./run.ts";

setDefaultTimeout(300_000);
const sandbox = new SharedSandbox();
afterAll(() => sandbox.end());

const { signal } = new AbortController();

/** Replays of each recording. */
const rounds = 3;

/** Every fifth program, and all with ALL_PROGRAMS=1. Python cannot be saved, because its input is a constant of TypeScript. */
const programs = readPrograms()
  .filter(({ name, todo }) => todo === undefined && !name.startsWith("python/"))
  .filter((_, at) => process.env["ALL_PROGRAMS"] === "1" || at % 5 === 0);

test("four of five programs can be recorded, and their replays give no false alarm", async () => {
  const unrecorded: string[] = [];
  const alarms: object[] = [];
  let replays = 0;
  for (const program of programs) {
    await runProgram(program, sandbox, async (source, app) => {
      const tape = new CallTape();
      const outcome = await execute({ source, tape }, app);
      if (outcome.receipt.calls === 0) return outcome;
      try {
        const recording = await makeRecording({ taken: tape.taken(), code: source, isOk: outcome.ok }, app);
        const calls = recording.calls.map(({ server, tool }) => withoutFunction(`${server}.${tool}`));
        const tested = { name: "program", code: withoutFences(source), input: { type: "object" }, calls };
        for (let round = 0; round < rounds; round++) {
          const { differences, problem } = await testRecording(tested, program.name, async () => recording, {
            sandbox: app.sandbox,
            signal,
          });
          replays += 1;
          if (differences.length > 0 || problem) alarms.push({ name: program.name, differences, problem });
        }
      } catch (error) {
        const { code, message } = toClaudikinsError(error);
        if (code !== "NOT_RECORDED") throw error;
        unrecorded.push(`${program.name}: ${message}`);
      }
      return outcome;
    });
  }
  console.log(`${replays} replays; not recorded:\n${unrecorded.join("\n")}`);
  expect(alarms).toEqual([]);
  expect(unrecorded.length).toBeLessThan(programs.length / 5);
});
