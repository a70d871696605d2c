/** `claudikins people`: lists the people who have signed in to `serve --http`, and takes their access away. */

import { ageText } from "../../base/duration.ts";
import { list as listOf, record } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { configText } from "../../programs/trace/record-text.ts";
import type { StoredPerson } from "../../store/people.ts";
import { chosenOwner } from "../chosen-config.ts";
import { type CommandAnswer, command, flag } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import type { Io } from "../io.ts";
import { stateCell } from "../palette.ts";
import {
  chosenPeople,
  labelOf,
  peopleArgs,
  peopleJson,
  personShape,
  type ShownPerson,
  storedPeople,
} from "../people/chosen.ts";
import { table } from "../table.ts";

export { deletePeople as delete } from "../people/delete.ts";

export const list = command({
  description: "List the people who have signed in to `claudikins serve --http` with this config, oldest first.",
  args: {
    all: flag("List the people of all configs"),
    config: configArgs.config,
  },
  examples: ["claudikins people", "claudikins people list --all"],
  json: record({ people: listOf(personShape) }),
  async run(args, io) {
    const owner = args.all ? undefined : chosenOwner(args.config, io);
    const all = await storedPeople(io);
    const people = all.filter(({ config }) => owner === undefined || config === owner);
    const json = { people: await peopleJson(people, io) };
    if (people.length > 0) return { json, text: tableText(people, json.people, args.all === true, io) };
    return { json, note: `Nobody has signed in${owner === undefined ? "" : " with this config"} yet.\n` };
  },
});

export const revoke = command({
  description:
    "Refuse people from now on, whatever the provider says. Running servers refuse them within a second and end what they began, and programs that wait or run in the background are cancelled.",
  args: peopleArgs,
  examples: ["claudikins people revoke ann@example.com"],
  json: record({ revoked: listOf(personShape) }),
  run: (args, io) => change(args, "revoked", io),
});

export const restore = command({
  description: "Let revoked people sign in again.",
  args: peopleArgs,
  examples: ["claudikins people restore ann@example.com"],
  json: record({ restored: listOf(personShape) }),
  run: (args, io) => change(args, "restored", io),
});

/** Throws PERSON_NOT_FOUND, and USAGE if a word fits several people. */
async function change(
  args: { people: readonly string[]; config?: string | undefined },
  what: "revoked" | "restored",
  io: Io,
): Promise<CommandAnswer> {
  const chosen = await chosenPeople(args, io);
  const { changePeople } = await import("../../serve/people.ts");
  const changed = await changePeople(chosen, what, io.env);
  const unchanged = chosen.filter((each) => !changed.some(({ id }) => id === each.id));
  const verb = what === "revoked" ? "Revoked" : "Restored";
  return {
    json: { [what]: await peopleJson(changed, io) },
    text: changed.map((each) => `${verb} ${labelOf(each)}\n`).join(""),
    note: unchanged.map((each) => `note: ${labelOf(each)} was ${what} already\n`).join(""),
  };
}

function stateText({ revokedAt, issuer }: StoredPerson, now: number): string {
  if (revokedAt === null) return "may sign in";
  return `${issuer === "" ? "deleted" : "revoked"} ${ageText(now - revokedAt)}`;
}

function tableText(
  people: readonly StoredPerson[],
  shown: readonly ShownPerson[],
  isAll: boolean,
  { stdout: { columns } }: Io,
): string {
  const now = Date.now();
  const areConnected = shown.some(({ servers }) => servers.length > 0);
  const head = [
    "id",
    "name",
    "state",
    "doors",
    ...(areConnected ? ["servers"] : []),
    "first",
    "last",
    ...(isAll ? [{ path: "config" }] : []),
  ];
  const rows = people.map((each, index) => [
    each.id,
    visibleText(each.name),
    stateCell(stateText(each, now)),
    each.doors.join(", "),
    ...(areConnected ? [shown[index]!.servers.map(visibleText).join(", ")] : []),
    ageText(now - each.firstAt),
    ageText(now - each.lastAt),
    ...(isAll ? [configText(each.config)] : []),
  ]);
  return table(head, rows, columns);
}
