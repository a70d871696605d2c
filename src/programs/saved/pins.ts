/**
 * Pins: what a program runs with the programs that it calls. They are taken when the user saves or schedules it, so that nobody else changes
 * what runs for the user by replacing a program that it calls.
 */
import { ClaudikinsError } from "../../base/errors.ts";
import { digestOf } from "./library.ts";
import { type Pins, programsServer, type SavedProgram, versionName } from "./model.ts";

/** Finds the programs that a program calls. */
export interface Callable {
  find(name: string): SavedProgram | undefined;
}

/** The digests of all programs that it calls, also through others. One that is missing has none. */
export function pinsOf(program: Pick<SavedProgram, "name" | "calls">, programs: Callable): Pins {
  const pins: Pins = {};
  const waiting = calleesOf(program);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const found = name === program.name || Object.hasOwn(pins, name) ? undefined : programs.find(name);
    if (!found) continue;
    pins[name] = digestOf(found);
    waiting.push(...calleesOf(found));
  }
  return pins;
}

function calleesOf({ calls }: Pick<SavedProgram, "calls">): string[] {
  const prefix = `${programsServer}.`;
  return calls.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
}

/** The programs that are not as they were pinned. */
export function changedSince(pins: Pins, programs: Callable): string[] {
  return Object.keys(pins).filter((name) => {
    const found = programs.find(name);
    return !found || pins[name] !== digestOf(found);
  });
}

/** Throws DEFINITION_CHANGED if a program that it calls is not as the user has seen it. */
export function requirePinned({ name, pins = {} }: Pick<SavedProgram, "name" | "pins">, programs: Callable): void {
  const [changed] = changedSince(pins, programs);
  if (changed !== undefined) throw heldProgram(name, changed, programs.find(changed));
}

/**
 * Throws DEFINITION_CHANGED if a program with these pins may not call the other one as it is now. `version` is given if the call names one.
 */
export function requirePin(
  caller: { name: string; pins?: Pins | undefined },
  called: SavedProgram,
  version: number | undefined,
): void {
  const { name, pins } = caller;
  const calledName = version === undefined ? called.name : versionName(called.name, version);
  if (!pins || called.name === name || pins[calledName] === digestOf(called)) return;
  throw heldProgram(name, calledName, called);
}

function heldProgram(name: string, changed: string, now: SavedProgram | undefined): ClaudikinsError {
  const day = now && new Date(now.savedAt).toISOString().slice(0, 10);
  const how = now ? `was changed by ${now.savedBy === "agent" ? "an agent" : "the user"} on ${day}` : "was removed";
  return new ClaudikinsError(
    "DEFINITION_CHANGED",
    `The saved program "${name}" is held: it calls "${changed}", which ${how}, and its user has not accepted that`,
    {
      hint: `Its user can look at it with claudikins programs show ${changed}, and accept it with claudikins programs accept ${name}`,
    },
  );
}
