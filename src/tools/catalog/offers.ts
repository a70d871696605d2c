/** Lists what a server has beside its tools, so that it can be found: resources, templates of resources, prompts and skills. */
import { isObject, type JsonObject, objectAt } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import { usesOwn } from "../../config/credentials.ts";
import type { ServerConfig } from "../../config/load.ts";
import type { Call } from "../../policy/call.ts";
import type { Pool } from "../../servers/pool.ts";
import type { Offer } from "../model.ts";

/** Time for each of the lists. The tools of the server wait for them. */
const offersMs = 3_000;

/** Entries of each list. A server of files may list thousands of resources, which its tools find better. */
const maxOffers = 200;

/** Characters of a name or an address. */
const maxNameChars = 300;

/** Characters of a description. */
const maxDescriptionChars = 300;

/** Arguments of a prompt. */
const maxArguments = 20;

/**
 * `before` has what was listed last, which counts for lists that fail or take too long. A server at which each person has their own credentials
 * has lists of that person, which are not kept for others.
 */
export async function listOffers(config: ServerConfig, pool: Pool, call: Call, before: Offer[] = []): Promise<Offer[]> {
  if (usesOwn(config)) return [];
  const { name } = config;
  const timeout = AbortSignal.timeout(offersMs);
  const within = { ...call, signal: call.signal ? AbortSignal.any([call.signal, timeout]) : timeout };
  const offersOf = async (
    kind: Offer["kind"],
    list: Promise<JsonObject[]>,
    read: (entry: JsonObject) => Offer | undefined,
  ) => {
    const all = await list.catch(() => undefined);
    if (!all) return before.filter((each) => each.kind === kind);
    return all.flatMap((entry) => read(entry) ?? []).slice(0, maxOffers);
  };
  const [resources, templates, prompts, skills] = await Promise.all([
    offersOf("resource", pool.listResources(name, within), (entry) => placeOf("resource", entry, entry["uri"])),
    offersOf("template", pool.listResourceTemplates(name, within), (entry) =>
      placeOf("template", entry, entry["uriTemplate"]),
    ),
    offersOf("prompt", pool.listPrompts(name, within), promptOf),
    offersOf("skill", pool.listSkills(name, within), (entry) =>
      placeOf("skill", objectAt(entry, ["frontmatter"]), entry["uri"]),
    ),
  ]);
  // Skills are resources, too.
  const ofSkills = new Set(skills.map(({ uri }) => uri));
  return [...resources.filter(({ uri }) => !ofSkills.has(uri)), ...templates, ...prompts, ...skills];
}

function placeOf(kind: Offer["kind"], entry: JsonObject, uri: unknown): Offer | undefined {
  if (typeof uri !== "string" || uri === "" || uri.length > maxNameChars) return undefined;
  const title = [entry["title"], entry["name"]].find((each) => typeof each === "string" && each !== "");
  return { kind, name: oneLine(String(title ?? uri), maxNameChars), description: descriptionOf(entry), uri };
}

function promptOf(entry: JsonObject): Offer | undefined {
  const { name } = entry;
  if (typeof name !== "string" || name === "" || name.length > maxNameChars) return undefined;
  const given = Array.isArray(entry["arguments"]) ? entry["arguments"].filter(isObject) : [];
  const args = given.slice(0, maxArguments).flatMap((argument) => {
    const own = argument["name"];
    if (typeof own !== "string" || own.length > maxNameChars) return [];
    return [`${oneLine(own)}${argument["required"] === true ? "" : "?"}`];
  });
  return { kind: "prompt", name, description: descriptionOf(entry), ...(args.length > 0 ? { arguments: args } : {}) };
}

function descriptionOf({ description }: JsonObject): string {
  return typeof description === "string" ? oneLine(description, maxDescriptionChars) : "";
}
