/** Reads the parameters and the body of an operation, and gives each value that a caller may send a name among the arguments of its tool. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import { at, type Documents, type ObjectPlace, type Place } from "./documents.ts";
import type { FlatSchema, FlatSchemas } from "./flat-schema.ts";
import { bodyKindOf, chosenMediaType, essenceOf } from "./media-types.ts";
import type { Body, BodyEncoding, Parameter, ParameterStyle } from "./operation.ts";
import type { Field } from "./write-schema.ts";

/** Parameters of one operation. */
const maxParameters = 500;

/** Fields of a body that stand among the arguments. A body with more is one argument. */
const maxBodyFields = 500;

/** The argument of a whole body. */
const bodyArgument = "body";

const filePath = "A path of a file in the workspace.";

export interface Arguments {
  parameters: Parameter[];
  body?: Body | undefined;
  fields: Field[];
}

export interface Read {
  documents: Documents;
  schemas: FlatSchemas;
  isSwagger2: boolean;
  /** Whether the document says how to sign in. */
  hasSecurity: boolean;
  /** Parameters that several operations share. */
  known: WeakMap<object, ReadParameter>;
}

interface ReadParameter {
  entry: Parameter;
  field: Field;
}

export interface OperationPlace {
  item: ObjectPlace;
  operation: ObjectPlace;
}

export function argumentsOf(read: Read, place: OperationPlace, path: string): Arguments {
  const found = parametersOf(read, place);
  const plain = found.filter(({ value }) => value["in"] !== "body" && value["in"] !== "formData");
  const named = withArguments(plain, path);
  const parameters: Parameter[] = [];
  const fields: Field[] = [];
  for (const { argument, place: parameter } of named) {
    const { entry, field } = parameterOf(read, parameter, argument);
    parameters.push(entry);
    fields.push(field);
  }
  const source = read.isSwagger2 ? oldBody(read, place, found) : newBody(read, place);
  const body = source && bodyOf(read, source, new Set(fields.map(({ name }) => name)));
  return { parameters, body: body?.body, fields: [...fields, ...(body?.fields ?? [])] };
}

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

/** Headers that other parts of the document describe. */
const describedElsewhere = new Set(["accept", "content-type", "authorization"]);

/** Parameters with the names of their arguments. One that only the path names is added: without it, the request cannot be made. */
function withArguments(found: readonly ObjectPlace[], path: string): { argument: string; place: ObjectPlace }[] {
  const kept = found.filter(
    ({ value }) => value["in"] !== "header" || !describedElsewhere.has(String(value["name"]).toLowerCase()),
  );
  const known = new Set(kept.filter(({ value }) => value["in"] === "path").map(({ value }) => value["name"]));
  const missing = Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!).filter(
    (name) => !known.has(name) && !known.has(name.replace(/\*$|^\+/, "")),
  );
  const added = [...new Set(missing)].map((name) => {
    const value: JsonObject = { name, in: "path", required: true, schema: { type: "string" } };
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

const styles: readonly string[] = [
  "simple",
  "label",
  "matrix",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "deepObject",
];

function newStyle({ style, explode }: JsonObject, where: Parameter["in"]): Pick<Parameter, "style" | "explode"> {
  const usual = where === "path" || where === "header" ? "simple" : "form";
  const chosen = (typeof style === "string" && styles.includes(style) ? style : usual) as ParameterStyle;
  return {
    style: chosen,
    explode: typeof explode === "boolean" ? explode : chosen === "form" || chosen === "deepObject",
  };
}

function oldStyle({ collectionFormat }: JsonObject, where: Parameter["in"]): Pick<Parameter, "style" | "explode"> {
  const usual = where === "path" || where === "header" ? "simple" : "form";
  if (collectionFormat === "multi") return { style: usual, explode: true };
  if (collectionFormat === "ssv") return { style: "spaceDelimited", explode: false };
  return { style: collectionFormat === "pipes" ? "pipeDelimited" : usual, explode: false };
}

interface BodySource {
  isRequired: boolean;
  mediaType: string;
  description?: string | undefined;
  schema: Place;
  /** The fields of a form in Swagger 2, which are parameters. */
  formFields?: ObjectPlace[] | undefined;
  encoding?: ObjectPlace | undefined;
}

function newBody({ documents }: Read, { operation }: OperationPlace): BodySource | undefined {
  const body = documents.object(at(operation, "requestBody"));
  const content = body && documents.object(at(body, "content"));
  const mediaType = content && chosenMediaType(Object.keys(content.value));
  if (mediaType === undefined) return undefined;
  const media = documents.object(at(content!, mediaType));
  const description = body!.value["description"];
  return {
    isRequired: body!.value["required"] === true,
    mediaType,
    description: typeof description === "string" ? description : undefined,
    schema: media ? at(media, "schema") : { value: undefined, document: body!.document },
    encoding: media && documents.object(at(media, "encoding")),
  };
}

function oldBody(
  { documents }: Read,
  { operation }: OperationPlace,
  found: readonly ObjectPlace[],
): BodySource | undefined {
  const consumes = stringsIn(operation.value["consumes"] ?? documents.root.value["consumes"]);
  const whole = found.find(({ value }) => value["in"] === "body");
  if (whole) {
    const { description, required } = whole.value;
    return {
      isRequired: required === true,
      mediaType:
        chosenMediaType(consumes.filter((each) => !["form", "multipart"].includes(bodyKindOf(each) ?? ""))) ??
        "application/json",
      description: typeof description === "string" ? description : undefined,
      schema: at(whole, "schema"),
    };
  }
  const formFields = found.filter(({ value }) => value["in"] === "formData");
  if (formFields.length === 0) return undefined;
  const hasFile = formFields.some(({ value }) => value["type"] === "file");
  const form =
    consumes.find((each) => bodyKindOf(each) === (hasFile ? "multipart" : "form")) ??
    consumes.find((each) => bodyKindOf(each) === "multipart");
  return {
    isRequired: formFields.some(({ value }) => value["required"] === true),
    mediaType: form ?? (hasFile ? "multipart/form-data" : "application/x-www-form-urlencoded"),
    schema: { value: { type: "object" }, document: operation.document },
    formFields,
  };
}

function bodyOf(read: Read, source: BodySource, taken: ReadonlySet<string>): { body: Body; fields: Field[] } {
  const { schemas } = read;
  const { mediaType, isRequired } = source;
  const flat = schemas.of(source.schema);
  const isAny = bodyKindOf(mediaType) === undefined;
  const looksLikeJson = flat.properties.size > 0 || (flat.types !== undefined && !flat.types.includes("string"));
  const kind = bodyKindOf(mediaType) ?? (looksLikeJson ? "json" : "binary");
  const type = isAny
    ? looksLikeJson
      ? "application/json"
      : "application/octet-stream"
    : essenceOf(mediaType) === "multipart/*"
      ? "multipart/form-data"
      : mediaType;
  const fields = source.formFields
    ? oldFormFields(source.formFields)
    : isSpread(flat, kind)
      ? fieldsOf(read, flat, kind)
      : undefined;
  const encoding = kind === "form" || kind === "multipart" ? encodingOf(read, source, flat) : undefined;
  const base: Body = { isRequired, mediaType: type, kind, ...(encoding ? { encoding } : {}) };
  if (fields && fields.length <= maxBodyFields && fields.every(({ name }) => !taken.has(name))) {
    const names = Object.fromEntries(fields.map(({ name }) => [name, name]));
    return {
      body: { ...base, fields: names },
      fields: fields.map((field) => ({ ...field, isRequired: isRequired && field.isRequired })),
    };
  }
  let argument = bodyArgument;
  while (taken.has(argument)) argument = `request_${argument}`;
  const schema = source.formFields
    ? wholeForm(source.formFields)
    : kind === "binary"
      ? { value: { type: "string" }, document: source.schema.document }
      : source.schema;
  const note = kind === "binary" ? filePath : undefined;
  return {
    body: { ...base, argument },
    fields: [{ name: argument, schema, isRequired, description: source.description, note }],
  };
}

/** Whether the fields of the body stand among the arguments: it is an object, and its fields are all named. */
function isSpread({ properties, types, choices, additional, isNullable }: FlatSchema, kind: Body["kind"]): boolean {
  const isObjectOnly = types === undefined || (types.length === 1 && types[0] === "object");
  const isForm = kind === "form" || kind === "multipart";
  if (!(kind === "json" || isForm) || properties.size === 0 || !isObjectOnly || isNullable) return false;
  // Options of a choice that only say which fields are required do not matter for the names.
  const isPlain = choices.every((options) =>
    options.every(
      ({ value }) => isObject(value) && Object.keys(value).every((key) => key === "required" || key === "title"),
    ),
  );
  return isPlain && (additional === undefined || additional === false || isForm);
}

function fieldsOf({ schemas }: Read, { properties, required }: FlatSchema, kind: Body["kind"]): Field[] {
  return [...properties].flatMap(([name, schema]) => {
    const flat = schemas.of(schema);
    if (flat.keywords["readOnly"] === true) return [];
    const isFile = kind === "multipart" && isFileSchema(flat, schemas);
    return [{ name, schema, isRequired: required.has(name), note: isFile ? filePath : undefined }];
  });
}

/** A text of bytes, or a list of such texts. */
function isFileSchema({ types, keywords, items }: FlatSchema, schemas: FlatSchemas): boolean {
  if (items !== undefined) return isFileSchema(schemas.of(items), schemas);
  const { format, contentMediaType, contentEncoding } = keywords;
  if (types !== undefined && !types.includes("string")) return false;
  return format === "binary" || (contentMediaType === "application/octet-stream" && contentEncoding === undefined);
}

function oldFormFields(formFields: readonly ObjectPlace[]): Field[] {
  return formFields.map((place) => {
    const { name, required, description, type } = place.value;
    return {
      name: String(name),
      schema: place,
      isRequired: required === true,
      description: typeof description === "string" ? description : undefined,
      note: type === "file" ? filePath : undefined,
    };
  });
}

function wholeForm(formFields: readonly ObjectPlace[]): Place {
  const properties = Object.fromEntries(formFields.map(({ value }) => [String(value["name"]), value]));
  const required = formFields
    .filter(({ value }) => value["required"] === true)
    .map(({ value }) => String(value["name"]));
  return { value: { type: "object", properties, required }, document: formFields[0]!.document };
}

function encodingOf(
  read: Read,
  { encoding, formFields }: BodySource,
  { properties }: FlatSchema,
): Record<string, BodyEncoding> | undefined {
  const { documents, schemas } = read;
  const found: Record<string, BodyEncoding> = Object.create(null);
  for (const [name, schema] of properties)
    if (isFileSchema(schemas.of(schema), schemas)) found[name] = { isFile: true };
  for (const { value } of formFields ?? []) {
    const isFile = value["type"] === "file";
    const isList = value["type"] === "array";
    if (isFile || isList) found[String(value["name"])] = isFile ? { isFile } : oldStyle(value, "query");
  }
  for (const name of encoding ? Object.keys(encoding.value) : []) {
    const one = documents.object(at(encoding!, name));
    if (!one) continue;
    const { contentType, style, explode } = one.value;
    found[name] = {
      ...found[name],
      ...(typeof contentType === "string" ? { mediaType: contentType.split(",")[0]!.trim() } : {}),
      ...(style === undefined && explode === undefined ? {} : newStyle(one.value, "query")),
    };
  }
  return Object.keys(found).length > 0 ? found : undefined;
}
