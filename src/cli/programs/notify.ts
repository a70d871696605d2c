/** `claudikins programs notify`: tells others what has become of a saved program. */
import { ClaudikinsError } from "../../base/errors.ts";
import {
  about,
  anything,
  byName,
  list as listOf,
  number,
  oneOf,
  record,
  text,
  yesOrNo,
} from "../../base/json-shape.ts";
import { offer } from "../../programs/events/event-queue.ts";
import { addNotification, usualNotificationsPerMinute } from "../../programs/events/manage.ts";
import {
  type ProgramState,
  programStates,
  type Receiver,
  receiverText,
  type Trigger,
  whenText,
} from "../../programs/events/stored-triggers.ts";
import { receiverOf, requireReceiving, usualStates } from "../../programs/events/wanted-receiver.ts";
import { mapOf } from "../../programs/events/wanted-source.ts";
import { ProgramLibrary } from "../../programs/saved/library.ts";
import type { ManageOptions } from "../../programs/saved/manage.ts";
import { ownTool } from "../../setup/settings/switches.ts";
import { command, flag, option, pairs, place, repeatable } from "../command.ts";
import { openConfig, viewArgs, whichConfig } from "../flags/config-flags.ts";
import { countUpTo } from "../flags/flags.ts";
import { valuesFrom } from "./input.ts";
import { managing } from "./manage.ts";
import { daemonNote } from "./schedule.ts";

/** Notifications that one receiver may get within a minute. */
const maxNotificationsPerMinute = 10_000;

/** The states in which a person may have to act. */

export const notificationShape = record({
  id: text,
  when: listOf(oneOf(...programStates)),
  by: oneOf("command", "webhook", "tool", "agent"),
  about: about("Who is notified, as text", text),
  contents: about("Whether the value and the error are told, too", yesOrNo),
  "filter?": text,
  perMinute: number,
  input: byName(anything),
  map: byName(text),
});

export type Notification = Trigger & { notify: Receiver };

export function notificationJson({ id, on, notify, hasContents, filter, perMinute, input, map }: Notification) {
  return {
    id,
    when: on.kind === "after" ? [...(on.when ?? [])] : [],
    by: notify.kind,
    about: receiverText(notify),
    contents: hasContents === true,
    ...(filter === undefined ? {} : { filter }),
    perMinute,
    input,
    map,
  };
}

/** `nightly-2: if it failed or waits for a person, tool slack.post_message; with contents`. */
export function notificationText({ id, on, notify, filter, hasContents }: Notification): string {
  const when = on.kind === "after" && on.when ? `${whenText(on.when)}, ` : "";
  const condition = filter === undefined ? "" : `, if ${filter}`;
  return `${id}: ${when}${receiverText(notify)}${condition}${hasContents ? "; with contents" : ""}`;
}

export const notify = command({
  description:
    "Tell others when a saved program has ended, failed, or waits for a person: by a command, a webhook, a tool, or a line in the next session of an agent. They get the name of the program, its state and the id of the execution. To remove it: claudikins programs off",
  args: {
    name: place("Name of a saved program", { required: true, complete: "program" }),
    values: place("With --tool and --webhook, what they get: name=text, name:=json", { required: false, ...pairs }),
    when: option(`${programStates.join(", ")}, or several of them (default: ${usualStates.join(",")})`, {
      valueHint: "states",
      parse: statesIn,
    }),
    command: option(
      "Run this command of the shell. It gets CLAUDIKINS_PROGRAM, CLAUDIKINS_STATE, CLAUDIKINS_EXECUTION",
      {
        valueHint: "command",
      },
    ),
    webhook: option("Send a request to this address, or to the one of a reference such as ${secret:NAME}", {
      valueHint: "url",
    }),
    secret: option("With --webhook: the name of a secret with which requests are signed as Standard Webhooks", {
      valueHint: "name",
      complete: "secret",
    }),
    tool: option("Call this tool, as server.tool", { valueHint: "tool", complete: "tool" }),
    agent: flag("Add a line to the first answer of the next session of your agents"),
    contents: flag("Tell the value and the error, too"),
    filter: option("Only if this condition about `event` is met, in CEL", { valueHint: "condition" }),
    map: option("With --tool and --webhook, a value that is made of the event: name=expression, in CEL (repeatable)", {
      valueHint: "name=cel",
      ...repeatable,
    }),
    limit: option(
      `Notifications within a minute (default: ${usualNotificationsPerMinute})`,
      countUpTo(maxNotificationsPerMinute),
    ),
    try: flag("Notify once now, to see whether it works"),
    as: option("Name of the notification (default: the name of the program)", { valueHint: "name" }),
    ...viewArgs,
  },
  examples: [
    `claudikins programs notify nightly --command 'echo "$CLAUDIKINS_STATE" >> log'`,
    "claudikins programs notify nightly --tool demo.send_email to=me@example.com",
    "claudikins programs notify nightly --webhook https://example.com/hook",
    "claudikins programs notify nightly --when done --agent",
  ],
  json: record({ notification: notificationShape }),
  async run(args, io) {
    const config = await openConfig(args, io);
    const program = new ProgramLibrary(config.savedPrograms).get(args.name);
    const { when = usualStates, contents: hasContents = false, filter, as: id } = args;
    const { limit: perMinute = usualNotificationsPerMinute } = args;
    const input = await valuesFrom(args.values, io);
    const map = mapOf(args.map);
    const receiver = await receiverOf(args, {
      config,
      env: io.env,
      toolNamed: (word) => ownTool(word, whichConfig(args, io)),
    });
    const hasValues = Object.keys(input).length + Object.keys(map).length > 0;
    requireReceiving(program, receiver, { hasContents, hasValues });
    const wanted = { when, notify: receiver, hasContents, filter, perMinute, input, map, id };
    const made = await managing(config, io, async (options) => {
      const added = await addNotification(program, wanted, options);
      if (args.try) await tryOnce(added, options);
      return added;
    });
    const notification = { ...made, notify: receiver };
    const json = { notification: notificationJson(notification) };
    const tried = args.try ? `To see what became of it: claudikins programs deliveries ${program.name}\n` : "";
    return { json, text: `${notificationText(notification)}\n`, note: `${await daemonNote(args, io)}${tried}` };
  },
});

/** Puts news into the queue that are made up. */
async function tryOnce(added: Trigger, { place: of, audit }: ManageOptions): Promise<void> {
  const { program, on } = added;
  const [state = "done"] = on.kind === "after" ? (on.when ?? []) : [];
  const event = { name: `try ${crypto.randomUUID()}`, content: { kind: "outcome", program, state } };
  await offer({ ...added, filter: undefined }, event, { place: of, store: audit.store });
}

/** Throws USAGE. */
function statesIn(given: string, flagName: string): ProgramState[] {
  const words = given.split(",").map((word) => word.trim());
  const unknown = words.find((word) => !programStates.some((state) => state === word));
  if (unknown === undefined) return programStates.filter((state) => words.includes(state));
  throw new ClaudikinsError("USAGE", `${flagName} takes ${programStates.join(", ")}; got "${unknown}"`);
}
