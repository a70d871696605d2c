/** Adds and removes triggers, and lets dead deliveries begin again. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { type ProgramAudit, recordProgram } from "../saved/audited.ts";
import { ProgramLibrary } from "../saved/library.ts";
import { inputsOf, problemOfName, type SavedProgram } from "../saved/model.ts";
import { acceptToStart } from "../saved/save.ts";
import { checkConditions } from "./conditions.ts";
import { placeName } from "./places.ts";
import {
  type EventSource,
  eventInput,
  type ProgramState,
  type Receiver,
  receiverText,
  sourceText,
  type Trigger,
  Triggers,
} from "./stored-triggers.ts";

/** Notifications within a minute, unless the user says another number. */
export const usualNotificationsPerMinute = 60;

export interface ManageOptions {
  place: SavedProgramsPlace;
  audit: ProgramAudit;
}

export type WantedTrigger = Pick<Trigger, "on" | "filter" | "perMinute" | "input" | "map"> & {
  /** Default: the name of the program, and a number if it is taken. */
  id?: string | undefined;
};

/**
 * Adds the trigger, and accepts the program and the programs that it calls as they are: it runs while nobody looks. Throws USAGE, INVALID_ARGUMENTS,
 * DEFINITION_CHANGED and FILE_NOT_WRITABLE.
 */
export async function addTrigger(
  program: SavedProgram,
  { id: wanted, ...rest }: WantedTrigger,
  { place, audit }: ManageOptions,
): Promise<Trigger> {
  const triggers = new Triggers(place);
  const id = idFor(program, wanted, triggers);
  const made: Trigger = { version: 1, id, program: program.name, ...rest, createdAt: Date.now() };
  checkConditions(made);
  requireInput(program, made);
  const library = new ProgramLibrary(place);
  if (made.on.kind === "after") requireNoCircle(program.name, made.on, library, triggers);
  await acceptToStart(program, { library, audit });
  await triggers.add(made, () => recordProgram("scheduled", program, triggerLine(made), audit));
  const { on } = made;
  // The files of a team are on the machine that watches them, which may be another one.
  if (on.kind === "file" && place.documents.areFiles) {
    const { ChangedFiles } = await import("./changed-files.ts");
    await new ChangedFiles(triggers).noteFirst({ ...made, on });
  }
  return made;
}

export type WantedNotification = Pick<WantedTrigger, "id" | "filter" | "perMinute" | "input" | "map"> & {
  when: readonly ProgramState[];
  notify: Receiver;
  hasContents: boolean;
};

/** Adds a notification: a trigger for the outcomes of the program that starts nothing. Throws USAGE and FILE_NOT_WRITABLE. */
export async function addNotification(
  program: SavedProgram,
  { id: wanted, when, hasContents, ...rest }: WantedNotification,
  { place, audit }: ManageOptions,
): Promise<Trigger> {
  const triggers = new Triggers(place);
  const id = idFor(program, wanted, triggers);
  const on = { kind: "after", program: program.name, when } as const;
  const contents = hasContents ? { hasContents } : {};
  const made: Trigger = { version: 1, id, program: program.name, on, ...contents, ...rest, createdAt: Date.now() };
  checkConditions(made);
  await triggers.add(made, () => recordProgram("scheduled", program, triggerLine(made), audit));
  return made;
}

/** Throws USAGE. */
function idFor({ name }: SavedProgram, wanted: string | undefined, triggers: Triggers): string {
  const id = wanted ?? freeId(name, triggers.ids());
  const problem = problemOfName(id);
  if (problem === undefined) return id;
  throw new ClaudikinsError("USAGE", `"${id}" cannot be the name of a trigger: ${problem}`);
}

function freeId(name: string, taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const id = number === 1 ? name : `${name}-${number}`;
    if (!taken.includes(id)) return id;
  }
}

/** Every input that the program requires must come from the flags, from the map, or be the event. */
function requireInput(program: SavedProgram, { input, map }: Pick<Trigger, "input" | "map">): void {
  const given = new Set([...Object.keys(input), ...Object.keys(map), eventInput]);
  const known = inputsOf(program).map(([name]) => name);
  const missing = inputsOf(program).find(([name, , required]) => required && !given.has(name))?.[0];
  if (missing !== undefined) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${program.name} needs the input ${missing}`, {
      hint: `Give it a value: ${missing}=…, or make it of the event: --map ${missing}=event.body.…`,
    });
  }
  const unknown = Object.keys(map).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${program.name} has no input ${unknown}`, {
    hint: known.length === 0 ? "It has no input." : `Its input: ${known.join(", ")}`,
  });
}

/** Throws USAGE if the program would start itself, perhaps through others. */
function requireNoCircle(
  name: string,
  { program: after }: Extract<EventSource, { kind: "after" }>,
  library: ProgramLibrary,
  triggers: Triggers,
): void {
  library.get(after);
  const all = triggers.all();
  const seen = new Set([name]);
  for (const each of seen) {
    if (each === after) {
      throw new ClaudikinsError("USAGE", `"${name}" would start itself: "${after}" already runs after it`, {
        hint: "Programs that follow each other must have an end.",
      });
    }
    for (const { on, program, notify } of all) {
      if (!notify && on.kind === "after" && on.program === each) seen.add(program);
    }
  }
}

function triggerLine(trigger: Trigger): string {
  const { id, notify } = trigger;
  return `${id}: ${sourceText(trigger)}${notify ? `: ${receiverText(notify)}` : ""}`;
}

/** Removes a trigger, and its deliveries that were not begun. Returns their number. Throws PROGRAM_NOT_FOUND and FILE_NOT_WRITABLE. */
export async function removeTrigger(id: string, { place, audit }: ManageOptions): Promise<number> {
  const triggers = new Triggers(place);
  triggers.require(id);
  const found = triggers.find(id);
  await recordProgram("unscheduled", { name: found?.program ?? id }, found ? triggerLine(found) : id, audit);
  await triggers.remove(id);
  const { deliveries } = audit.store;
  const removed = await deliveries.removeWaiting(placeName(place), id);
  const running = await deliveries.running(placeName(place));
  if (!running.some(({ triggerId }) => triggerId === id)) await triggers.forget(id);
  return removed;
}

/** Lets a dead delivery begin again. Throws USAGE, and PROGRAM_NOT_FOUND if its trigger was removed. */
export async function retryDelivery(id: string, { place, audit: { store } }: ManageOptions): Promise<void> {
  const found = await store.deliveries.get(id);
  const list = "To list deliveries: claudikins programs deliveries";
  if (found?.place !== placeName(place)) {
    throw new ClaudikinsError("USAGE", `There is no delivery "${id}"`, { hint: list });
  }
  new Triggers(place).require(found.triggerId);
  if (await store.deliveries.retry(id, Date.now())) return;
  throw new ClaudikinsError("USAGE", `The delivery ${id} is ${found.state}. Only a dead one can begin again`, {
    hint: list,
  });
}
