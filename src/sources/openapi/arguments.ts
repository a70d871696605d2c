/** Reads the parameters and the body of an operation, and gives each value that a caller may send a name among the arguments of its tool. */
import type { JsonObject } from "../../base/json-object.ts";
import type { Body, Parameter } from "./api.ts";
import { bodyIn } from "./body.ts";
import { at, type ObjectPlace } from "./document/documents.ts";
import type { FlatSchema } from "./flat-schema.ts";
import { newStyle, type OperationPlace, oldStyle, type Read, type ReadParameter } from "./reading.ts";
import { type PathTemplate, pathTemplate, placeholdersIn } from "./request.ts";
import type { Field } from "./write-schema.ts";

/** Parameters of one operation. */
const maxParameters = 500;

export interface Arguments {
  parameters: Parameter[];
  body?: Body | undefined;
  fields: Field[];
  /** A sentence about the arguments, for the description of the tool. */
  note?: string | undefined;
}

export function argumentsOf(read: Read, place: OperationPlace & { method: string; path: string }): Arguments {
  const found = parametersOf(read, place);
  const plain = found.filter(({ value }) => value["in"] !== "body" && value["in"] !== "formData");
  const named = withArguments(plain, place.path);
  const parameters: Parameter[] = [];
  const fields: Field[] = [];
  for (const { argument, place: parameter } of named) {
    const { entry, field } = parameterOf(read, parameter, argument);
    parameters.push(entry);
    fields.push(field);
  }
  const body = bodiless.has(place.method)
    ? undefined
    : bodyIn(read, place, found, new Set(fields.map(({ name }) => name)));
  return { parameters, body: body?.body, fields: [...fields, ...(body?.fields ?? [])], note: body?.note };
}

/** Methods whose requests have no body in HTTP, even if the document describes one. */
const bodiless = new Set(["GET", "HEAD"]);

/** The parameters of the path and the operation, whose own come last and replace the others. */
function parametersOf({ documents }: Read, { item, operation }: OperationPlace): ObjectPlace[] {
  const found = new Map<string, ObjectPlace>();
  for (const owner of [item, operation]) {
    const list = documents.follow(at(owner, "parameters"));
    if (!list || !Array.isArray(list.value)) continue;
    for (const value of list.value.slice(0, maxParameters)) {
      const parameter = documents.object({ value, document: list.document });
      if (!parameter) continue;
      const { in: where, name } = parameter.value;
      if (typeof name === "string" && typeof where === "string" && places.has(where))
        found.set(`${where} ${name}`, parameter);
    }
  }
  return [...found.values()];
}

const places = new Set(["path", "query", "header", "cookie", "querystring", "body", "formData"]);

/** Headers that other parts of the document describe, or that HTTP itself writes. */
const writtenElsewhere = new Set(["accept", "content-type", "authorization", "content-length", "host", "connection"]);

/** Parameters with the names of their arguments. One that only the path names is added: without it, the request cannot be made. */
function withArguments(found: readonly ObjectPlace[], path: string): { argument: string; place: ObjectPlace }[] {
  const template = pathTemplate(path);
  const kept = found
    .filter(({ value }) => value["in"] !== "header" || !writtenElsewhere.has(String(value["name"]).toLowerCase()))
    .map((place) => inItsQuery(place, template));
  const isKnown = (where: string, name: string) =>
    kept.some(({ value }) => value["in"] === where && value["name"] === name);
  const inPath = placeholdersIn(template.path).filter(
    (name) => !isKnown("path", name) && !isKnown("path", name.replace(/\*$|^\+/, "")),
  );
  const inQuery = template.query.filter(
    ({ name, placeholder }) => placeholder !== undefined && !isKnown("query", name),
  );
  const missing = [
    ...[...new Set(inPath)].map((name) => ({ name, in: "path" })),
    ...inQuery.map(({ name }) => ({ name, in: "query" })),
  ];
  const added = missing.map((each) => {
    const value: JsonObject = { ...each, required: each.in === "path", schema: { type: "string" } };
    return { value, document: found[0]?.document ?? emptyDocument } as ObjectPlace;
  });
  const all = [...kept, ...added].toSorted((one, other) => rank(one) - rank(other));
  const taken = new Set<string>();
  return all.map((place) => {
    const name = String(place.value["name"]);
    let argument = taken.has(name) ? `${name}_${String(place.value["in"])}` : name;
    while (taken.has(argument)) argument += "_";
    taken.add(argument);
    return { argument, place };
  });
}

/** A parameter "in the path" whose placeholder is in the query of the path. */
function inItsQuery(place: ObjectPlace, template: PathTemplate): ObjectPlace {
  const { name, in: where } = place.value;
  const pair = where === "path" && template.query.find(({ placeholder }) => placeholder === name);
  return pair ? { ...place, value: { ...place.value, in: "query", name: pair.name } } : place;
}

const emptyDocument = { url: "file:///", value: {} };

/** The path comes first, and gets a name that several parameters have. */
const rank = ({ value }: ObjectPlace) =>
  ["path", "query", "querystring", "header", "cookie"].indexOf(String(value["in"]));

function parameterOf(read: Read, place: ObjectPlace, argument: string): ReadParameter {
  const known = read.known.get(place.value);
  if (known?.entry.argument === argument) return known;
  const made = newParameter(read, place, argument);
  read.known.set(place.value, made);
  return made;
}

function newParameter(
  { documents, schemas, isSwagger2, hasSecurity }: Read,
  place: ObjectPlace,
  argument: string,
): ReadParameter {
  const { value } = place;
  const where = value["in"] as Parameter["in"];
  const content = documents.object(at(place, "content"));
  const mediaType = content && Object.keys(content.value)[0];
  const media = mediaType === undefined ? undefined : documents.object(at(content!, mediaType));
  const schema = media ? at(media, "schema") : isSwagger2 ? place : at(place, "schema");
  const flat = schemas.of(schema);
  const isRequired = (value["required"] === true || where === "path") && !(hasSecurity && isCredential(value));
  const only = onlyValue(flat);
  const constant = isRequired && only !== undefined ? String(only) : undefined;
  const entry: Parameter = {
    argument,
    name: String(value["name"]),
    in: where,
    ...(isSwagger2 ? oldStyle(value, where) : newStyle(value, where)),
    allowReserved: value["allowReserved"] === true,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(constant === undefined ? {} : { constant }),
  };
  const description = typeof value["description"] === "string" ? value["description"] : undefined;
  return { entry, field: { name: argument, schema, isRequired: isRequired && constant === undefined, description } };
}

function onlyValue({ keywords }: FlatSchema): unknown {
  const { enum: values, const: one } = keywords;
  const only = one ?? (Array.isArray(values) && values.length === 1 ? values[0] : undefined);
  return typeof only === "object" ? undefined : only;
}

/** Some documents describe the token twice, as a parameter too. The sign-in sends it. */
function isCredential({ name, in: where, description }: JsonObject): boolean {
  return (
    where !== "path" &&
    /^(?:access_?|auth_?|api_?)?(?:token|key)$|^authorization$/i.test(String(name)) &&
    /authenticat|authoriz|api[ _-]?key|access token/i.test(`${String(name)} ${String(description)}`)
  );
}
