/** `claudikins programs deliveries` and `retry`: the events that have started saved programs. */
import { ageText } from "../../base/duration.ts";
import { about, list as listOf, number, oneOf, record, text, time } from "../../base/json-shape.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import { retryDelivery } from "../../programs/events/manage.ts";
import { placeName } from "../../programs/events/places.ts";
import { type Trigger, Triggers } from "../../programs/events/stored-triggers.ts";
import type { BriefDelivery } from "../../store/deliveries.ts";
import { openStore } from "../../store/open.ts";
import { command, place, several } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { listAnswer } from "../output/nouns.ts";
import { managing } from "./manage.ts";

/** Deliveries that are listed. */
const listedDeliveries = 100;

const states = oneOf("waiting", "running", "done", "failed", "dead");

export const deliveries = command({
  description:
    "List the events that have started programs, the notifications about programs, and what became of them. Dead ones come first: they failed, and begin again only with `claudikins programs retry`.",
  args: {
    name: place("Only for this program", { required: false, complete: "program" }),
    ...viewArgs,
  },
  examples: ["claudikins programs deliveries", "claudikins programs deliveries triage --json"],
  json: record({
    deliveries: listOf(
      record({
        id: text,
        program: text,
        trigger: text,
        state: about("failed: it begins again at `nextAt`. dead: it does not", states),
        at: time,
        attempts: number,
        "nextAt?": time,
        "endedAt?": time,
        "execution?": about("The execution of its last attempt", text),
        "message?": about("Why the last attempt failed", text),
      }),
    ),
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    await using store = openStore(io.env);
    const listed = await store.deliveries.list(placeName(config.savedPrograms), listedDeliveries, args.name);
    const triggers = new Triggers(config.savedPrograms);
    const rows = listed.map((row) => (hasExecution(triggers.find(row.triggerId)) ? row : { ...row, execution: null }));
    const dead = rows.find(({ state }) => state === "dead");
    const note = dead ? `To let one begin again: claudikins programs retry ${dead.id}\n` : "";
    return listAnswer(
      io,
      { json: { deliveries: rows.map(deliveryJson) }, rows, none: "No event has come yet.\n", note },
      [
        ["delivery", ({ id }) => id],
        ["program", ({ program }) => program],
        ["trigger", ({ triggerId }) => triggerId],
        ["came", ({ at }) => ageText(Date.now() - at)],
        ["state", stateText],
        ["execution", ({ execution }) => execution ?? ""],
      ],
    );
  },
});

/** Commands, webhooks and lines for agents run no program. */
function hasExecution(trigger: Trigger | undefined): boolean {
  return !trigger?.notify || trigger.notify.kind === "tool";
}

function deliveryJson(delivery: BriefDelivery) {
  const { id, program, triggerId, state, at, attempts, nextAt, endedAt, execution, message } = delivery;
  return {
    id,
    program,
    trigger: triggerId,
    state,
    at,
    attempts,
    ...(state === "failed" ? { nextAt } : {}),
    ...(endedAt === null ? {} : { endedAt }),
    ...(execution === null ? {} : { execution }),
    ...(message === null ? {} : { message }),
  };
}

/** How many deliveries of a program are dead, as far as the list goes. */
export async function deadDeliveries(program: string, place: SavedProgramsPlace, { env }: Io): Promise<number> {
  await using store = openStore(env);
  const rows = await store.deliveries.list(placeName(place), listedDeliveries, program);
  return rows.filter(({ state }) => state === "dead").length;
}

function stateText({ state, message, attempts }: BriefDelivery): string {
  const times = attempts > 1 ? `, ${attempts} attempts` : "";
  return `${state}${times}${message === null || state === "done" ? "" : `: ${message}`}`;
}

export const retry = command({
  description: "Let dead deliveries begin again, after you have looked why they failed.",
  args: {
    deliveries: place("Ids of deliveries", { ...several }),
    ...viewArgs,
  },
  examples: ["claudikins programs retry 0pk3v2m1h8w4q0c7t5r9x6b2d3f1"],
  json: record({ waiting: listOf(text) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    await managing(config, io, async (options) => {
      for (const id of args.deliveries) await retryDelivery(id, options);
    });
    return { json: { waiting: args.deliveries }, text: args.deliveries.map((id) => `${id} begins again\n`).join("") };
  },
});
