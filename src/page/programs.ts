/** Lists the saved programs of the config and of its doors with their schedules, for the page. */
import { join } from "node:path";
import type { App } from "../app/app.ts";
import { toClaudikinsError } from "../base/errors.ts";
import { minuteMs } from "../base/units.ts";
import type { Environment } from "../config/environment.ts";
import { type SavedProgramsPlace, savedProgramsOf } from "../config/saved-programs-place.ts";
import { formsOf, formsText } from "../programs/argument-words.ts";
import { driftOf, driftText } from "../programs/drift/drift.ts";
import { reasonText } from "../programs/drift/reasons.ts";
import { cronInWords } from "../programs/saved/cron-words.ts";
import { lastChange } from "../programs/saved/differences.ts";
import { ProgramLibrary } from "../programs/saved/library.ts";
import { inputsOf, type SavedProgram } from "../programs/saved/model.ts";
import { callOf } from "../programs/saved/namespace.ts";
import { nextTimes, type Schedule, Schedules } from "../programs/saved/schedules.ts";
import { Cached } from "./cached.ts";
import type { PageState } from "./contract.ts";
import type { ReadExecutions } from "./executions.ts";
import { maxShownDescriptionChars } from "./limits.ts";
import type { PageDrift, PageInput, PageProgram, PageSchedule } from "./programs-contract.ts";

/** Characters of the input of a schedule, and of the example of an input. */
const maxShownInputChars = 500;

/** Characters of the message of a scheduled run that failed. */
const maxShownMessageChars = 500;

type Shown = Pick<PageState, "programs" | "schedules" | "programProblems">;
type KnownProgram = Omit<PageProgram, "runs">;

interface Place extends SavedProgramsPlace {
  door: string | undefined;
}

export class ProgramsReader {
  readonly #app: App;
  readonly #env: Environment;
  readonly #programs = new Cached<{ programs: KnownProgram[]; problems: string[] }>();
  readonly #schedules = new Cached<{ schedules: PageSchedule[]; problems: string[] }>();

  constructor(app: App, env: Environment) {
    this.#app = app;
    this.#env = env;
  }

  /** The places of the config and of its doors. */
  get #places(): Place[] {
    const { origin, doors } = this.#app.config;
    return [undefined, ...doors].map((door) => ({ ...savedProgramsOf(origin, this.#env, door), door }));
  }

  read({ runsOf }: Pick<ReadExecutions, "runsOf">): Shown {
    const { documents, mark } = this.#app.config.savedPrograms;
    // No program was ever saved, or none is known yet.
    if (!documents.areKnown || documents.read(mark) === undefined)
      return { programs: [], schedules: [], programProblems: [] };
    const places = this.#places;
    const names = JSON.stringify(places.map(({ door }) => door ?? null));
    const known = this.#programs.get(`${names}\n${documents.stampOf(mark)}`, () => readPrograms(places));
    const looks = places.map(({ folder }) => documents.stampOf(join(folder, "schedules")));
    const minute = Math.floor(Date.now() / minuteMs);
    const found = this.#schedules.get([names, ...looks, minute].join("\n"), () => readSchedules(places));
    return {
      programs: known.programs.map((program) => ({ ...program, runs: runsOf(program.name, program.door) })),
      schedules: found.schedules,
      programProblems: [...known.problems, ...found.problems],
    };
  }
}

function readPrograms(places: readonly Place[]) {
  const programs: KnownProgram[] = [];
  const problems: string[] = [];
  for (const place of places) {
    const library = new ProgramLibrary(place);
    for (const name of library.names()) {
      try {
        const program = library.find(name);
        if (program) programs.push(shown(program, place.door));
      } catch (error) {
        const { message, hint } = toClaudikinsError(error);
        problems.push([message, hint].filter(Boolean).join(". "));
      }
    }
  }
  return { programs, problems };
}

function shown(program: SavedProgram, door: string | undefined): KnownProgram {
  const { name, description, calls, savedAt, savedBy, from, number: version, accepted = version } = program;
  return {
    name,
    door,
    description,
    call: callOf(program),
    inputs: shownInputs(program),
    calls,
    version,
    accepted: accepted === version ? undefined : accepted,
    savedAt,
    savedBy,
    from: from && `${from.url}@${from.commit.slice(0, 12)}`,
    changed: lastChange(program),
  };
}

export function shownInputs(program: Pick<SavedProgram, "input">): PageInput[] {
  return inputsOf(program).map(([name, schema, isRequired]) => {
    const { description, examples } = Object(schema) as Record<string, unknown>;
    const [example] = Array.isArray(examples) ? examples : [];
    const text = typeof example === "string" ? example : JSON.stringify(example);
    return {
      name,
      type: formsText(formsOf(schema, program.input)),
      isRequired,
      description: typeof description === "string" ? description.slice(0, maxShownDescriptionChars) : undefined,
      example: text?.slice(0, maxShownInputChars),
    };
  });
}

function readSchedules(places: readonly Place[]) {
  const all = places.map((place) => ({ door: place.door, schedules: new Schedules(place) }));
  return {
    schedules: all.flatMap(({ door, schedules }) => schedules.all().map((each) => shownSchedule(each, door))),
    problems: all.flatMap(({ schedules }) =>
      schedules.problems().map((file) => `A schedule cannot be read, so it does not run: ${file}`),
    ),
  };
}

function shownSchedule(schedule: Schedule, door: string | undefined): PageSchedule {
  const { id, program, cron, zone, input, lastRun } = schedule;
  return {
    id,
    program,
    door,
    cron,
    times: cronInWords(cron),
    zone,
    input: JSON.stringify(input).slice(0, maxShownInputChars),
    next: nextOf(schedule),
    lastRun: lastRun && {
      startedAt: lastRun.startedAt,
      execution: lastRun.execution,
      missed: lastRun.missed,
      ok: lastRun.end?.ok,
      message: lastRun.end?.message?.slice(0, maxShownMessageChars),
    },
  };
}

/** Undefined if the file was edited by hand, and its time is not valid. */
function nextOf(schedule: Schedule): number | undefined {
  try {
    return nextTimes(schedule, 1)[0];
  } catch {
    return undefined;
  }
}

/** Programs that are shown with their reasons. */
const maxShownPrograms = 50;

/** Reasons that are shown for a program. `claudikins programs check` shows all. */
const maxShownReasons = 5;

/** Characters of a reason. */
const maxReasonChars = 1_000;

/** With `servers`, only what these servers do to programs. */
export async function driftOnPage(
  { config, catalog, cwd }: App,
  env: Environment,
  servers?: readonly string[],
): Promise<PageDrift> {
  const drift = await driftOf({ config, catalog, env, cwd }, { servers });
  const broken = drift.broken.slice(0, maxShownPrograms).map(({ name, door, reasons }) => ({
    name,
    door,
    reasons: reasons.slice(0, maxShownReasons).map((each) => reasonText(each).slice(0, maxReasonChars)),
  }));
  return { text: broken.length === 0 ? "" : driftText(drift), broken };
}
