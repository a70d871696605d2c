/** Runs saved programs when they are due: each time once, and never twice at the same time. */
import { dirname, relative } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { hasSchedules } from "../events/places.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import type { FollowedExecution } from "../execution/running-execution.ts";
import { idAt } from "../trace/id.ts";
import type { Schedule, ScheduledRun, Schedules } from "./schedules.ts";

/** The programs of the whole config, or of a door. */
export interface ScheduledPlace {
  place: SavedProgramsPlace;
  /** What runs them. It is opened when a program is due. Throws what opening a door throws. */
  open: () => Promise<{ executions: Executions; parts: ExecutionParts }>;
}

export class Scheduler {
  readonly #places: readonly ScheduledPlace[];
  readonly #log: Log;
  readonly #now: () => number;
  #looking: Promise<void> | undefined;
  /** The runs that this process waits for, by their executions. */
  readonly #running = new Set<string>();
  #isClosing = false;

  constructor(places: readonly ScheduledPlace[], log: Log, now: () => number = Date.now) {
    this.#places = places;
    this.#log = log;
    this.#now = now;
  }

  /** Whether a program is scheduled, so that the daemon must stay. */
  async isNeeded(): Promise<boolean> {
    return (await Promise.all(this.#places.map(schedulesAt))).some((schedules) => (schedules?.ids().length ?? 0) > 0);
  }

  /** Starts what is due. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Starts nothing from now on. Resolves when nothing is being started. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    for (const place of this.#places) {
      const schedules = await schedulesAt(place);
      if (this.#isClosing) return;
      // A program may wait for a slow server before it starts. Others must not.
      const looks = schedules
        ?.all()
        .map((schedule) =>
          this.#lookAt(schedule, schedules, place).catch((error: unknown) =>
            this.#log.warn(`The schedule ${schedule.id}: ${messageOf(error)}`),
          ),
        );
      await Promise.all(looks ?? []);
    }
  }

  async #lookAt(schedule: Schedule, schedules: Schedules, place: ScheduledPlace): Promise<void> {
    const { lastRun } = schedule;
    if (lastRun?.execution !== undefined && !lastRun.end) {
      // A process that has ended may have begun it. Times that come due meanwhile are made up afterwards.
      if (!this.#running.has(lastRun.execution)) await this.#follow(lastRun.execution, schedule, schedules, place);
      return;
    }
    const { dueAt } = await import("./schedules.ts");
    const found = dueAt(schedule, this.#now());
    if (found) await this.#start(found, schedule, schedules, place);
  }

  async #start(
    { due, missed }: { due: number; missed: number },
    schedule: Schedule,
    schedules: Schedules,
    place: ScheduledPlace,
  ): Promise<void> {
    const begun: ScheduledRun = { due, startedAt: this.#now(), missed };
    const late = missed === 0 ? "" : `, after ${missed} missed`;
    try {
      const execution = await this.#execution(due, schedule, place);
      if (!execution) return;
      await schedules.note(schedule.id, (now) => ({
        ...now,
        doneUntil: due,
        lastRun: { ...begun, execution: execution.id },
      }));
      this.#log.info(`runs ${schedule.program} (${schedule.id}), due at ${new Date(due).toISOString()}${late}`);
      this.#wait(execution, schedule, schedules);
    } catch (error) {
      const end = { at: this.#now(), ok: false, message: messageOf(error) };
      await schedules.note(schedule.id, (now) => ({ ...now, doneUntil: due, lastRun: { ...begun, end } }));
      this.#log.warn(`${schedule.program} (${schedule.id}) was not run: ${messageOf(error)}`);
    }
  }

  /**
   * The execution has the same id for the same time, so that it is found again if this process dies before it is noted, and so that only one
   * of several replicas runs it, wherever their data folders are. Undefined if this process ends: another one begins it.
   */
  async #execution(
    due: number,
    { id, program, input }: Schedule,
    { place, open }: ScheduledPlace,
  ): Promise<FollowedExecution | undefined> {
    const name = relative(dirname(place.mark), place.folder);
    const executionId = idAt(due, sha256(JSON.stringify([name, id, due])));
    const { executions, parts } = await open();
    const { earlier, requestFor } = await import("./run.ts");
    const found = await earlier(executionId, executions, parts);
    if (found) return found;
    const { unattendedProgram } = await import("./unattended.ts");
    const request = await requestFor(await unattendedProgram(program, place, parts), input);
    if (this.#isClosing) return undefined;
    const execution = executions.start({ ...request, unattended: "schedule" }, parts, {
      id: executionId,
      isBackground: true,
    });
    try {
      await execution.stored();
      return execution;
    } catch (error) {
      // A daemon of the same config with other variables may have begun it at this moment.
      const other = await earlier(executionId, executions, parts);
      if (other) return other;
      throw error;
    }
  }

  async #follow(id: string, schedule: Schedule, schedules: Schedules, { open }: ScheduledPlace): Promise<void> {
    const { executions, parts } = await open();
    try {
      this.#wait(await executions.follow(id, parts), schedule, schedules);
    } catch (error) {
      await this.#ended(id, { at: this.#now(), ok: false, message: messageOf(error) }, schedule, schedules);
    }
  }

  #wait(execution: FollowedExecution, schedule: Schedule, schedules: Schedules): void {
    const { id } = execution;
    this.#running.add(id);
    void execution.outcome
      .then(async (outcome) => {
        // Another process continues it.
        if (this.#isClosing || execution.isReleased) return;
        const message = outcome.ok ? undefined : outcome.error.message;
        if (!outcome.ok) this.#log.warn(`${schedule.program} (${schedule.id}) failed: ${message}`);
        await this.#ended(id, { at: this.#now(), ok: outcome.ok, message }, schedule, schedules);
      })
      .catch((error: unknown) => this.#log.warn(`The schedule ${schedule.id}: ${messageOf(error)}`))
      .finally(() => this.#running.delete(id));
  }

  async #ended(
    execution: string,
    end: NonNullable<ScheduledRun["end"]>,
    { id }: Schedule,
    schedules: Schedules,
  ): Promise<void> {
    await schedules.note(id, (now) => {
      return now.lastRun?.execution === execution ? { ...now, lastRun: { ...now.lastRun, end } } : now;
    });
  }
}

/** Undefined if nothing was ever scheduled: then nothing is loaded. */
async function schedulesAt({ place }: ScheduledPlace): Promise<Schedules | undefined> {
  if (!hasSchedules(place)) return undefined;
  const { Schedules } = await import("./schedules.ts");
  return new Schedules(place);
}
