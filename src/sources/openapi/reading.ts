/** The things that the parts of an operation are read with. */
import type { JsonObject } from "../../base/json-object.ts";
import type { Parameter, ParameterStyle } from "./api.ts";
import type { Documents, ObjectPlace } from "./document/documents.ts";
import type { FlatSchemas } from "./flat-schema.ts";
import type { Field } from "./write-schema.ts";

export interface Read {
  documents: Documents;
  schemas: FlatSchemas;
  isSwagger2: boolean;
  /** Whether the document says how to sign in. */
  hasSecurity: boolean;
  /** Parameters that several operations share. */
  known: WeakMap<object, ReadParameter>;
}

export interface ReadParameter {
  entry: Parameter;
  field: Field;
}

export interface OperationPlace {
  item: ObjectPlace;
  operation: ObjectPlace;
}

const styles: readonly string[] = [
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
];

/** How a value is written in OpenAPI 3. */
export function newStyle({ style, explode }: JsonObject, where: Parameter["in"]): Pick<Parameter, "style" | "explode"> {
  const usual = where === "path" || where === "header" ? "simple" : "form";
  const chosen = (typeof style === "string" && styles.includes(style) ? style : usual) as ParameterStyle;
  return {
    style: chosen,
    explode: typeof explode === "boolean" ? explode : chosen === "form" || chosen === "deepObject",
  };
}

/** How a value is written in Swagger 2. */
export function oldStyle(
  { collectionFormat }: JsonObject,
  where: Parameter["in"],
): Pick<Parameter, "style" | "explode"> {
  const usual = where === "path" || where === "header" ? "simple" : "form";
  if (collectionFormat === "multi") return { style: usual, explode: true };
  if (collectionFormat === "ssv") return { style: "spaceDelimited", explode: false };
  return { style: collectionFormat === "pipes" ? "pipeDelimited" : usual, explode: false };
}
