/** Finds where the arguments of a GraphQL field may have files. */
import {
  type GraphQLArgument,
  type GraphQLInputType,
  getNullableType,
  isInputObjectType,
  isListType,
  isScalarType,
} from "graphql";
import { eachItem } from "./uploads.ts";

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
