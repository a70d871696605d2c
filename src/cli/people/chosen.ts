/** The people that a command is about: how they are named, found and shown. */
import { ClaudikinsError } from "../../base/errors.ts";
import { about, record, text, texts, time, type ValueOf } from "../../base/json-shape.ts";
import { visibleText } from "../../base/visible-text.ts";
import { serversOfPeople } from "../../servers/auth/person-files.ts";
import { openStore } from "../../store/open.ts";
import type { StoredPerson } from "../../store/people.ts";
import { place, several } from "../command.ts";
import { configArgs } from "../config-flags.ts";
import type { Io } from "../io.ts";
import { ofChosen, thingCalled } from "../nouns.ts";

export const signedInShape = record({
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

export type ShownPerson = ValueOf<typeof signedInShape>;

export const peopleArgs = {
  people: place("Ids, or email addresses, names or subjects", { required: true, complete: "person", ...several }),
  config: configArgs.config,
} as const;

/** Throws PERSON_NOT_FOUND, and USAGE if a word fits several people. */
export async function chosenPeople(
  args: { people: readonly string[]; config?: string | undefined },
  io: Io,
): Promise<StoredPerson[]> {
  const known = ofChosen(await storedPeople(io), { config: args.config }, io);
  return [...new Set(args.people.map((word) => personCalled(word, known)))];
}

export async function storedPeople({ env }: Io): Promise<StoredPerson[]> {
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
