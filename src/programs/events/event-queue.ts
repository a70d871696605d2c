/** Puts events into the queue of the store, each once for a trigger. */
import type { JsonObject } from "../../base/json-object.ts";
import { megabyte } from "../../base/units.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { Store } from "../../store/store.ts";
import { newId } from "../trace/id.ts";
import { placeName } from "./places.ts";
import { sourceText, type Trigger } from "./stored-triggers.ts";

/** Deliveries of one trigger that have not ended. More are refused. */
const maxOpenDeliveries = 1_000;

/** News that wait for the next session of an agent. Later ones are left out. */
const maxOpenNews = 20;

/** Size of an event as JSON. */
export const maxEventBytes = 2 * megabyte;

/** How many programs may start each other by their outcomes. */
const maxChainedPrograms = 5;

export interface OfferedEvent {
  /** What its sender calls it. The trigger starts no program for the same event again. */
  name: string;
  /** What the program gets as `input.event`. */
  content: JsonObject;
  /** The data that the content may repeat, besides what strangers have written. */
  labels?: readonly Read[];
  /** How many programs have started each other up to this one. Default: 1. */
  depth?: number;
}

/** `ignored`: the filter leaves it out. `full`: too many wait. `known`: it came before. */
export interface Offered {
  result: "added" | "known" | "full" | "ignored";
  /** The id of the delivery. */
  id: string;
}

/** Throws FILE_NOT_WRITABLE and DATABASE_UNAVAILABLE. */
export async function offer(
  trigger: Trigger,
  { name, content, labels = [], depth = 1 }: OfferedEvent,
  { place, store }: { place: SavedProgramsPlace; store: Pick<Store, "deliveries"> },
): Promise<Offered> {
  const { passes } = await import("./conditions.ts");
  if (!passes(trigger, content)) return { result: "ignored", id: "" };
  const at = Date.now();
  const { notify, hasContents } = trigger;
  const untrusted: Read = { label: "untrusted", source: `the event of ${sourceText(trigger)}` };
  const others = labels.filter(({ label }) => label !== "untrusted");
  const delivery = {
    id: newId(at),
    place: placeName(place),
    triggerId: trigger.id,
    program: trigger.program,
    event: name,
    at,
    depth,
    // Without contents, it has names and ids that the user and claudikins have chosen.
    labels: JSON.stringify(notify && !hasContents ? [] : [untrusted, ...others]),
    payload: JSON.stringify(content),
    // A notification starts no program.
    dead: problemOf(content, notify ? 1 : depth),
  };
  return store.deliveries.add(delivery, notify?.kind === "agent" ? maxOpenNews : maxOpenDeliveries);
}

/** Why an event starts nothing. It is kept, so that its user sees it. */
function problemOf(content: JsonObject, depth: number): string | undefined {
  if (depth > maxChainedPrograms) return `more than ${maxChainedPrograms} programs have started each other`;
  const { length } = JSON.stringify(content);
  return length > maxEventBytes ? "the event is too large" : undefined;
}
