/** `claudikins programs check`: judges saved programs against the tools of their servers as they are now. */
import type { App } from "../../app/app.ts";
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, number, record, text, texts, yesOrNo } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { type CheckedProgram, checkPrograms } from "../../programs/drift/check.ts";
import type { SeenShapes } from "../../programs/drift/contract.ts";
import { CurrentTools } from "../../programs/drift/current.ts";
import { driftText } from "../../programs/drift/drift.ts";
import { type SeenNow, seenNow } from "../../programs/drift/live.ts";
import { reasonText } from "../../programs/drift/reasons.ts";
import { RecordingFiles } from "../../programs/recordings/recording-files.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import type { SavedProgram } from "../../programs/saved/model.ts";
import { command, flag, place, several } from "../command.ts";
import { viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { openApp } from "../open-app.ts";
import { personAtTerminal } from "../terminal/at-terminal.ts";
import { Activity } from "../terminal/progress.ts";

const liveShape = record({
  calls: about("Number of calls that were made", number),
  notSeen: about("Tools that were not called", listOf(record({ tool: text, why: text }))),
});

export const reasonShape = record({
  "tool?": about("The tool that has changed", text),
  "line?": about("The line of its call", number),
  "recording?": about("The recording that the program no longer does, whatever has changed", text),
  text: about("What has changed", text),
  "effect?": about("What the program then does", text),
});

export const check = command({
  description:
    "Check saved programs against the tools of their servers as they are now: what would break, at which call, and why. The exit code is 1 if a program would break. Tools that are held are judged by their new definitions.",
  args: {
    names: place("Names of saved programs", { required: false, complete: "program", ...several }),
    all: flag("Check all programs"),
    live: flag("Also make the recorded calls that only read, and compare the shapes of the results"),
    ...viewArgs,
  },
  examples: [
    "claudikins programs check revenue-by-region",
    "claudikins programs check --all",
    "claudikins programs check revenue-by-region --live",
  ],
  json: record({
    total: number,
    broken: number,
    programs: listOf(
      record({
        name: text,
        ok: yesOrNo,
        recordings: about("Number of recordings. Without one, only the text of the program is checked", number),
        reasons: listOf(reasonShape),
        acceptedAnyway: about("Whether schedules and events start it anyway", yesOrNo),
        "live?": liveShape,
      }),
    ),
    unknown: about("Servers whose tools are not known. Their calls were not checked", texts),
  }),
  async run(args, io) {
    if ((args.all === true) === args.names.length > 0) {
      throw new ClaudikinsError("USAGE", "Name the programs to check, or give --all");
    }
    const activity = new Activity(io.stderr, "Checking programs");
    try {
      await using app = await openApp(io, args, {
        sharing: "shell",
        observed: {},
        person: personAtTerminal(() => activity, io),
      });
      const library = new ProgramLibrary(app.config.savedPrograms);
      const programs = args.all ? library.all() : args.names.map((name) => library.get(name));
      const unknown = [...(await learn(programs, app, io)).keys()].sort();
      const live = args.live ? await liveOf(programs, app, io) : new Map<string, SeenNow>();
      const seen = new Map([...live].map(([name, { shapes }]): [string, SeenShapes] => [name, shapes]));
      const { config, catalog, env, cwd } = app;
      const tools = await CurrentTools.of({ config, catalog, env, cwd });
      const options = { place: app.config.savedPrograms, tools, seen, signal: io.interrupted };
      const checked = await checkPrograms(programs, options);
      return answerOf(checked, unknown, live);
    } finally {
      activity.end();
    }
  },
});

/** Lists the servers that the programs use and whose tools are not known. Returns why some still are not. */
async function learn(programs: readonly SavedProgram[], app: App, io: Io): Promise<Map<string, string>> {
  const ids = programs.flatMap(({ calls }) => calls);
  const used = app.catalog.openServers().filter((server) => ids.some((id) => id.startsWith(`${server}.`)));
  return app.catalog.listMissing(io.interrupted, { only: used, waitForOutdated: true });
}

async function liveOf(programs: readonly SavedProgram[], app: App, io: Io): Promise<Map<string, SeenNow>> {
  const files = new RecordingFiles(app.config.savedPrograms);
  const live = new Map<string, SeenNow>();
  for (const { name } of programs) {
    const recordings = [];
    for (const file of files.files(name)) recordings.push(await files.read(file));
    if (recordings.length > 0) live.set(name, await seenNow(recordings, app, io.interrupted));
  }
  return live;
}

function answerOf(checked: readonly CheckedProgram[], unknown: string[], live: ReadonlyMap<string, SeenNow>) {
  const programs = checked.map(({ name, recordings, reasons, isAcceptedAnyway }) => {
    const seen = live.get(name);
    return {
      name,
      ok: reasons.length === 0,
      recordings,
      reasons,
      acceptedAnyway: isAcceptedAnyway,
      ...(seen ? { live: { calls: seen.calls, notSeen: seen.notSeen } } : {}),
    };
  });
  const broken = programs.filter(({ ok }) => !ok);
  const json = { total: programs.length, broken: broken.length, programs, unknown };
  const drift = { total: programs.length, broken: broken.map((each) => ({ ...each, door: undefined })) };
  const lines = programs.map((each) => visibleText(programText(each))).join("");
  const note = unknown.length === 0 ? "" : `Not checked, because the tools are not known: ${unknown.join(", ")}\n`;
  return { json, text: `${lines}${driftText(drift)}\n`, note, exitCode: broken.length > 0 ? 1 : 0 };
}

interface ShownProgram extends Pick<CheckedProgram, "name" | "recordings" | "reasons"> {
  acceptedAnyway: boolean;
  live?: Pick<SeenNow, "calls" | "notSeen">;
}

function programText({ name, recordings, reasons, acceptedAnyway, live }: ShownProgram): string {
  const by = recordings === 0 ? "its text alone: it has no recording" : counted(recordings, "recording");
  const anyway = acceptedAnyway ? "; it runs anyway" : "";
  const head = `${reasons.length === 0 ? "ok    " : "BREAKS"}  ${name}  (${by}${anyway})\n`;
  const calls = live ? [`${counted(live.calls, "call")} made now`] : [];
  const notSeen = (live?.notSeen ?? []).map(({ tool, why }) => `not called: ${tool}, because ${why}`);
  return head + [...reasons.map(reasonText), ...calls, ...notSeen].map((line) => `  ${line}\n`).join("");
}
