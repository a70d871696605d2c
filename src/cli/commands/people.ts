/** `claudikins people`: the people who have signed in to `serve --http`: lists them, takes their access away, and deletes what is kept of them. */

import { counted } from "../../base/counted.ts";
import { ageText } from "../../base/duration.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { about, list as listOf, number, record, text, texts, time, type ValueOf } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { savedProgramsOfAll } from "../../config/saved-programs-place.ts";
import { serversOfPeople } from "../../servers/auth/person-files.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import { type CommandAnswer, command, flag, place, several } from "../command.ts";
import { configArgs, sharedFolders } from "../flags/config-flags.ts";
import type { Io } from "../io.ts";
import { configField, listAnswer, ofChosen, thingCalled } from "../output/nouns.ts";
import { requireConsent } from "../terminal/prompt.ts";
import { stateCell } from "../terminal/terminal-output.ts";

const signedInShape = record({
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

const deletedShape = record({
  person: about("As the person was before", signedInShape),
  executions: number,
  approvals: about("Calls that waited for a decision, and decisions", number),
  records: about("Records of executions, which claudikins executions shows", number),
  calls: about("Calls in the call log", number),
  files: about("Files of the person that replicas share in a database", number),
  folders: about("The workspaces and registries of the person on this machine", texts),
});

const deletePeople = command({
  description:
    "Delete everything that is kept of people: names, executions, approvals, records, calls, credentials and files on this machine. It is only done for revoked people; they stay revoked, under an id without a name. The audit log keeps its lines.",
  args: {
    ...peopleArgs,
    revoke: flag("Revoke those who are not revoked"),
    yes: flag("Delete without asking", { short: "y" }),
  },
  examples: ["claudikins people delete ann@example.com --revoke", "claudikins people delete 3f0c52b9a1d4 --yes"],
  json: record({ deleted: listOf(deletedShape) }),
  async run(args, io) {
    const chosen = await chosenPeople(args, io);
    const active = chosen.filter(({ revokedAt }) => revokedAt === null);
    if (active.length > 0 && !args.revoke) {
      throw new ClaudikinsError("USAGE", `These people are not revoked: ${active.map(labelOf).join(", ")}`, {
        hint: "To revoke them first, add --revoke",
      });
    }
    await requireConsent(io, args.yes, {
      question: `Delete everything that is kept of ${chosen.map(labelOf).join(", ")}? It cannot be restored.`,
      needed: "Data is deleted only with your consent",
      hint: "Run the command at a terminal, or add --yes",
      refused: "Nothing was deleted",
    });
    const shared = await sharedFolders(args.config, io);
    const { loadConfig } = await import("../../config/load.ts");
    const whole = await loadConfig({ flag: args.config, cwd: io.cwd, env: io.env });
    const programs = savedProgramsOfAll(whole, io.env);
    const [{ changePeople }, { deletePerson }] = await Promise.all([
      import("../../serve/people/access.ts"),
      import("../../serve/people/delete-person.ts"),
    ]);
    const before = await peopleJson(chosen, io);
    const revoked = new Map((await changePeople(active, "revoked", io.env)).map((each) => [each.id, each]));
    const json: { deleted: ValueOf<typeof deletedShape>[] } = { deleted: [] };
    for (const person of before) {
      const stored = revoked.get(person.id) ?? chosen.find(({ id }) => id === person.id)!;
      json.deleted.push({ person, ...(await deletePerson(stored, { shared, programs, env: io.env })) });
    }
    return { json, text: json.deleted.map(deletedText).join("") };
  },
});

export { deletePeople as delete };

/** Throws PERSON_NOT_FOUND, and USAGE if a word fits several people. */
async function change(
  args: { people: readonly string[]; config?: string | undefined },
  what: "revoked" | "restored",
  io: Io,
): Promise<CommandAnswer> {
  const chosen = await chosenPeople(args, io);
  const { changePeople } = await import("../../serve/people/access.ts");
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

/** Throws PERSON_NOT_FOUND, and USAGE if a word fits several people. */
async function chosenPeople(
  args: { people: readonly string[]; config?: string | undefined },
  io: Io,
): Promise<StoredPerson[]> {
  const known = ofChosen(await storedPeople(io), { config: args.config }, io);
  return [...new Set(args.people.map((word) => personCalled(word, known)))];
}

async function storedPeople({ env }: Io): Promise<StoredPerson[]> {
  await using store = openStore(env);
  return await store.people.list();
}

function personCalled(word: string, people: readonly StoredPerson[]): StoredPerson {
  const found = thingCalled(word, people, {
    kind: "people",
    idOf: ({ id }) => id,
    isNamed: ({ email, name, subject }) => [email, name, subject].includes(word),
  });
  if (found) return found;
  throw new ClaudikinsError("PERSON_NOT_FOUND", `Nobody called "${word}" has signed in with this config`, {
    hint: "To list the people of all configs: claudikins people list --all",
  });
}

async function peopleJson(people: readonly StoredPerson[], { env }: Io): Promise<ValueOf<typeof signedInShape>[]> {
  const servers = await serversOfPeople(people, env);
  return people.map(({ email, revokedAt, ...person }, index) => ({
    ...person,
    servers: servers[index]!,
    ...(email === null ? {} : { email }),
    ...(revokedAt === null ? {} : { revokedAt }),
  }));
}

function labelOf({ id, name }: StoredPerson): string {
  return `${visibleText(name)} (${id})`;
}

function deletedText({ person, executions, approvals, records, files, folders }: ValueOf<typeof deletedShape>): string {
  const counts = [counted(executions, "execution"), counted(approvals, "approval"), counted(records, "record")];
  if (files > 0) counts.push(counted(files, "shared file"));
  const lines = [
    `Deleted ${visibleText(person.name)} (${person.id}): ${counts.join(", ")}`,
    ...(person.servers.length > 0 ? [`  credentials for ${person.servers.map(visibleText).join(", ")}`] : []),
    ...folders.map((folder) => `  ${visibleText(folder)}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}
