/** `claudikins programs on` and `off`: what starts saved programs. */
import { about, anything, byName, list as listOf, number, oneOf, record, text } from "../../base/json-shape.ts";
import { sourceText, type Trigger, webhookForms } from "../../programs/events/stored-triggers.ts";
import { mapOf, startNoMore, startOn, usualRunsPerMinute, webhookPath } from "../../programs/events/wanted-source.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import { command, option, place, repeatable, several } from "../command.ts";
import { openConfig, viewArgs } from "../flags/config-flags.ts";
import { countUpTo, oneWordOf } from "../flags/flags.ts";
import { inputFrom } from "./input.ts";
import { managing } from "./manage.ts";
import { daemonNote, inputArg } from "./schedule.ts";

/** Runs that a trigger may start within a minute. */
const maxRunsPerMinute = 10_000;

export const triggerShape = record({
  id: text,
  on: oneOf("webhook", "file", "resource", "list", "after"),
  about: about("What starts the program, as text", text),
  "path?": about("The path of the webhook below the address of serve --http", text),
  "filter?": text,
  perMinute: number,
  input: byName(anything),
  map: byName(text),
});

export function triggerJson(trigger: Trigger) {
  const { id, on, filter, perMinute, input, map } = trigger;
  return {
    id,
    on: on.kind,
    about: sourceText(trigger),
    ...(on.kind === "webhook" ? { path: webhookPath(on.address) } : {}),
    ...(filter === undefined ? {} : { filter }),
    perMinute,
    input,
    map,
  };
}

/** `triage: webhook (github) at /hooks/…, if event.type == "issues"; at most 60 a minute`. */
export function triggerText(trigger: Trigger): string {
  const { id, on, filter, perMinute } = trigger;
  const at = on.kind === "webhook" ? ` at ${webhookPath(on.address)}` : "";
  return `${id}: ${sourceText(trigger)}${at}${filter === undefined ? "" : `, if ${filter}`}; at most ${perMinute} a minute`;
}

export const on = command({
  description:
    "Start a saved program when something happens: a webhook comes, a file is new or was changed, a server announces that a resource was updated, a list of a server changes, or another program has ended. The program gets the event as its input `event`, if it has such an input.",
  args: {
    name: place("Name of a saved program", { required: true, complete: "program" }),
    input: inputArg,
    webhook: option("Start it for signed requests to serve --http", {
      valueHint: "sender",
      ...oneWordOf(webhookForms),
    }),
    secret: option("Name of the secret with which the sender signs, or a reference such as ${VARIABLE}", {
      valueHint: "name",
      complete: "secret",
    }),
    answer: option("What the sender gets: the id of the delivery at once (default), or the value", {
      valueHint: "what",
      ...oneWordOf(["id", "result"]),
    }),
    file: option("Start it for new and changed files: a path, a folder or a glob, in the workspace or absolute", {
      valueHint: "glob",
    }),
    resource: option("Start it for updates of a resource, which its server announces: server=uri", {
      valueHint: "server=uri",
    }),
    list: option("Start it when the tools, the resources or the prompts of a server change: server=tools", {
      valueHint: "server=list",
    }),
    after: option("Start it when this saved program has ended", { valueHint: "program", complete: "program" }),
    if: option("With --after: only if it has succeeded, or only if it has failed", {
      valueHint: "outcome",
      ...oneWordOf(["done", "failed"]),
    }),
    filter: option("Only for events that meet this condition, in CEL", { valueHint: "condition" }),
    map: option("An input that is made of the event: name=expression, in CEL (repeatable)", {
      valueHint: "name=cel",
      ...repeatable,
    }),
    limit: option(`Runs within a minute (default: ${usualRunsPerMinute})`, countUpTo(maxRunsPerMinute)),
    as: option("Name of the trigger (default: the name of the program)", { valueHint: "name" }),
    ...viewArgs,
  },
  examples: [
    "claudikins programs on triage --webhook github --limit 10",
    "claudikins programs on import --file 'inbox/*.csv' --map path=event.path",
    "claudikins programs on alert --after nightly --if failed",
  ],
  json: record({
    trigger: triggerShape,
    "secret?": about("The secret that was made for the webhook. It is shown only now", text),
  }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const program = new ProgramLibrary(config.savedPrograms).get(args.name);
    const input = await inputFrom(args.input, program, io);
    const { filter, limit: perMinute = usualRunsPerMinute, as: id } = args;
    const wanted = { source: args, filter, perMinute, input, map: mapOf(args.map), id };
    const { trigger, secret: shown } = await managing(config, io, (options) =>
      startOn(program, wanted, { ...options, config, env: io.env }),
    );
    const note = trigger.on.kind === "webhook" ? webhookNote : await daemonNote(args, io);
    return {
      json: { trigger: triggerJson(trigger), ...(shown === undefined ? {} : { secret: shown }) },
      text: `${triggerText(trigger)}\n${shown === undefined ? "" : `Secret, shown only now: ${shown}\n`}`,
      note,
    };
  },
});

const webhookNote = "Requests are answered by claudikins serve --http: give the sender its address with this path.\n";

export const off = command({
  description:
    "Remove triggers and notifications of saved programs. Deliveries that were not begun are removed; one that runs goes on.",
  args: {
    triggers: place("Names of triggers and notifications", { complete: "trigger", ...several }),
    ...viewArgs,
  },
  examples: ["claudikins programs off triage"],
  json: record({ removed: listOf(record({ id: text, deliveries: about("Removed deliveries", number) })) }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const removed: { id: string; deliveries: number }[] = [];
    for (const id of args.triggers) {
      const deliveries = await managing(config, io, (options) => startNoMore(id, { ...options, env: io.env }));
      removed.push({ id, deliveries });
    }
    const text = removed.map(({ id, deliveries }) => {
      return `Removed ${id}${deliveries === 0 ? "" : `, with ${deliveries} deliveries that were not begun`}\n`;
    });
    return { json: { removed }, text: text.join("") };
  },
});
