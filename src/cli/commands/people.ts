/** `claudikins people`: lists the people who have signed in to `serve --http`, and takes their access away. */

import { ageText } from "../../base/duration.ts";
import { list as listOf, record } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import type { StoredPerson } from "../../store/people.ts";
import { type CommandAnswer, command, flag } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import type { Io } from "../io.ts";
import { configField, listAnswer, ofChosen } from "../nouns.ts";
import { stateCell } from "../palette.ts";
import { chosenPeople, labelOf, peopleArgs, peopleJson, signedInShape, storedPeople } from "../people/chosen.ts";

export { deletePeople as delete } from "../people/delete.ts";

export const list = command({
  description: "List the people who have signed in to `claudikins serve --http` with this config, oldest first.",
  args: {
    all: flag("List the people of all configs"),
    config: configArgs.config,
  },
  examples: ["claudikins people", "claudikins people list --all"],
  json: record({ people: listOf(signedInShape) }),
  async run(args, io) {
    const people = ofChosen(await storedPeople(io), args, io);
    const shown = await peopleJson(people, io);
    const rows = people.map((person, index) => ({ ...person, servers: shown[index]!.servers }));
    const now = Date.now();
    return listAnswer(
      io,
      { json: { people: shown }, rows, none: `Nobody has signed in${args.all ? "" : " with this config"} yet.\n` },
      [
        ["id", ({ id }) => id],
        ["name", ({ name }) => visibleText(name)],
        ["state", (each) => stateCell(stateText(each, now))],
        ["doors", ({ doors }) => doors.join(", ")],
        rows.some(({ servers }) => servers.length > 0)
          ? ["servers", ({ servers }) => servers.map(visibleText).join(", ")]
          : undefined,
        ["first", ({ firstAt }) => ageText(now - firstAt)],
        ["last", ({ lastAt }) => ageText(now - lastAt)],
        configField(args.all),
      ],
    );
  },
});

export const revoke = command({
  description:
    "Refuse people from now on, whatever the provider says. Running servers refuse them within a second and end what they began, and programs that wait or run in the background are cancelled.",
  args: peopleArgs,
  examples: ["claudikins people revoke ann@example.com"],
  json: record({ revoked: listOf(signedInShape) }),
  run: (args, io) => change(args, "revoked", io),
});

export const restore = command({
  description: "Let revoked people sign in again.",
  args: peopleArgs,
  examples: ["claudikins people restore ann@example.com"],
  json: record({ restored: listOf(signedInShape) }),
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
