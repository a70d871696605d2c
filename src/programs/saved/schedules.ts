/** When saved programs run by themselves: a private document for each schedule, beside the programs. */
import { join } from "node:path";
import { Cron } from "croner";
import type { DocumentChanges } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { isNewer } from "../../base/newer.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { tellOthers } from "./library.ts";
import { problemOfName } from "./model.ts";

/** Schedules of one config, or of one door. */
const maxSchedules = 100;

/** Missed times that are counted. */
const maxCountedMisses = 1_000;

export interface Schedule {
  version: 1;
  /** The name of its file. */
  id: string;
  program: string;
  input: JsonObject;
  /** Five fields: minute, hour, day of the month, month, day of the week. */
  cron: string;
  /** A time zone of the IANA database, such as Europe/Berlin. */
  zone: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  /** The last time that is dealt with, in milliseconds since 1970. */
  doneUntil?: number | undefined;
  lastRun?: ScheduledRun | undefined;
}

export interface ScheduledRun {
  /** When it was due, and when it began, in milliseconds since 1970. */
  due: number;
  startedAt: number;
  /** The id of its execution. Undefined if it could not be started. */
  execution?: string | undefined;
  /** Earlier times that were missed because no daemon was running, or because the run before took too long. */
  missed: number;
  /** Given when it has ended. */
  end?: { at: number; ok: boolean; message?: string | undefined } | undefined;
}

/** Throws USAGE if the expression or the zone is not valid. */
export function cronOf({ cron, zone }: Pick<Schedule, "cron" | "zone">): Cron {
  try {
    Intl.DateTimeFormat("en", { timeZone: zone });
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `"${zone}" is not a time zone`, { hint: "Example: Europe/Berlin", cause });
  }
  try {
    const found = new Cron(cron, { timezone: zone, mode: "5-part", paused: true });
    if (found.nextRun()) return found;
  } catch (cause) {
    throw new ClaudikinsError("USAGE", `"${cron}" is not a cron expression`, {
      hint: 'It has five fields: minute, hour, day of the month, month, day of the week. Example: "0 8 * * 1-5"',
      cause,
    });
  }
  throw new ClaudikinsError("USAGE", `"${cron}" never comes`);
}

/** The next times, in milliseconds since 1970. */
export function nextTimes(schedule: Pick<Schedule, "cron" | "zone">, count: number, after = Date.now()): number[] {
  return cronOf(schedule).nextRuns(count, new Date(after)).map(Number);
}

/** The time that is due now, and how many before it were missed. Undefined if none is. */
export function dueAt(schedule: Schedule, now: number): { due: number; missed: number } | undefined {
  const { createdAt, doneUntil = createdAt } = schedule;
  // A clock that was set back must not repeat anything.
  if (now <= doneUntil) return undefined;
  const times = nextTimes(schedule, maxCountedMisses, doneUntil).filter((time) => time <= now);
  const [last] = cronOf(schedule)
    .previousRuns(1, new Date(now + 1))
    .map(Number);
  const due = Math.max(last ?? 0, ...times);
  return times.length === 0 ? undefined : { due, missed: times.length - 1 };
}

export class Schedules {
  readonly #folder: string;
  readonly #place: SavedProgramsPlace;

  constructor(place: SavedProgramsPlace) {
    this.#place = place;
    this.#folder = join(place.folder, "schedules");
  }

  ids(): string[] {
    const files = this.#place.documents.namesIn(this.#folder).filter((name) => name.endsWith(".json"));
    return files.map((name) => name.slice(0, -".json".length)).filter((id) => problemOfName(id) === undefined);
  }

  /** In the order of their ids. Files that cannot be read are left out: `problems` names them. */
  all(): Schedule[] {
    return this.ids().flatMap((id) => this.find(id) ?? []);
  }

  /** The files that cannot be read. */
  problems(): string[] {
    return this.ids().flatMap((id) => (this.find(id) ? [] : [this.#fileOf(id)]));
  }

  of(program: string): Schedule[] {
    return this.all().filter((each) => each.program === program);
  }

  find(id: string): Schedule | undefined {
    const value = parsedJson(this.#place.documents.read(this.#fileOf(id)) ?? "");
    return isSchedule(value) && !isNewer(value, 1) ? { ...value, id } : undefined;
  }

  /** `before` is called when nothing is in the way. Throws FILE_NOT_WRITABLE, and USAGE if there are too many or another one has the id. */
  async add(schedule: Schedule, before = async () => {}): Promise<void> {
    await this.#alone(async (changes) => {
      const ids = this.ids();
      if (ids.includes(schedule.id)) {
        throw new ClaudikinsError("USAGE", `A schedule called "${schedule.id}" exists already`, {
          hint: "Choose another name with --as, or end it first: claudikins programs unschedule NAME",
        });
      }
      if (ids.length >= maxSchedules) throw new ClaudikinsError("USAGE", `There are ${maxSchedules} schedules already`);
      await before();
      this.#write(schedule, changes);
      // The description of the program names its schedules.
      tellOthers(this.#place, changes);
    });
  }

  /** Changes what is noted about a schedule. Has no effect if it was removed. Throws FILE_NOT_WRITABLE. */
  async note(id: string, change: (schedule: Schedule) => Schedule): Promise<void> {
    await this.#alone((changes) => {
      const found = this.find(id);
      if (found) this.#write(change(found), changes);
    });
  }

  /** Throws PROGRAM_NOT_FOUND and FILE_NOT_WRITABLE. */
  async remove(id: string): Promise<void> {
    await this.#alone((changes) => {
      const ids = this.ids();
      if (!ids.includes(id)) {
        throw new ClaudikinsError("PROGRAM_NOT_FOUND", `No schedule is called "${id}"`, {
          hint: didYouMean(id, ids) ?? (ids.length === 0 ? "Nothing is scheduled." : `Schedules: ${ids.join(", ")}`),
        });
      }
      changes.remove(this.#fileOf(id));
      tellOthers(this.#place, changes);
    });
  }

  #alone(work: (changes: DocumentChanges) => void | Promise<void>): Promise<void> {
    const lock = join(this.#place.folder, ".schedules.lock");
    return this.#place.documents.alone({ folder: this.#folder, lock, what: "the schedules" }, work);
  }

  #write(schedule: Schedule, changes: DocumentChanges): void {
    changes.write(this.#fileOf(schedule.id), `${JSON.stringify(schedule, null, 1)}\n`);
  }

  #fileOf(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}

function isSchedule(value: unknown): value is Schedule {
  if (!isObject(value)) return false;
  const { version, program, input, cron, zone, createdAt } = value;
  const areTexts = [program, cron, zone].every((each) => typeof each === "string");
  return version === 1 && areTexts && isObject(input) && typeof createdAt === "number";
}
