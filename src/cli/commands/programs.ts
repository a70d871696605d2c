/** `claudikins programs`: programs that are kept under a name, and what they have done. */
import { ageText, durationText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import {
  about,
  anything,
  byName,
  list as listOf,
  number,
  oneOf,
  record,
  text,
  texts,
  time,
  yesOrNo,
} from "../../base/json-shape.ts";
import { megabyte } from "../../base/units.ts";
import { visibleText } from "../../base/visible-text.ts";
import { defaultLimits } from "../../config/defaults.ts";
import type { Config } from "../../config/load.ts";
import { formsOf, formsText } from "../../programs/argument-words.ts";
import { sourceText, type Trigger, Triggers } from "../../programs/events/stored-triggers.ts";
import { RecordingFiles } from "../../programs/recordings/recording-files.ts";
import { lastChange } from "../../programs/saved/differences.ts";
import { ProgramLibrary, programsOfOthers } from "../../programs/saved/library.ts";
import { inputsOf, type SavedProgram, versionName } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { changedSince } from "../../programs/saved/pins.ts";
import { type Schedule, Schedules } from "../../programs/saved/schedules.ts";
import type { Summary } from "../../programs/trace/record.ts";
import { outcomeWord } from "../../programs/trace/record-text.ts";
import { readSummaries } from "../../programs/trace/store.ts";
import type { OutputFolders } from "../../sandbox/host/outputs.ts";
import { Sandbox } from "../../sandbox/sandbox.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { openStore } from "../../store/open.ts";
import { command, flag, option, place, several } from "../command.ts";
import { configArgs, daemonArgs, doorArgs, openConfig } from "../flags/config-flags.ts";
import { dryRunArgs, dryRunOf, flaggedLimits, limitArgs } from "../flags/limit-flags.ts";
import { recordArgs } from "../flags/trace-recorder.ts";
import type { Io } from "../io.ts";
import { listAnswer } from "../output/nouns.ts";
import { outcomeAnswer, outcomeShapes, outputText } from "../output/outcome.ts";
import { writeAnswer } from "../output/report.ts";
import { outputPlace } from "../output/result-files.ts";
import { deadDeliveries } from "../programs/deliveries.ts";
import { triggerJson, triggerShape, triggerText } from "../programs/events.ts";
import { managing } from "../programs/manage.ts";
import { type Notification, notificationJson, notificationShape, notificationText } from "../programs/notify.ts";
import { inputArg, scheduleJson, scheduleShape, scheduleText } from "../programs/schedule.ts";
import { labelsShape, otherJson, otherShape } from "../programs/share.ts";
import { versionDiff, versionOption } from "../programs/version-texts.ts";
import { commandTrace } from "../telemetry.ts";

export { check } from "../programs/check.ts";
export { deliveries, retry } from "../programs/deliveries.ts";
export { off, on } from "../programs/events.ts";
export { keep } from "../programs/keep.ts";
export { notify } from "../programs/notify.ts";
export { record } from "../programs/record.ts";
export { add, exportTo as export } from "../programs/repository.ts";
export { save } from "../programs/save.ts";
export { schedule, unschedule } from "../programs/schedule.ts";
export { accept, share } from "../programs/share.ts";
export { test } from "../programs/test.ts";
export { back, history } from "../programs/versions.ts";

const whichArgs = { ...configArgs, ...doorArgs } as const;

const nameArg = place("Name of a saved program", { required: true, complete: "program" });

const runShape = record({ id: text, at: time, ok: yesOrNo, durationMs: number });

/** A run of a saved program that has ended. */
type PastRun = Summary & { program: string };

const summary = {
  name: text,
  description: text,
  call: about("How code calls it", text),
  calls: about("What it may call", texts),
  savedAt: time,
  savedBy: oneOf("user", "agent"),
  version: number,
  "accepted?": about("The version that its schedules and triggers run, if it is another one", number),
  "sharedOf?": about("Whose program it was before it was shared", text),
  "labels?": labelsShape,
  "held?": about("Programs that it calls and that have changed since the user has seen them: it does not run", texts),
  "from?": about("The repository that it is from", record({ url: text, commit: text, path: text })),
};

export const list = command({
  description: "List the saved programs with their last runs.",
  args: whichArgs,
  examples: ["claudikins programs list", "claudikins programs list --json"],
  json: record({
    programs: listOf(
      record({ ...summary, "lastRun?": runShape, schedules: listOf(scheduleShape), triggers: listOf(triggerShape) }),
    ),
    others: about("Programs of tokens and people, which only their owners can call", listOf(otherShape)),
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const programs = library.all();
    const others = programsOfOthers(config.savedPrograms).map(otherJson);
    const othersNote = others.map(({ name, owner }) => `${owner} has saved ${visibleText(name)}\n`).join("");
    const runs = programs.length === 0 ? [] : await lastRuns(config, io);
    const schedules = new Schedules(config.savedPrograms);
    const triggers = new Triggers(config.savedPrograms);
    const found = programs.map((program) => ({
      program,
      triggers: triggers.of(program.name),
      run: runs.find(({ program: name }) => name === program.name),
      schedules: schedules.of(program.name),
    }));
    const json = {
      programs: found.map(({ program, run, schedules, triggers }) => ({
        ...summaryOf(program, library),
        ...(run && { lastRun: jsonOf(run) }),
        schedules: schedules.map(scheduleJson),
        triggers: triggers.map(triggerJson),
      })),
      others,
    };
    return listAnswer(
      io,
      {
        json,
        rows: found,
        none: othersNote || noneYet,
        note: `${problemsNote(schedules, triggers)}${heldNote(json.programs)}${othersNote}`,
      },
      [
        ["name", ({ program }) => program.name],
        ["last run", ({ run }) => (run ? runText(run) : "not run yet")],
        ["started by", startsText],
        [
          "input",
          ({ program }) =>
            inputsOf(program)
              .map(([name]) => name)
              .join(", "),
        ],
        [{ text: "description" }, ({ program }) => program.description],
      ],
    );
  },
});

/** `0 8 * * *; webhook (github)`. */
function startsText({ schedules, triggers }: { schedules: Schedule[]; triggers: Trigger[] }): string {
  return [...schedules.map(({ cron }) => cron), ...triggers.map(sourceText)].join("; ");
}

function heldNote(programs: readonly { name: string; held?: string[] }[]): string {
  return programs
    .flatMap(({ name, held }) =>
      held
        ? [`${name} is held, because ${held.join(", ")} changed. To accept that: claudikins programs accept ${name}\n`]
        : [],
    )
    .join("");
}

function problemsNote(schedules: Schedules, triggers: Triggers): string {
  const unread = [...schedules.problems(), ...triggers.problems()];
  return unread.map((file) => `This cannot be read, so it starts nothing: ${file}\n`).join("");
}

const noneYet =
  "No program is saved yet. To save one that worked: claudikins programs save FILE --name NAME. Agents save their last program with programs.save.\n";

export const show = command({
  description: "Show a saved program: its input, what it may call, its last change, its last runs, and its code.",
  args: { name: nameArg, ...whichArgs },
  examples: ["claudikins programs show revenue-by-region"],
  json: record({
    ...summary,
    input: about("JSON Schema of the input", byName(anything)),
    "output?": about("JSON Schema of the value, if it was written by hand", byName(anything)),
    "changed?": about("How it differs from what was saved before", text),
    schedules: listOf(scheduleShape),
    recordings: about("The names of the files of its recordings", texts),
    triggers: listOf(triggerShape),
    notifications: listOf(notificationShape),
    deadDeliveries: about(
      "Events for which it failed and notifications that failed, which wait for `claudikins programs retry`",
      number,
    ),
    runs: listOf(runShape),
    code: text,
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const program = library.get(args.name);
    const runs = (await lastRuns(config, io)).filter((run) => run.program === program.name).slice(0, shownRuns);
    const { input, output, code, calls, from, savedBy, savedAt, number: version } = program;
    const changed = lastChange(program);
    const schedules = new Schedules(config.savedPrograms).of(program.name);
    const recordings = new RecordingFiles(config.savedPrograms).files(program.name);
    const allTriggers = new Triggers(config.savedPrograms);
    const triggers = allTriggers.of(program.name);
    const notifications = allTriggers.notificationsOf(program.name) as Notification[];
    const dead =
      triggers.length + notifications.length === 0 ? 0 : await deadDeliveries(program.name, config.savedPrograms, io);
    const json = {
      ...summaryOf(program, library),
      input,
      ...(output ? { output } : {}),
      ...(changed === undefined ? {} : { changed }),
      schedules: schedules.map(scheduleJson),
      recordings,
      triggers: triggers.map(triggerJson),
      notifications: notifications.map(notificationJson),
      deadDeliveries: dead,
      runs: runs.map(jsonOf),
      code,
    };
    const inputs = inputsOf(program).map(([name, schema, required]) => {
      return `  ${name}  ${formsText(formsOf(schema, input))}${required ? "" : ", optional"}${exampleText(schema)}`;
    });
    const source = from ? `, from ${from.url}@${from.commit.slice(0, 12)}` : "";
    const lines = [
      `${program.name}: ${program.description}`,
      `Call: ${callOf(program)}`,
      ...(inputs.length === 0 ? ["Input: none"] : ["Input:", ...inputs]),
      `May call: ${calls.join(", ") || "nothing"}`,
      `Version ${version}, saved by ${savedBy === "agent" ? "an agent" : "you"} ${ageText(Date.now() - savedAt)}${source}`,
      ...(changed === undefined ? [] : [changed]),
      ...(json.accepted === undefined ? [] : [`Its schedules and triggers run version ${json.accepted}`]),
      ...(schedules.length === 0 ? [] : ["Schedules:", ...schedules.map((each) => `  ${scheduleText(each)}`)]),
      ...(recordings.length === 0 ? [] : [`Recordings: ${recordings.join(", ")}`]),
      ...(triggers.length === 0 ? [] : ["Started by:", ...triggers.map((each) => `  ${triggerText(each)}`)]),
      ...(notifications.length === 0
        ? []
        : ["Notifies:", ...notifications.map((each) => `  ${notificationText(each)}`)]),
      ...(dead === 0 ? [] : [`Dead deliveries: ${dead}. To list them: claudikins programs deliveries ${program.name}`]),
      ...(runs.length === 0 ? ["Not run yet"] : ["Last runs:", ...runs.map((run) => `  ${runText(run)}  ${run.id}`)]),
      "",
    ].map((line) => visibleText(line));
    const before = library.version(program.name, version - 1);
    const diff = before ? versionDiff(program, before) : "";
    return { json, text: `${lines.join("\n")}\n${diff}${visibleText(code).trimEnd()}\n` };
  },
});

const shownRuns = 5;

function exampleText({ examples }: Record<string, unknown>): string {
  return Array.isArray(examples) && examples.length > 0 ? `, such as ${JSON.stringify(examples[0])?.slice(0, 60)}` : "";
}

export const run = command({
  description: "Run a saved program with its input, and print its value.",
  args: {
    name: nameArg,
    input: inputArg,
    version: option("Number of the version to run (default: the newest)", versionOption),
    output: option(outputText, { valueHint: "file", complete: "file" }),
    detach: flag("Run it in the background, and print the id of the execution"),
    ...dryRunArgs,
    ...limitArgs,
    ...recordArgs,
    ...daemonArgs,
    ...whichArgs,
  },
  examples: [
    "claudikins programs run revenue-by-region month=2026-10",
    "claudikins programs run revenue-by-region month=2026-10 --json",
  ],
  ...outcomeShapes,
  async run(args, io) {
    const limits = flaggedLimits(args);
    if (args.output !== undefined) outputPlace(args.output, io.cwd);
    const { inputFrom } = await import("../programs/input.ts");
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const { version } = args;
    const program = version === undefined ? library.get(args.name) : library.requireVersion(args.name, version);
    const name = version === undefined ? program.name : versionName(program.name, version);
    const input = await inputFrom(args.input, program, io);
    const { requestForNamed } = await import("../../programs/saved/run.ts");
    const request = await requestForNamed(name, input, config.savedPrograms);
    if (args.detach) {
      if (args["dry-run"]) throw new ClaudikinsError("USAGE", "--detach cannot be used with --dry-run");
      const { runDetached } = await import("../daemon/with-daemon.ts");
      const id = await runDetached({ program: name, input, limits }, args, io);
      return { json: { execution: id }, text: `${id}\n`, note: `For its outcome: claudikins executions wait ${id}\n` };
    }
    const form = (folders: OutputFolders) => ({ json: args.json === true, output: args.output, folders });
    const { mayUseDaemon, runInDaemon, silentDaemon } = await import("../daemon/with-daemon.ts");
    let flags = args;
    if (!args.record && !args["dry-run"] && mayUseDaemon(args, io)) {
      const done = await runInDaemon({ program: name, input, limits }, args, io);
      if (done === "silent") flags = { ...args, "no-daemon": true };
      else if (done) return await writeAnswer(await outcomeAnswer(done.outcome, form(done.folders), io), args.json, io);
    }
    using sandbox = new Sandbox({ keptWorkers: 0 });
    sandbox.warm((limits.memoryMb ?? defaultLimits.memoryMb) * megabyte);
    const [{ openApp }, { outcomeInShell }, { personAtTerminal }, { Activity }] = await Promise.all([
      import("../open-app.ts"),
      import("../../app/shell-execution.ts"),
      import("../terminal/at-terminal.ts"),
      import("../terminal/progress.ts"),
    ]);
    await using app = await openApp(io, flags, {
      sandbox,
      sharing: "shell",
      waitsForApprovals: true,
      recording: args,
      observed: {},
      person: personAtTerminal(() => activity, io),
    });
    if (flags !== args) app.log.warn(silentDaemon);
    const activity = new Activity(io.stderr, `Running ${program.name}`);
    const { onProgress } = activity;
    const asked = { ...request, limits, dryRun: dryRunOf(args), trace: commandTrace(io.env), onProgress };
    const outcome = await outcomeInShell(asked, app, io.interrupted).finally(() => activity.end());
    return await writeAnswer(await outcomeAnswer(outcome, form(app.config.folders), io), args.json, io);
  },
});

export const remove = command({
  description: "Remove saved programs, their versions, schedules, triggers and recordings.",
  args: { names: place("Names of saved programs", { complete: "program", ...several }), ...whichArgs },
  examples: ["claudikins programs remove revenue-by-region"],
  json: record({ removed: listOf(record({ name: text, removed: yesOrNo })) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const { removePrograms } = await import("../../programs/saved/manage.ts");
    const removed = await managing(config, io, (options) => removePrograms(args.names, options));
    return { json: { removed }, text: removed.map(({ name }) => `Removed ${name}\n`).join("") };
  },
});

function summaryOf(program: SavedProgram, library: ProgramLibrary) {
  const { name, description, calls, savedAt, savedBy, sharedOf, labels, pins = {}, from } = program;
  const { number: version, accepted = version } = program;
  const held = changedSince(pins, library);
  return {
    name,
    description,
    call: callOf(program),
    calls,
    savedAt,
    savedBy,
    version,
    ...(accepted === version ? {} : { accepted }),
    ...(sharedOf === undefined ? {} : { sharedOf }),
    ...(labels ? { labels } : {}),
    ...(held.length > 0 ? { held } : {}),
    ...(from ? { from } : {}),
  };
}

function jsonOf({ id, at, ok, durationMs }: PastRun) {
  return { id, at, ok, durationMs };
}

function runText(run: PastRun): string {
  return `${ageText(Date.now() - run.at)}, ${outcomeWord(run)}, ${durationText(run.durationMs)}`;
}

/** The runs of all saved programs of the config, newest first. */
async function lastRuns(
  { origin, door }: Pick<Config, "origin" | "door">,
  { env }: Pick<Io, "env">,
): Promise<PastRun[]> {
  await using store = openStore(env);
  const owner = configOwner(origin);
  return (await readSummaries(store)).filter(
    (each): each is PastRun =>
      each.program !== undefined && !each.dryRun && each.config === owner && each.door === door,
  );
}
