/** `claudikins programs test`: replays the recordings of saved programs, without any server. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { durationText } from "../../base/duration.ts";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { about, anything, list as listOf, number, oneOf, record, text, yesOrNo } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { junitReport } from "../../programs/recordings/junit.ts";
import { RecordingFiles } from "../../programs/recordings/recording-files.ts";
import { type Tested, type TestedProgram, testProgram } from "../../programs/recordings/test-program.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { command, flag, option, place, several } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { type FolderProgram, programsIn } from "./program-folder.ts";

const differenceShape = record({
  kind: oneOf("missing call", "new call", "order", "missing", "new", "value", "type", "failure", "no failure"),
  at: about("The place in the recording", text),
  text,
  "expected?": anything,
  "actual?": anything,
});

export const test = command({
  description:
    "Test saved programs: replay their recordings without any server, and show what has changed. The exit code is 1 if something has.",
  args: {
    names: place("Names of saved programs", { required: false, complete: "program", ...several }),
    all: flag("Test all programs that have recordings"),
    from: option("Test the programs of this folder, which programs export has written", {
      valueHint: "folder",
      complete: "folder",
    }),
    junit: option("Also write the results as JUnit XML, for CI", { valueHint: "file", complete: "file" }),
    ...viewArgs,
  },
  examples: [
    "claudikins programs test revenue-by-region",
    "claudikins programs test --all",
    "claudikins programs test --all --from programs --junit report.xml",
  ],
  json: record({
    passed: number,
    failed: number,
    tests: listOf(
      record({
        program: text,
        recording: about("The name of its file", text),
        ok: yesOrNo,
        durationMs: number,
        differences: listOf(differenceShape),
        "problem?": about("Why the recording cannot be replayed", text),
      }),
    ),
  }),
  async run(args, io) {
    if ((args.all === true) === args.names.length > 0) {
      throw new ClaudikinsError("USAGE", "Name the programs to test, or give --all");
    }
    const programs =
      args.from === undefined ? await savedPrograms(args, io) : await programsIn(resolve(io.cwd, args.from));
    const chosen = chosenPrograms(programs, args.names);
    const tests: Tested[] = [];
    using sandbox = new Sandbox({ keptWorkers: 1 });
    for (const { program, recordings } of chosen) {
      tests.push(...(await testProgram(program, recordings, { sandbox, signal: io.interrupted })));
    }
    if (args.junit !== undefined) await writeReport(resolve(io.cwd, args.junit), tests);
    const failed = tests.filter(({ ok }) => !ok).length;
    const json = { passed: tests.length - failed, failed, tests };
    const lines = tests.map((each) => visibleText(testText(each))).join("");
    const count = `${json.passed} passed, ${failed} failed\n`;
    return { json, text: `${lines}${count}`, exitCode: failed > 0 ? 1 : 0 };
  },
});

async function savedPrograms(args: Parameters<typeof openConfig>[0], io: Io): Promise<FolderProgram[]> {
  const config = await openConfig(args, io);
  const files = new RecordingFiles(config.savedPrograms);
  return new ProgramLibrary(config.savedPrograms).all().map((program) => ({
    program,
    recordings: files.files(program.name).map((file) => ({ file, read: () => files.read(file) })),
  }));
}

/** Throws PROGRAM_NOT_FOUND and NOT_RECORDED. */
function chosenPrograms(programs: FolderProgram[], names: readonly string[]): FolderProgram[] {
  for (const name of names) {
    const found = programs.find(({ program }) => program.name === name);
    if (!found)
      throw notFound(
        name,
        programs.map(({ program }) => program),
      );
    if (found.recordings.length === 0) throw notTested(`"${name}" has no recording`, name);
  }
  const chosen = programs.filter(({ program, recordings }) => {
    return names.length === 0 ? recordings.length > 0 : names.includes(program.name);
  });
  if (chosen.length === 0) throw notTested("No program has a recording", "NAME");
  return chosen;
}

function notFound(name: string, programs: readonly TestedProgram[]): ClaudikinsError {
  const known = programs.map((each) => each.name).join(", ");
  return new ClaudikinsError("PROGRAM_NOT_FOUND", `No saved program is called "${name}"`, {
    hint: known === "" ? "No program is saved yet." : `Saved programs: ${known}`,
  });
}

function notTested(message: string, name: string): ClaudikinsError {
  return new ClaudikinsError("NOT_RECORDED", message, { hint: `Make one: claudikins programs record ${name}` });
}

function testText({ recording, ok, durationMs, differences, problem }: Tested): string {
  const details = problem === undefined ? differences.map((each) => each.text) : [problem];
  const lines = details.map((each) => `  ${each}\n`).join("");
  return `${ok ? "pass" : "FAIL"}  ${recording}  ${durationText(durationMs)}\n${lines}`;
}

/** Throws FILE_NOT_WRITABLE. */
async function writeReport(file: string, tests: readonly Tested[]): Promise<void> {
  try {
    await writeFile(file, junitReport(tests));
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}
