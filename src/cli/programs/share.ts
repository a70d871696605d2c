/** `claudikins programs share` and `accept`: the user decides what others run, and what changed programs run for the user. */
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, number, oneOf, record, text, texts } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { Reason } from "../../programs/drift/contract.ts";
import { reasonText } from "../../programs/drift/reasons.ts";
import { differencesOf } from "../../programs/saved/differences.ts";
import { digestOf, ProgramLibrary, programsOfOthers } from "../../programs/saved/library.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { changedSince, pinsOf } from "../../programs/saved/pins.ts";
import { acceptProgram, store } from "../../programs/saved/save.ts";
import { checkNow } from "../../programs/saved/unattended.ts";
import { unifiedDiff } from "../../setup/unified-diff.ts";
import { command, flag, option, place } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { colouredDiff } from "../terminal/terminal-output.ts";
import { reasonShape } from "./check.ts";
import { managing } from "./manage.ts";
import { versionDiff } from "./version-texts.ts";

export const labelsShape = about(
  "What the session had read that saved it. Its text may repeat that, so whoever runs it has read it too",
  listOf(record({ label: oneOf("private", "untrusted"), source: text })),
);

export const otherShape = record({
  name: text,
  owner: about("The name of the person, or the ID of the token", text),
  calls: texts,
});

export function otherJson({ name, owner, calls }: SavedProgram) {
  return { name, owner: owner?.name ?? "", calls };
}

export const share = command({
  description:
    "Let everybody call a program that an agent of a token or a person has saved. It is shared as it is now: what its owner changes later must be shared again. With a program of your own, let others call what your agents have saved.",
  args: {
    name: place("Name of the program", { required: true }),
    of: option("Whose program it is: the name of a person, or the ID of a token (default: yours)", {
      valueHint: "owner",
    }),
    as: option("Name under which everybody calls it (default: the same)", { valueHint: "name" }),
    yes: flag("Share it without asking", { short: "y" }),
    ...viewArgs,
  },
  examples: ["claudikins programs share report --of ann@example.com --door qa"],
  json: record({ name: text, state: oneOf("new", "changed", "unchanged"), calls: texts, code: text }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const found = programOf(args.name, args.of, library, config.savedPrograms);
    const name = args.as ?? found.name;
    const before = library.find(name);
    const { owner, changes: _, accepted: __, ...rest } = found;
    const program: SavedProgram = {
      ...rest,
      name,
      savedBy: "user",
      savedAt: Date.now(),
      ...(owner ? { sharedOf: owner.name, why: `shared from ${owner.name}` } : {}),
    };
    if (args.yes !== true) await reviewed(program, before, io);
    return await managing(config, io, async ({ audit }) => {
      const options = { library, programs: library, audit, decision: "shared" as const };
      const { state } = await store({ program, replaced: {} }, options, (now) => {
        if (before && digestOf(now) === digestOf(before)) return;
        throw new ClaudikinsError("USAGE", `The program "${name}" was changed at this moment. Nothing was shared`);
      });
      const { calls, code } = program;
      return { json: { name, state, calls, code }, text: `Everybody can call ${name} now\n` };
    });
  },
});

/** Throws PROGRAM_NOT_FOUND and USAGE. */
function programOf(
  name: string,
  of: string | undefined,
  library: ProgramLibrary,
  place: Parameters<typeof programsOfOthers>[0],
): SavedProgram {
  if (of === undefined) return library.get(name);
  const isOwner = ({ owner }: SavedProgram) =>
    owner !== undefined && [owner.name, owner.key, owner.key.replace(/^\w+:/, "")].includes(of);
  const found = programsOfOthers(place).filter((each) => each.name === name && isOwner(each));
  const [program] = found;
  if (!program) {
    throw new ClaudikinsError("PROGRAM_NOT_FOUND", `"${of}" has saved no program that is called "${name}"`, {
      hint: "To see what others have saved: claudikins programs list",
    });
  }
  if (found.length > 1) {
    throw new ClaudikinsError("USAGE", `Several owners are called "${of}"`, {
      hint: `Use one of these: ${found.map(({ owner }) => owner?.key).join(", ")}`,
    });
  }
  return program;
}

/** Throws USAGE and CANCELLED. */
async function reviewed(program: SavedProgram, before: SavedProgram | undefined, io: Io): Promise<void> {
  const { name, calls, labels = [], code } = program;
  const read = labels.map(({ label, source }) => `${label} data of ${source}`).join(", ");
  const lines = [
    `${name} may call ${calls.join(", ") || "nothing"}. It runs with the accounts of whoever calls it.`,
    ...(read === "" ? [] : [`Its session had read ${read}, which its text may repeat.`]),
    ...(before ? differencesOf(before, program).changes.map((change) => `  ${change}`) : []),
    "",
  ];
  const diff = colouredDiff(visibleText(unifiedDiff(`${name}.ts`, before?.code ?? "", code)));
  await requireConsent(io, false, {
    question: `Let everybody call "${name}"?`,
    shown: `${visibleText(lines.join("\n"))}${diff}`,
    needed: "The program must be reviewed at a terminal",
    hint: "To share it without a review: --yes",
    refused: "Nothing was shared",
  });
}

export const accept = command({
  description:
    "Accept a program and the programs that it calls as they are now. Its schedules and triggers run the accepted version, and it does not run after an agent has changed a program that it calls, until you have seen that.",
  args: {
    name: place("Name of a saved program", { required: true, complete: "program" }),
    anyway: flag(
      "Let schedules and events start it although its check fails, as long as it fails for the same reasons",
    ),
    yes: flag("Accept them without asking", { short: "y" }),
    ...viewArgs,
  },
  examples: ["claudikins programs accept nightly", "claudikins programs accept nightly --anyway"],
  json: record({
    name: text,
    version: about("The version that its schedules and triggers run", number),
    accepted: about("The programs that it calls and that had changed", texts),
    "anyway?": about("With --anyway: the reasons why its check fails", listOf(reasonShape)),
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const library = new ProgramLibrary(config.savedPrograms);
    const program = library.get(args.name);
    const { name, number: version } = program;
    const changed = changedSince(program.pins ?? {}, library);
    const pins = pinsOf(program, library);
    const reasons = args.anyway ? await reasonsNow(program, args, io) : undefined;
    if (args.yes !== true) await seen(program, changed, library, io);
    const accepted = { number: version, pins, anyway: reasons };
    await managing(config, io, ({ audit }) => acceptProgram(name, accepted, { library, audit }));
    const text = `${name} runs as version ${version}, with the programs that it calls as they are now\n`;
    const json = { name, version, accepted: changed, ...(reasons ? { anyway: reasons } : {}) };
    return { json, text: text + (reasons ? anywayText(reasons) : "") };
  },
});

/** Why the check of the program fails. The servers that it calls are asked for their tools, as before a schedule runs. */
async function reasonsNow(program: SavedProgram, flags: Parameters<typeof openApp>[1], io: Io): Promise<Reason[]> {
  await using app = await openApp(io, flags, { sharing: "shell" });
  return (await checkNow(program, app.config.savedPrograms, app)).reasons;
}

function anywayText(reasons: readonly Reason[]): string {
  if (reasons.length === 0) return "Its check does not fail\n";
  const lines = reasons.map((each) => `  ${visibleText(reasonText(each))}\n`).join("");
  return `Schedules and events start it although its check fails:\n${lines}`;
}

/** Shows what has changed since the user has accepted the program. Throws USAGE and CANCELLED. */
async function seen(program: SavedProgram, changed: readonly string[], library: ProgramLibrary, io: Io): Promise<void> {
  const { name, number: version, accepted = version } = program;
  const own = accepted === version ? [] : [versionDiff(program, library.version(name, accepted))];
  const called = changed.map((each) => {
    const now = library.find(each);
    return now ? versionDiff(now, library.version(now.name, now.number - 1)) : `${each} was removed\n`;
  });
  const names = [...(own.length === 0 ? [] : [name]), ...changed];
  if (names.length === 0) return;
  await requireConsent(io, false, {
    question: `Let "${name}" run with these changes?`,
    shown: [...own, ...called].join(""),
    needed: `The changed programs must be reviewed at a terminal: ${names.join(", ")}`,
    hint: "To accept them without a review: --yes",
    refused: "Nothing was accepted",
  });
}
