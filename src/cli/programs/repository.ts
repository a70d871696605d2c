/** `claudikins programs add` and `export`: saved programs as files that a repository can hold: `NAME.ts`, `NAME.json` and recordings. */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { writeWhenChanged } from "../../base/files.ts";
import { indentedJson } from "../../base/json-object.ts";
import { about, list as listOf, oneOf, record, text, texts } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { readRecording } from "../../programs/recordings/format.ts";
import { RecordingFiles, recordingIn } from "../../programs/recordings/recording-files.ts";
import { differencesOf } from "../../programs/saved/differences.ts";
import { digestOf, ProgramLibrary } from "../../programs/saved/library.ts";
import { type ProgramSource, problemOfName, type SavedProgram } from "../../programs/saved/model.ts";
import { callOf } from "../../programs/saved/namespace.ts";
import { programToSave, store } from "../../programs/saved/save.ts";
import { type FetchedCommit, fetchCommit, sourceIn } from "../../setup/repository.ts";
import { command, flag, option, place, several } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { aboutIn } from "./program-folder.ts";

export const add = command({
  description:
    "Add a saved program from a git repository, at one commit. Its code and what it may call are shown first, and nothing changes it later.",
  args: {
    source: place("The address of the repository and the commit: https://github.com/acme/programs@COMMIT", {
      required: true,
    }),
    program: place("Names of programs in the repository, or their paths (default: all)", {
      required: false,
      ...several,
    }),
    yes: flag("Add them without asking", { short: "y" }),
    ...viewArgs,
  },
  examples: [
    "claudikins programs add https://github.com/acme/programs@$COMMIT",
    "claudikins programs add git@example.com:acme/programs@$COMMIT totals",
  ],
  json: record({
    added: listOf(
      record({
        name: text,
        state: oneOf("new", "changed", "unchanged"),
        calls: about("What it may call", texts),
        path: text,
        recordings: about("The names of the files of its recordings", texts),
      }),
    ),
  }),
  async run(args, io) {
    const { url, commit } = sourceIn(args.source);
    await using app = await openApp(io, args);
    const library = new ProgramLibrary(app.config.savedPrograms);
    await using fetched = await fetchCommit(url, commit, { env: io.env, signal: io.interrupted });
    const all = await fetched.files();
    const files = chosenFiles(all, args.program);
    const recordings = new RecordingFiles(app.config.savedPrograms);
    const made = [];
    for (const path of files) made.push(await programIn(path, all, fetched, { url, commit, path }, app));
    const before = new Map(made.map(({ program }) => [program.name, library.find(program.name)]));
    if (args.yes !== true) await reviewed(made, before, io);
    const added = [];
    const audit = { config: app.config, store: app.store, place: "command" as const };
    for (const each of made) {
      const { program, state } = await store(each, { library, programs: library, audit }, (now) => {
        const seen = before.get(now.name);
        if (seen && digestOf(now) === digestOf(seen)) return;
        throw new ClaudikinsError(
          "USAGE",
          `The program "${now.name}" was changed at this moment, and was not replaced`,
        );
      });
      const kept = [];
      for (const { name, recording } of each.recordings)
        kept.push(await recordings.write(program.name, name, recording));
      added.push({
        ...{ name: program.name, state, calls: program.calls, path: program.from?.path ?? "" },
        recordings: kept,
      });
    }
    const lines = added.map(({ name, state }) => `${state === "unchanged" ? "Unchanged:" : "Added"} ${name}\n`);
    return { json: { added }, text: lines.join("") };
  },
});

/** Throws USAGE. */
function chosenFiles(all: string[], wanted: string[]): string[] {
  const programs = all.filter((path) => path.endsWith(".ts") && all.includes(path.replace(/\.ts$/, ".json")));
  if (programs.length === 0) {
    throw new ClaudikinsError("USAGE", "The repository has no saved program", {
      hint: "A program is two files beside each other: NAME.ts and NAME.json. To write them: claudikins programs export",
    });
  }
  if (wanted.length === 0) return programs;
  return wanted.map((each) => {
    const found = programs.filter((path) => path === each || nameOf(path) === each);
    if (found.length === 1 && found[0] !== undefined) return found[0];
    const known = programs.map(nameOf).join(", ");
    throw new ClaudikinsError(
      "USAGE",
      found.length > 1 ? `Several programs are called "${each}"` : `The repository has no program "${each}"`,
      {
        hint: found.length > 1 ? `Give a path: ${found.join(", ")}` : `Its programs: ${known}`,
      },
    );
  });
}

function nameOf(path: string): string {
  return path.replace(/^.*\//, "").replace(/\.ts$/, "");
}

async function programIn(
  path: string,
  all: readonly string[],
  fetched: FetchedCommit,
  from: ProgramSource,
  app: Parameters<typeof programToSave>[1],
) {
  const name = nameOf(path);
  const problem = problemOfName(name);
  if (problem !== undefined) throw new ClaudikinsError("USAGE", `${path} cannot be added: ${problem}`);
  const [code, about] = await Promise.all([fetched.text(path), fetched.text(path.replace(/\.ts$/, ".json"))]);
  const { description, input, output, calls } = aboutIn(about, path.replace(/\.ts$/, ".json"));
  const schemas = { input, output };
  const why = `added from ${from.url}@${from.commit.slice(0, 12)}`;
  const wanted = { name, code, given: {}, description, calls, schemas, by: "user", from, why } as const;
  const made = await programToSave(wanted, app);
  // Only what the file names: what the code names beside it would be a call that its author did not declare.
  const program = { ...made.program, calls: [...calls].sort() };
  return { ...made, program, recordings: await recordingsOf(path, all, fetched) };
}

/** The recordings beside a program. Throws USAGE and VERSION_TOO_OLD. */
async function recordingsOf(path: string, all: readonly string[], fetched: FetchedCommit) {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const found = all.flatMap((each) => {
    const known = each.startsWith(folder) ? recordingIn(each.slice(folder.length)) : undefined;
    return known?.program === nameOf(path) ? [{ file: each, name: known.name }] : [];
  });
  return Promise.all(
    found.map(async ({ file, name }) => ({ name, recording: await readRecording(await fetched.text(file), file) })),
  );
}

/** Throws USAGE and CANCELLED. */
async function reviewed(
  made: readonly { program: SavedProgram; recordings: readonly unknown[] }[],
  before: ReadonlyMap<string, SavedProgram | undefined>,
  io: Io,
): Promise<void> {
  const texts = made.map(({ program, recordings }) => {
    const old = before.get(program.name);
    const changes = old
      ? [`It replaces a program: ${differencesOf(old, program).changes.join("; ") || "its code"}`]
      : [];
    const lines = [
      `${program.name}: ${program.description}`,
      `Call: ${callOf(program)}`,
      `May call: ${program.calls.join(", ") || "nothing"}. It can read and write files of the workspace.`,
      ...changes,
      ...(recordings.length === 0 ? [] : [`Recordings for its tests: ${recordings.length}`]),
      `Input, whose texts agents read:\n${indentedJson(JSON.stringify(program.input))}`,
      ...(program.output ? [`Output:\n${indentedJson(JSON.stringify(program.output))}`] : []),
      "",
      program.code.trimEnd(),
      "",
    ];
    return visibleText(lines.join("\n"));
  });
  await requireConsent(io, false, {
    question: `Add ${made.length === 1 ? "this program" : `these ${made.length} programs`}?`,
    shown: `${texts.join("\n")}\n`,
    needed: "The programs must be reviewed at a terminal",
    hint: "To add them without a review: --yes",
    refused: "Nothing was added",
  });
}

export const exportTo = command({
  description:
    "Write saved programs as files for a repository: NAME.ts with the code, NAME.json with the rest, and NAME.recording.json for their tests.",
  args: {
    names: place("Names of saved programs (default: all)", { required: false, complete: "program", ...several }),
    to: option("The folder (default: the working directory)", { valueHint: "folder", complete: "folder" }),
    ...viewArgs,
  },
  examples: ["claudikins programs export revenue-by-region --to programs"],
  json: record({ written: texts }),
  async run(args, io) {
    const { savedPrograms } = await openConfig(args, io);
    const library = new ProgramLibrary(savedPrograms);
    const recordings = new RecordingFiles(savedPrograms);
    const programs = args.names.length === 0 ? library.all() : args.names.map((name) => library.get(name));
    const folder = resolve(io.cwd, args.to ?? ".");
    mkdirSync(folder, { recursive: true });
    const written = programs.flatMap(({ name, code, description, input, output, calls }) => {
      const rest = { description, input, ...(output ? { output } : {}), calls };
      const [codeFile, aboutFile] = [join(folder, `${name}.ts`), join(folder, `${name}.json`)];
      writeWhenChanged(codeFile, code);
      writeWhenChanged(aboutFile, `${JSON.stringify(rest, null, 2)}\n`);
      const recorded = recordings.files(name).map((file) => {
        writeWhenChanged(join(folder, file), recordings.text(file));
        return join(folder, file);
      });
      return [codeFile, aboutFile, ...recorded];
    });
    return { json: { written }, text: written.map((file) => `${file}\n`).join("") };
  },
});
