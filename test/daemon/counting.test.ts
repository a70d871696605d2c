/** The daemon counts calls of generated files, and the text that led to the first one. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../../src/programs/ledger/counts.ts";
import { hookTexts } from "../../src/tools/registry/hook-texts.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { runProgram } from "../support/process.ts";
import { storedCounts } from "../support/stored.ts";

setDefaultTimeout(60_000);

let project: GeneratedProject;
beforeAll(async () => {
  project = await generatedProject();
});
afterAll(() => project[Symbol.asyncDispose]());

async function counted(): Promise<Counts | undefined> {
  return [...(await storedCounts(project.env)).values()][0];
}

const run = (...words: string[]) =>
  runProgram([process.execPath, project.file("wait"), ...words], { cwd: project.path, env: project.env });

test("the registry contains the README", () => {
  expect(readFileSync(join(project.file("wait"), "../../../README.md"), "utf8")).toBe(hookTexts.readme);
});

test("calls, failures and the mark of the first call are counted, and a mark is not an argument", async () => {
  expect((await run('{"ms":1}', "via:readme")).exitCode).toBe(0);
  expect((await run("via:skill", '{"ms":1}')).exitCode).toBe(0);
  expect((await run("[1]", "via:skill")).exitCode).toBe(2);
  expect((await run("{}")).exitCode).toBe(2);
  expect((await run('{"ms":1}', "by:skill")).stderr).toContain("is not an argument");
  await project.claudikins("daemon", "stop");
  const counts = await counted();
  expect([...(counts?.hooks ?? [])]).toEqual([["files readme", 1]]);
  const { calls, failures, resultChars, takenChars } = counts?.tools.get("seen")?.get("wait") ?? {};
  expect({ calls, failures, resultChars, takenChars }).toEqual({
    calls: 3,
    failures: 1,
    resultChars: expect.any(Number),
    takenChars: 0,
  });
  expect(counts?.sums).toMatchObject({ sessions: 0, executions: 0 });
});

test("a new daemon counts the first mark again", async () => {
  expect((await run('{"ms":1}')).exitCode).toBe(0);
  await project.claudikins("daemon", "stop");
  expect([...((await counted())?.hooks ?? [])].sort()).toEqual([
    ["files none", 1],
    ["files readme", 1],
  ]);
});
