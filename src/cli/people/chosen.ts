/** The people that a command is about: how they are named, found and shown. */
import { ClaudikinsError } from "../../base/errors.ts";
import { about, record, text, texts, time, type ValueOf } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { serversOfPeople } from "../../servers/auth/person-files.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import { chosenOwner } from "../chosen-config.ts";
import { place, several } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import type { Io } from "../io.ts";

export const personShape = record({
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

export type ShownPerson = ValueOf<typeof personShape>;

export const peopleArgs = {
  people: place("Ids, or email addresses, names or subjects", { required: true, complete: "person", ...several }),
  config: configArgs.config,
} as const;

/** Throws PERSON_NOT_FOUND, and USAGE if a word fits several people. */
export async function chosenPeople(
  args: { people: readonly string[]; config?: string | undefined },
  io: Io,
): Promise<StoredPerson[]> {
  const owner = chosenOwner(args.config, io);
  const known = (await storedPeople(io)).filter(({ config }) => config === owner);
  return [...new Set(args.people.map((word) => personCalled(word, known)))];
}

export async function storedPeople({ env }: Io): Promise<StoredPerson[]> {
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

export async function peopleJson(people: readonly StoredPerson[], { env }: Io): Promise<ShownPerson[]> {
  const servers = await serversOfPeople(people, env);
  return people.map(({ email, revokedAt, ...person }, index) => ({
    ...person,
    servers: servers[index]!,
    ...(email === null ? {} : { email }),
    ...(revokedAt === null ? {} : { revokedAt }),
  }));
}

export function labelOf({ id, name }: StoredPerson): string {
  return `${visibleText(name)} (${id})`;
}
