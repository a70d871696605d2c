/** `claudikins people`: lists the people who have signed in to `serve --http`, and takes their access away. */

import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, record, text, texts, time, type ValueOf } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { configText } from "../../programs/trace/record-text.ts";
import { serversOfPerson } from "../../servers/auth/person-files.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import { chosenOwner } from "../chosen-config.ts";
import { type CommandAnswer, command, flag, place, several } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import type { Io } from "../io.ts";
import { ageText } from "../layout.ts";
import { stateCell } from "../palette.ts";
import { table } from "../table.ts";

const personShape = record({
  id: text,
  name: about("The email address of the last token, or else the name or the subject", text),
  "email?": text,
  issuer: text,
  subject: text,
  config: about("The config file", text),
  doors: about("The doors that the person has used; mcp is the whole config, and ui the page", texts),
  servers: about("The servers for which the person has credentials", texts),
  firstAt: time,
  lastAt: about("Written at most once a minute", time),
  "revokedAt?": about("Missing: the person may sign in", time),
});

const peopleArgs = {
  people: place("Ids, or email addresses, names or subjects", { required: true, complete: "person", ...several }),
  config: configArgs.config,
} as const;

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
    const json = { people: people.map((each) => jsonOf(each, io)) };
    if (people.length > 0) return { json, text: tableText(people, args.all === true, io) };
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
  const owner = chosenOwner(args.config, io);
  const known = (await storedPeople(io)).filter(({ config }) => config === owner);
  const chosen = [...new Set(args.people.map((word) => personCalled(word, known)))];
  const { changePeople } = await import("../../serve/people.ts");
  const changed = await changePeople(chosen, what, io.env);
  const unchanged = chosen.filter((each) => !changed.some(({ id }) => id === each.id));
  const verb = what === "revoked" ? "Revoked" : "Restored";
  return {
    json: { [what]: changed.map((each) => jsonOf(each, io)) },
    text: changed.map((each) => `${verb} ${labelOf(each)}\n`).join(""),
    note: unchanged.map((each) => `note: ${labelOf(each)} was ${what} already\n`).join(""),
  };
}

async function storedPeople({ env }: Io): Promise<StoredPerson[]> {
  await using store = openStore(env);
  return await store.people.list();
}

/** People choose their own names, so an id counts first. */
function personCalled(word: string, people: readonly StoredPerson[]): StoredPerson {
  const byId = people.find(({ id }) => id === word);
  if (byId) return byId;
  const named = people.filter(({ email, name, subject }) => [email, name, subject].includes(word));
  const [only, second] = named;
  if (only && !second) return only;
  if (only) {
    throw new ClaudikinsError("USAGE", `Several people are called "${word}"`, {
      hint: `Give an id: ${named.map(({ id }) => id).join(", ")}`,
    });
  }
  throw new ClaudikinsError("PERSON_NOT_FOUND", `Nobody called "${word}" has signed in with this config`, {
    hint: "To list the people of all configs: claudikins people list --all",
  });
}

function jsonOf({ email, revokedAt, ...person }: StoredPerson, { env }: Io): ValueOf<typeof personShape> {
  return {
    ...person,
    servers: serversOfPerson(person, env),
    ...(email === null ? {} : { email }),
    ...(revokedAt === null ? {} : { revokedAt }),
  };
}

function labelOf({ id, name }: StoredPerson): string {
  return `${visibleText(name)} (${id})`;
}

function tableText(people: readonly StoredPerson[], isAll: boolean, { env, stdout: { columns } }: Io): string {
  const now = Date.now();
  const servers = people.map((each) => serversOfPerson(each, env));
  const areConnected = servers.some((each) => each.length > 0);
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
    stateCell(each.revokedAt === null ? "may sign in" : `revoked ${ageText(now - each.revokedAt)}`),
    each.doors.join(", "),
    ...(areConnected ? [servers[index]!.map(visibleText).join(", ")] : []),
    ageText(now - each.firstAt),
    ageText(now - each.lastAt),
    ...(isAll ? [configText(each.config)] : []),
  ]);
  return table(head, rows, columns);
}
