/** `claudikins programs record`: runs a saved program, and keeps what it did as a recording for its tests. */
import { recordProgram } from "../../app/record-program.ts";
import { about, number, oneOf, record as recordOf, text, yesOrNo } from "../../base/json-shape.ts";
import { megabyte } from "../../base/units.ts";
import { visibleText } from "../../base/visible-text.ts";
import { defaultLimits } from "../../config/defaults.ts";
import { expectationsOf } from "../../programs/recordings/expectations.ts";
import type { Recording } from "../../programs/recordings/format.ts";
import { RecordingFiles, recordingFile, requireRecordingName } from "../../programs/recordings/recording-files.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { type Args, command, flag, option, place, repeatable } from "../command.ts";
import { daemonArgs, openConfig, viewArgs } from "../flags/config-flags.ts";
import { flaggedLimits, limitArgs } from "../flags/limit-flags.ts";
import { openApp } from "../open-app.ts";
import { outcomeAnswer, outcomeShapes } from "../output/outcome.ts";
import { commandTrace } from "../telemetry.ts";
import { personAtTerminal } from "../terminal/at-terminal.ts";
import { Activity } from "../terminal/progress.ts";
import { inputFrom } from "./input.ts";
import { inputArg } from "./schedule.ts";

/** Flags that say where the exact value of a recording does not matter. */
export const expectArgs = {
  ignore: option("A place whose value does not matter, such as output.items[*].id (repeatable)", {
    valueHint: "place",
    ...repeatable,
  }),
  matches: option("A place whose text a regular expression must find, such as output.id=^R- (repeatable)", {
    valueHint: "place=regex",
    ...repeatable,
  }),
} as const satisfies Args;

export const recordedShape = recordOf({
  recording: about("The name of its file", text),
  state: oneOf("new", "replaced", "not saved"),
  calls: number,
  isPrivateReplaced: about("Whether placeholders stand for private data", yesOrNo),
});

export function recordedJson(file: string, state: "new" | "replaced" | "not saved", recording: Recording) {
  const { calls, isPrivateReplaced = false } = recording;
  return { recording: file, state, calls: calls.length, isPrivateReplaced };
}

export function recordedText({ recording, state, calls, isPrivateReplaced }: ReturnType<typeof recordedJson>): string {
  const verb = { new: "Recorded", replaced: "Replaced", "not saved": "Would record" }[state];
  const hidden = isPrivateReplaced ? ". Placeholders stand for private data" : "";
  return `${verb} ${recording}: ${calls} ${calls === 1 ? "call" : "calls"}${hidden}\n`;
}

export const record = command({
  description:
    "Run a saved program, and keep its calls with their results as a recording. claudikins programs test replays it without any server.",
  args: {
    name: place("Name of a saved program", { required: true, complete: "program" }),
    input: inputArg,
    as: option("The name of the recording: lower-case letters, digits and dashes (default: a new one)", {
      valueHint: "name",
    }),
    replace: flag("Replace the first recording, or that of --as. Without an input, it gets the recorded one"),
    ...expectArgs,
    ...limitArgs,
    ...daemonArgs,
    ...viewArgs,
  },
  examples: [
    "claudikins programs record revenue-by-region month=2026-09",
    "claudikins programs record revenue-by-region month=2026-09 --as september",
    "claudikins programs record revenue-by-region --replace",
  ],
  json: recordedShape,
  jsonFailure: outcomeShapes.jsonFailure,
  async run(args, io) {
    const limits = flaggedLimits(args);
    const given = expectationsOf(args.ignore, args.matches);
    if (args.as !== undefined) requireRecordingName(args.as);
    const { savedPrograms: programs } = await openConfig(args, io);
    const program = new ProgramLibrary(programs).get(args.name);
    const files = new RecordingFiles(programs);
    const name = args.as ?? (args.replace ? undefined : files.nextName(program.name));
    const file = recordingFile(program.name, name);
    const before = files.files(program.name).includes(file) ? await files.read(file) : undefined;
    const isSameInput = args.replace === true && args.input.length === 0 && before?.input !== undefined;
    const input = isSameInput ? before.input! : await inputFrom(args.input, program, io);
    using sandbox = new Sandbox({ keptWorkers: 1 });
    sandbox.warm((limits.memoryMb ?? defaultLimits.memoryMb) * megabyte);
    const activity = new Activity(io.stderr, `Running ${program.name}`);
    await using app = await openApp(io, args, {
      sandbox,
      sharing: "shell",
      recording: {},
      observed: {},
      person: personAtTerminal(() => activity, io),
    });
    const wanted = { program, input, name, expect: { ...before?.expect, ...given }, limits };
    const more = { trace: commandTrace(io.env), onProgress: activity.onProgress };
    const done = await recordProgram({ ...wanted, ...more }, app, io.interrupted).finally(() => activity.end());
    if ("failed" in done)
      return await outcomeAnswer(
        done.failed,
        { json: args.json === true, output: undefined, folders: app.config.folders },
        io,
      );
    const { recording } = done;
    const json = recordedJson(file, before ? "replaced" : "new", recording);
    return {
      json,
      text: visibleText(recordedText(json)),
      note: `To test it: claudikins programs test ${program.name}\n`,
    };
  },
});
