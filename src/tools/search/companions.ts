/** Finds the tools that give the ids which other tools require, such as `list_channels` for `channel_id`. */
import { isObject } from "../../base/json-object.ts";
import { requiredArguments } from "../../base/json-schema.ts";
import type { RegistryServer, RegistryTool } from "../model.ts";
import { actOf } from "./thesaurus.ts";
import { stemOf, wordsOf } from "./tokenize.ts";

/** The last words of arguments that take an id. */
const idWords = new Set(["id", "ids", "uuid", "gid", "iid", "key", "keys", "number", "slug"]);

/** Verbs of tools that return several things. */
const listingVerbs = new Set(["list", "search", "find", "query", "browse", "enumerate", "lookup"].map(stemOf));

export interface Companion {
  /** The argument whose value it gives. */
  argument: string;
  tool: RegistryTool;
}

/** For each required id, the tool of the same server that lists the things with this id, if there is one. */
export function companionsOf(tool: RegistryTool, server: RegistryServer): Companion[] {
  const ids = [...requiredArguments(tool.inputSchema, tool.inputSchema)];
  return ids.flatMap((argument) => {
    const thing = thingOf(argument, tool);
    if (thing === undefined) return [];
    const lists = server.tools.filter((each) => each !== tool && listsThings(each, thing, argument));
    const [best] = lists.sort((a, b) => effortOf(a) - effortOf(b) || (a.name < b.name ? -1 : 1));
    return best ? [{ argument, tool: best }] : [];
  });
}

/** The stem of what an argument identifies: `channel` for `channel_id`, and for a `channel` that is described as an id. */
function thingOf(argument: string, { name, inputSchema }: RegistryTool): string | undefined {
  const words = wordsOf(argument);
  const isId = idWords.has(words.at(-1) ?? "");
  if (isId && words.length > 1) return stemOf(words.at(-2)!);
  // The name of the tool says of what: `get_order({ id })`.
  if (isId)
    return wordsOf(name)
      .map(stemOf)
      .findLast((stem) => actOf(stem) === undefined);
  const { properties } = inputSchema;
  const schema = isObject(properties) ? properties[argument] : undefined;
  const description = isObject(schema) ? schema["description"] : undefined;
  const isDescribedAsId = typeof description === "string" && /\b(?:id|ids|uuid)\b/i.test(description.slice(0, 200));
  return isDescribedAsId && words.length > 0 ? stemOf(words.at(-1)!) : undefined;
}

/** Whether a tool lists things without their ids. */
function listsThings({ name, inputSchema }: RegistryTool, thing: string, argument: string): boolean {
  if (requiredArguments(inputSchema, inputSchema).has(argument)) return false;
  const words = wordsOf(name);
  const at = words.findIndex((word) => stemOf(word) === thing);
  if (at === -1) return false;
  // `list_channel_members` lists members.
  const isSubject = at === words.length - 1 || actOf(stemOf(words[at + 1]!)) !== undefined;
  const isPlural = words[at]!.endsWith("s");
  const verbs = words.map(stemOf);
  return (
    isSubject &&
    (verbs.some((verb) => listingVerbs.has(verb)) || (isPlural && verbs.some((verb) => actOf(verb) === "read")))
  );
}

/** A tool with fewer required arguments is called sooner; a list needs no words to search for. */
function effortOf({ name, inputSchema }: RegistryTool): number {
  const isList = wordsOf(name).includes("list");
  return requiredArguments(inputSchema, inputSchema).size + (isList ? 0 : 0.5);
}
