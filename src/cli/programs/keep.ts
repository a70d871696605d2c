/** `claudikins programs keep`: makes a saved program of an execution that went well, with a recording for its tests. */
import type { App } from "../../app/app.ts";
import { ClaudikinsError, toClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { about, anything, list as listOf, oneOf, record, text, texts } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { expectationsOf } from "../../programs/recordings/expectations.ts";
import type { Recording } from "../../programs/recordings/format.ts";
import { takenFrom } from "../../programs/recordings/from-record.ts";
import { makeRecording } from "../../programs/recordings/make.ts";
import { type ProposedInput, proposedInputs, proposedName } from "../../programs/recordings/proposal.ts";
import { RecordingFiles, recordingFile } from "../../programs/recordings/recording-files.ts";
import { type ExecutedProgram, executedProgram } from "../../programs/saved/from-execution.ts";
import { withoutFunction } from "../../programs/saved/last-programs.ts";
import { digestOf, ProgramLibrary } from "../../programs/saved/library.ts";
import { problemOfName, type SavedProgram } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { programToSave, store } from "../../programs/saved/save.ts";
import { shapeOf } from "../../tools/observed/observe.ts";
import { observedType } from "../../tools/signature.ts";
import { command, flag, option, pairs, place, repeatable } from "../command.ts";
import { viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { ask, canAsk, requireConsent } from "../terminal/prompt.ts";
import { valuesFrom } from "./input.ts";
import { expectArgs, recordedJson, recordedShape, recordedText } from "./record.ts";
import { mayReplace } from "./save.ts";
import { startedNote, whyArg } from "./version-texts.ts";

export const keep = command({
  description:
    "Keep an execution as a saved program, with a recording for its tests. Proposes a name, and inputs for the values that look like input.",
  args: {
    execution: place("last, or the id of an execution that was recorded with its contents", {
      required: true,
      complete: "execution",
    }),
    values: place("Values in the code that become inputs, in place of the proposed ones: name=text or name:=json", {
      required: false,
      ...pairs,
    }),
    name: option("The name: lower-case letters, digits and dashes (default: proposed)", { valueHint: "name" }),
    description: option("What it does (default: the comment at the beginning of the code)", { valueHint: "text" }),
    fixed: option("A proposed input that stays as it is in the code (repeatable)", {
      valueHint: "name",
      ...repeatable,
    }),
    call: option("Something else that it may call, such as demo.list_orders (repeatable)", {
      valueHint: "server.tool",
      complete: "tool",
      ...repeatable,
    }),
    ...expectArgs,
    yes: flag("Keep it as proposed, without asking", { short: "y" }),
    why: whyArg,
    replace: flag("Replace another program of that name without asking"),
    "dry-run": flag("Show what would be kept, and keep nothing"),
    ...viewArgs,
  },
  examples: [
    "claudikins programs keep last --dry-run",
    "claudikins programs keep last --name revenue-by-region month=2026-10 --yes",
    "claudikins programs keep last --fixed month --yes",
  ],
  json: record({
    name: text,
    state: oneOf("new", "changed", "unchanged", "not saved"),
    call: about("How code calls it", text),
    calls: about("What it may call", texts),
    inputs: listOf(record({ name: text, value: anything, kind: about("What the value looks like", text) })),
    "output?": about("The TypeScript type of its value", text),
    "recording?": recordedShape,
    "notRecorded?": about("Why there is no recording", text),
    code: text,
  }),
  async run(args, io) {
    const expect = expectationsOf(args.ignore, args.matches);
    const chosen = await valuesFrom(args.values, io);
    await using app = await openApp(io, args);
    const found = await executedProgram(args.execution, app, await app.executions());
    const source = takenFrom(found.record);
    const calls = "taken" in source ? source.taken.calls : [];
    const isAsked = !args.yes && !args["dry-run"] && canAsk(io);
    const proposed = await chosenInputs(found.code, chosen, args.fixed);
    const inputs = isAsked ? await askedInputs(proposed, io) : proposed;
    const wanted = args.name ?? proposedName(found.code, { calls });
    const name = isAsked && args.name === undefined ? await askedName(wanted, io) : wanted;
    const given: JsonObject = Object.fromEntries(inputs.map((each) => [each.name, each.value]));
    const { description, why } = args;
    const allowed = [...(found.calls ?? []), ...args.call.map(withoutFunction)];
    const about = {
      name,
      code: found.code,
      given,
      description,
      calls: allowed,
      labels: found.labels,
      why,
      by: "user",
    } as const;
    const made = await programToSave(about, app);
    const recorded = await recordingOf(made.program, given, { source, expect, app, io });
    const proposal = { program: made.program, inputs, output: outputOf(found), recorded };
    if (args["dry-run"]) return answerOf(proposal, "not saved");
    const library = new ProgramLibrary(app.config.savedPrograms);
    const before = library.find(name);
    const isOther = before !== undefined && digestOf(before) !== digestOf(made.program);
    await requireConsent(io, args.yes, {
      question: "Keep this program?",
      shown: textOf(proposal, "not saved"),
      needed: "The proposal must be seen at a terminal",
      hint: "To keep it as proposed, add --yes. To see it: --dry-run",
      refused: "Nothing was kept",
    });
    if (isOther && args.replace !== true) await mayReplace(before, made.program, io);
    const audit = { config: app.config, store: app.store, place: "command" as const };
    const saved = await store(made, { library, programs: library, audit }, (now) => {
      if (before && digestOf(now) === digestOf(before)) return;
      throw new ClaudikinsError("USAGE", `The program "${name}" was changed at this moment. Nothing was kept`);
    });
    const { recording } = recorded;
    const files = new RecordingFiles(app.config.savedPrograms);
    const named = files.nextName(name);
    if (recording) await files.write(name, named, recording);
    const answer = answerOf(
      { ...proposal, program: saved.program, recorded: { ...recorded, name: named } },
      saved.state,
    );
    return { ...answer, note: `${startedNote(saved.program, app.config.savedPrograms)}${answer.note}` };
  },
});

/** The given inputs, or the proposed ones without those that stay fixed. Throws USAGE. */
async function chosenInputs(code: string, chosen: JsonObject, fixed: readonly string[]): Promise<ProposedInput[]> {
  const given = Object.entries(chosen).map(([name, value]) => ({ name, value: value as string, kind: "given" }));
  if (given.length > 0) return given;
  const proposed = await proposedInputs(code);
  for (const name of fixed) {
    if (proposed.some((each) => each.name === name)) continue;
    const names = proposed.map((each) => each.name).join(", ");
    throw new ClaudikinsError("USAGE", `No proposed input is called "${name}"`, {
      hint: names === "" ? "No input is proposed." : `Proposed inputs: ${names}`,
    });
  }
  return proposed.filter(({ name }) => !fixed.includes(name));
}

async function askedInputs(proposed: readonly ProposedInput[], io: Io): Promise<ProposedInput[]> {
  const inputs: ProposedInput[] = [];
  for (const each of proposed) {
    const value = visibleText(JSON.stringify(each.value));
    const question = `Input ${each.name} = ${value} (${each.kind}). Enter keeps it, another name renames it, - leaves it out: `;
    const answer = (await ask(io, question)).trim();
    if (answer !== "-") inputs.push({ ...each, name: answer || each.name });
  }
  return inputs;
}

async function askedName(proposed: string, io: Io): Promise<string> {
  for (;;) {
    const answer = (await ask(io, `Name [${proposed}]: `)).trim() || proposed;
    const problem = problemOfName(answer);
    if (problem === undefined) return answer;
    await io.stderr.write(`${visibleText(problem)}\n`);
  }
}

interface Recorded {
  recording?: Recording;
  /** The name of the recording among those of the program. */
  name?: string | undefined;
  problem?: string;
}

/** The program is kept without a recording if its execution cannot be recorded. */
async function recordingOf(
  program: SavedProgram,
  input: JsonObject,
  {
    source,
    expect,
    app,
    io,
  }: { source: ReturnType<typeof takenFrom>; expect: Record<string, JsonObject>; app: App; io: Io },
): Promise<Recorded> {
  if ("problem" in source) return source;
  const wanted = { taken: source.taken, code: program.code, input, program: program.name, expect, isOk: true } as const;
  try {
    return { recording: await makeRecording(wanted, app, io.interrupted) };
  } catch (error) {
    const { code, message } = toClaudikinsError(error);
    if (code === "NOT_RECORDED") return { problem: message };
    throw error;
  }
}

function outputOf({ record }: ExecutedProgram): string | undefined {
  const { text: json, isWhole = false } = record?.value ?? {};
  if (json === undefined || !isWhole) return undefined;
  try {
    return observedType({ ...shapeOf(JSON.parse(json)) });
  } catch {
    // The value is a text.
    return "string";
  }
}

interface Proposal {
  program: SavedProgram;
  inputs: readonly ProposedInput[];
  output: string | undefined;
  recorded: Recorded;
}

type State = "new" | "changed" | "unchanged" | "not saved";

function answerOf(proposal: Proposal, state: State) {
  const { program, inputs, output, recorded } = proposal;
  const { name, calls, code } = program;
  const { recording, problem } = recorded;
  const file = recordingFile(name, recorded.name);
  const json = {
    ...{ name, state, call: callOf(program), calls, inputs: [...inputs] },
    ...(output === undefined ? {} : { output }),
    ...(recording ? { recording: recordedJson(file, state === "not saved" ? "not saved" : "new", recording) } : {}),
    ...(problem === undefined ? {} : { notRecorded: problem }),
    code,
  };
  const isKept = state !== "not saved" && recording !== undefined;
  const note = isKept ? `To test it: claudikins programs test ${name}\n` : "";
  return { json, text: textOf(proposal, state), note };
}

function textOf({ program, inputs, output, recorded: { recording, problem, name } }: Proposal, state: State): string {
  const verb = { new: "Kept", changed: "Changed", unchanged: "Unchanged:", "not saved": "Would keep" }[state];
  const recordedState = state === "not saved" ? "not saved" : "new";
  const lines = [
    `${verb} ${program.name}: ${callOf(program)}`,
    ...inputs.map((each) => `Input ${each.name}, such as ${JSON.stringify(each.value)} (${each.kind})`),
    ...(output === undefined ? [] : [`Returns ${output}`]),
    `It may call ${program.calls.join(", ") || "nothing"}.`,
    ...(recording
      ? [recordedText(recordedJson(recordingFile(program.name, name), recordedState, recording)).trimEnd()]
      : []),
    ...(problem === undefined
      ? []
      : [`No recording: ${problem}. To make one: claudikins programs record ${program.name}`]),
    ...(state === "not saved" ? ["", program.code.trimEnd()] : []),
  ];
  return `${visibleText(lines.join("\n"))}\n`;
}
