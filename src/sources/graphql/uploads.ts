/** Sends files with a GraphQL request, as the multipart request specification for GraphQL says. */

import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
} from "graphql";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { type Multipart, multipart, type Part } from "../multipart.ts";
import type { SourceFiles } from "../source.ts";

/** Files of one call. */
const maxFiles = 100;

/** Stands for each item of a list in the path of a place. */
export const eachItem = "*";

/** The body with the files. Undefined if the variables name none. Throws INVALID_ARGUMENTS. */
export async function uploadBody(
  query: string,
  variables: JsonObject,
  places: readonly string[][],
  files: SourceFiles | undefined,
): Promise<Multipart | undefined> {
  const found: FoundFile[] = [];
  const sent = places.reduce<unknown>((value, place) => withoutFiles(value, place, "variables", found), variables);
  if (found.length === 0) return undefined;
  if (found.length > maxFiles) throw invalid(`The call has more than ${maxFiles} files`);
  if (!files) throw invalid("The call has a file, and there is no workspace here");
  const parts: Part[] = [];
  for (const [at, { file }] of found.entries()) {
    const content = await files.read(file);
    const fileName = file.split("/").at(-1) || "file";
    parts.push({ name: String(at), fileName, mediaType: "application/octet-stream", content });
  }
  const map = Object.fromEntries(found.map(({ path }, at) => [at, [path]]));
  // The order is a part of the specification.
  const first: Part[] = [
    { name: "operations", content: JSON.stringify({ query, variables: sent }) },
    { name: "map", content: JSON.stringify(map) },
  ];
  return multipart([...first, ...parts], "multipart/form-data");
}

interface FoundFile {
  file: string;
  /** Its place in the request. */
  path: string;
}

/** The value with null in the place of each file, which is added to `found`. */
function withoutFiles(value: unknown, place: readonly string[], path: string, found: FoundFile[]): unknown {
  const [step, ...rest] = place;
  if (step === undefined) {
    if (typeof value !== "string" || value === "") return value;
    found.push({ file: value, path });
    return null;
  }
  if (step === eachItem)
    return Array.isArray(value) ? value.map((each, at) => withoutFiles(each, rest, `${path}.${at}`, found)) : value;
  if (!isObject(value) || !Object.hasOwn(value, step)) return value;
  return { ...value, [step]: withoutFiles(value[step], rest, `${path}.${step}`, found) };
}

function invalid(message: string): ClaudikinsError {
  return new ClaudikinsError("INVALID_ARGUMENTS", message);
}

/** Places for files in the arguments of one field. */
const maxPlaces = 50;

/** Levels of input objects in which places are looked for. */
const maxLevels = 6;

/** The scalars that stand for a file. The specification leaves the name open. */
export const uploadScalars: ReadonlySet<string> = new Set(["Upload", "File"]);

/** Where arguments may have files, such as `["input", "files", "*"]`. */
export function uploadPlaces(args: readonly GraphQLArgument[]): string[][] {
  const found: string[][] = [];
  const visit = (type: GraphQLInputType, path: string[], around: readonly GraphQLInputType[]) => {
    const nullable = getNullableType(type);
    if (found.length === maxPlaces) return;
    if (isListType(nullable)) visit(nullable.ofType, [...path, eachItem], around);
    else if (isScalarType(nullable) && uploadScalars.has(nullable.name)) found.push(path);
    else if (isInputObjectType(nullable) && !around.includes(nullable) && around.length < maxLevels) {
      for (const field of Object.values(nullable.getFields()))
        visit(field.type, [...path, field.name], [...around, nullable]);
    }
  };
  for (const { name, type } of args) visit(type, [name], []);
  return found;
}
