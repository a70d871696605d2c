/** `claudikins programs schedule` and `unschedule`: saved programs that the daemon runs at a time. */

import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { defined } from "../../base/json-object.ts";
import { about, anything, byName, list as listOf, number, record, text, time, yesOrNo } from "../../base/json-shape.ts";
import { cronInWords } from "../../programs/saved/cron-words.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import { addSchedule, removeSchedule } from "../../programs/saved/manage.ts";
import { nextTimes, type Schedule, type ScheduledRun } from "../../programs/saved/schedules.ts";
import { command, option, pairs, place, several } from "../command.ts";
import { daemonOf } from "../daemon/with-daemon.ts";
import { openConfig, usesDaemon, viewArgs } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { inputFrom } from "./input.ts";
import { managing } from "./manage.ts";

export const scheduleShape = record({
  id: text,
  cron: text,
  zone: text,
  input: byName(anything),
  "next?": about("When it runs next, in milliseconds since 1970", number),
  "lastRun?": record({
    due: time,
    startedAt: time,
    "execution?": text,
    missed: about("Earlier times that were missed", number),
    "endedAt?": time,
    "ok?": yesOrNo,
    "message?": about("Why it failed", text),
  }),
});

export function scheduleJson(schedule: Schedule) {
  const { id, cron, zone, input, lastRun } = schedule;
  const [next] = nextTimes(schedule, 1);
  return { id, cron, zone, input, ...defined({ next, lastRun: lastRun && runJson(lastRun) }) };
}

function runJson({ due, startedAt, execution, missed, end }: ScheduledRun) {
  const ended = { endedAt: end?.at, ok: end?.ok, message: end?.message };
  return { due, startedAt, ...defined({ execution }), missed, ...defined(ended) };
}

/** `daily: at 08:00, Monday through Friday ("0 8 * * 1-5", Europe/Berlin), next 2026-11-27 08:00; last run 3 h ago, ok, after 2 missed`. */
export function scheduleText(schedule: Schedule): string {
  const { id, cron, zone, lastRun } = schedule;
  const [next] = nextTimes(schedule, 1);
  const comes = next === undefined ? "" : `, next ${timeText(next, zone)}`;
  return `${id}: ${cronInWords(cron)} ("${cron}", ${zone})${comes}${lastRun ? `; last run ${lastText(lastRun)}` : ""}`;
}

function lastText({ startedAt, missed, end }: ScheduledRun): string {
  const state = end ? (end.ok ? "ok" : `failed: ${end.message}`) : "not done yet";
  return `${ageText(Date.now() - startedAt)}, ${state}${missed === 0 ? "" : `, after ${missed} missed`}`;
}

/** `2026-11-27 08:00`, in the zone of the schedule. */
function timeText(at: number, zone: string): string {
  const options = { dateStyle: "short", timeStyle: "short", timeZone: zone } as const;
  return new Intl.DateTimeFormat("sv-SE", options).format(at);
}

/** The input of a saved program. */
export const inputArg = place("The input as name=text, name:=json, name=@file, '{…}' or @file.json", {
  required: false,
  complete: "input",
  ...pairs,
});

export const schedule = command({
  description:
    "Run a saved program on a schedule, while the daemon runs: claudikins daemon enable starts it at each login. Missed times are made up by one run. A program never runs twice at the same time.",
  args: {
    name: place("Name of a saved program", { required: true, complete: "program" }),
    input: inputArg,
    cron: option("When: minute, hour, day of the month, month and day of the week", { valueHint: "expression" }),
    zone: option("Time zone, such as Europe/Berlin (default: this machine's)", { valueHint: "zone" }),
    as: option("Name of the schedule (default: the name of the program)", { valueHint: "name" }),
    ...viewArgs,
  },
  examples: [
    `claudikins programs schedule totals --cron "0 8 * * *"`,
    `claudikins programs schedule totals --cron "0 8 * * 1-5" month=2026-10`,
    `claudikins programs schedule totals --cron "0 8 1 * *" --zone Asia/Tokyo`,
  ],
  json: record({ schedule: scheduleShape, next: about("The next times, in milliseconds since 1970", listOf(number)) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const program = new ProgramLibrary(config.savedPrograms).get(args.name);
    if (args.cron === undefined) {
      throw new ClaudikinsError("USAGE", "The schedule needs a time", {
        hint: 'Add --cron, such as --cron "0 8 * * 1-5".',
      });
    }
    const input = await inputFrom(args.input, program, io);
    const wanted = { input, cron: args.cron, zone: args.zone, id: args.as };
    const made = await managing(config, io, (options) => addSchedule(program, wanted, options));
    const next = nextTimes(made, 3);
    const times = next.map((at) => `  ${timeText(at, made.zone)}\n`).join("");
    const text = `Scheduled ${program.name}. The next times (${made.zone}):\n${times}`;
    return { json: { schedule: scheduleJson(made), next }, text, note: await daemonNote(args, io) };
  },
});

/** Starts the daemon, and says what a restart of the machine means. */
export async function daemonNote(flags: Parameters<typeof daemonOf>[0], io: Io): Promise<string> {
  if (!usesDaemon({}, io.env)) {
    return "There can be no daemon here, so it does not happen. Check that CLAUDIKINS_DAEMON is not off.\n";
  }
  const { client } = await daemonOf(flags, io);
  await client.post("/adopt", { executions: [] }, io.interrupted);
  return "The daemon does it. To start the daemon when you log in: claudikins daemon enable\n";
}

export const unschedule = command({
  description: "End schedules of saved programs. A run that has begun goes on.",
  args: {
    names: place("Names of schedules", { complete: "schedule", ...several }),
    ...viewArgs,
  },
  examples: ["claudikins programs unschedule totals"],
  json: record({ removed: listOf(text) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    await managing(config, io, async (options) => {
      for (const name of args.names) await removeSchedule(name, options);
    });
    return { json: { removed: args.names }, text: args.names.map((name) => `Unscheduled ${name}\n`).join("") };
  },
});
