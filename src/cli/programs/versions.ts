/** `claudikins programs history` and `back`: the versions of a saved program. */

import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { defined } from "../../base/json-object.ts";
import { about, list as listOf, number, oneOf, record, text, texts, time, yesOrNo } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { differencesOf } from "../../programs/saved/differences.ts";
import { digestOf, ProgramLibrary } from "../../programs/saved/library.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { store } from "../../programs/saved/save.ts";
import { unattendedStart } from "../../programs/saved/starters.ts";
import { command, flag, place } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import { listAnswer } from "../output/nouns.ts";
import { managing } from "./manage.ts";
import { mayReplace } from "./save.ts";
import { startedNote, versionDiff, versionOption, whyArg } from "./version-texts.ts";

const nameArg = place("Name of a saved program", { required: true, complete: "program" });

const versionShape = record({
  version: number,
  current: yesOrNo,
  accepted: about("Whether its schedules and triggers run this version", yesOrNo),
  savedAt: time,
  savedBy: oneOf("user", "agent"),
  "who?": about("The agent, person or token that saved it", text),
  "why?": text,
  "changes?": about("How it differs from the version before. Missing for the first one", texts),
  call: about("How code calls it", text),
  calls: about("What it may call", texts),
  code: text,
});

export const history = command({
  description:
    "List the versions of a saved program: who saved each, when, why, and what it changed. With a version, show the whole difference from the version before.",
  args: {
    name: nameArg,
    version: place("Number of a version", { required: false }),
    ...viewArgs,
  },
  examples: ["claudikins programs history revenue-by-region", "claudikins programs history revenue-by-region 3"],
  json: record({ name: text, versions: listOf(versionShape) }),
  async run(args, io) {
    const { savedPrograms } = await openConfig(args, io);
    const library = new ProgramLibrary(savedPrograms);
    const current = library.get(args.name);
    const isStarted = unattendedStart(args.name, savedPrograms) !== undefined;
    const json = (program: SavedProgram) => versionJson(program, current, isStarted);
    if (args.version !== undefined) {
      const number = numberIn(args.version);
      const program = library.requireVersion(args.name, number);
      const before = library.version(args.name, number - 1);
      const { name } = program;
      return { json: { name, versions: [json(program)] }, text: shownVersion(program, before) };
    }
    const versions = library.versions(args.name);
    const document = { name: args.name, versions: versions.map(json) };
    return listAnswer(io, { json: document, rows: document.versions, none: "" }, [
      ["version", ({ version, current, accepted }) => `${version}${markOf(current, accepted, isStarted)}`],
      ["saved", ({ savedAt }) => ageText(Date.now() - savedAt)],
      ["by", ({ savedBy, who }) => byText(savedBy, who)],
      ["changes", ({ changes }) => (changes ? changesText(changes) : "first version")],
      [{ text: "why" }, ({ why = "" }) => why],
    ]);
  },
});

/** Throws USAGE. */
function numberIn(text: string): number {
  return versionOption.parse(text.replace(/^v/, ""), "VERSION");
}

function markOf(isCurrent: boolean, isAccepted: boolean, isStarted: boolean): string {
  const marks = [...(isCurrent ? ["now"] : []), ...(isAccepted && isStarted ? ["scheduled"] : [])];
  return marks.length === 0 ? "" : ` (${marks.join(", ")})`;
}

function byText(savedBy: SavedProgram["savedBy"], who: string | undefined): string {
  return savedBy === "user" ? "you" : (who ?? "an agent");
}

function changesText(changes: readonly string[]): string {
  return changes.length === 0 ? "only its code" : changes.join("; ");
}

function versionJson(program: SavedProgram, current: SavedProgram, isStarted: boolean) {
  const { number: version, savedAt, savedBy, who, why, changes, calls, code } = program;
  return {
    version,
    current: version === current.number,
    accepted: isStarted && version === (current.accepted ?? current.number),
    savedAt,
    savedBy,
    ...defined({ who, why, changes }),
    call: callOf(program),
    calls,
    code,
  };
}

function shownVersion(program: SavedProgram, before: SavedProgram | undefined): string {
  const { name, number, savedAt, savedBy, who, why, changes } = program;
  const saved = `Version ${number} of ${name}, saved by ${byText(savedBy, who)} ${ageText(Date.now() - savedAt)}`;
  const lines = [
    why === undefined ? saved : `${saved}: ${why}`,
    `Call: ${callOf(program)}`,
    `May call: ${program.calls.join(", ") || "nothing"}`,
    ...(changes ?? []).map((change) => `  ${change}`),
    ...(number > 1 && !before ? [`Version ${number - 1} is not kept any more.`] : []),
    "",
  ];
  return `${visibleText(lines.join("\n"))}\n${versionDiff(program, before)}`;
}

export const back = command({
  description:
    "Go back to an earlier version of a saved program. It becomes a new version. The changes are shown first, as for any other change.",
  args: {
    name: nameArg,
    version: place("Number of a version, see claudikins programs history", { required: true }),
    why: whyArg,
    replace: flag("Go back without asking"),
    ...viewArgs,
  },
  examples: ["claudikins programs back revenue-by-region 2", "claudikins programs back revenue-by-region 2 --replace"],
  json: record({
    name: text,
    version: about("Number of the new version", number),
    state: oneOf("changed", "unchanged"),
    changes: about("How it differs from the version before", texts),
    code: text,
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const before = library.get(args.name);
    const number = numberIn(args.version);
    const { accepted: _, changes: __, ...old } = library.requireVersion(args.name, number);
    const why = args.why ?? `back to version ${number}`;
    const program: SavedProgram = { ...old, savedAt: Date.now(), savedBy: "user", who: undefined, why };
    const isOther = digestOf(before) !== digestOf(program) || before.description !== program.description;
    if (isOther && args.replace !== true) await mayReplace(before, program, io);
    const saved = await managing(config, io, async ({ audit }) =>
      store({ program, replaced: {} }, { library, programs: library, audit }, (now) => {
        if (digestOf(now) === digestOf(before)) return;
        throw new ClaudikinsError(
          "USAGE",
          `The program "${args.name}" was changed at this moment. Nothing was changed`,
        );
      }),
    );
    const { name, number: version, code } = saved.program;
    const isChanged = saved.state === "changed";
    const changes = isChanged ? differencesOf(before, program).changes : [];
    const json = { name, version, state: isChanged ? ("changed" as const) : ("unchanged" as const), changes, code };
    const text = isChanged
      ? `${name} is as version ${number} was. This is version ${version}\n`
      : `Unchanged: ${name}\n`;
    return { json, text, note: startedNote(saved.program, config.savedPrograms) };
  },
});
