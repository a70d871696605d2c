/** News of saved programs for the next session of an agent, for users who have asked for it. Each is told once. */
import { ageText } from "../../base/duration.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { StoredDelivery } from "../../store/deliveries.ts";
import type { Parts } from "../parts.ts";
import { newId } from "../trace/id.ts";
import { placeName } from "./places.ts";
import { type ProgramState, Triggers } from "./stored-triggers.ts";

/** News that are read at once, and those of them that are told: the newest. */
const readNews = 100;
const toldNews = 5;

/** One line, or undefined if there is nothing new. */
export async function agentNews({ config, store }: Pick<Parts, "config" | "store">): Promise<string | undefined> {
  const { savedPrograms: place } = config;
  const news: StoredDelivery[] = [];
  const now = Date.now();
  for (const { id, notify } of new Triggers(place).all()) {
    if (notify?.kind !== "agent") continue;
    for (const each of await store.deliveries.due(placeName(place), id, now, readNews)) {
      const claim = newId(now);
      if (!(await store.deliveries.claim(each.id, each.attempts, claim, now))) continue;
      news.push(each);
      await store.deliveries.end(each.id, claim, { state: "done" }, now);
    }
  }
  if (news.length === 0) return undefined;
  news.sort((one, other) => other.at - one.at);
  const told = news.slice(0, toldNews).map((each) => newsText(each, now));
  const more = news.length > toldNews ? `, and ${news.length - toldNews} more` : "";
  return `Saved programs: ${told.join(", ")}${more}. Their results: programs.runs({ name })`;
}

const words: Record<ProgramState, string> = { done: "has ended", failed: "has failed", waiting: "waits for the user" };

/** `nightly has failed 2 h ago (execution 0ts9…)`. */
function newsText({ program, payload, at }: StoredDelivery, now: number): string {
  const { state, execution } = JSON.parse(payload) as JsonObject;
  const of = execution === undefined ? "" : ` (execution ${String(execution)})`;
  return `${program} ${words[state as ProgramState]}, ${ageText(now - at)}${of}`;
}
