/** Reads the body of an operation. Its fields stand among the arguments of the tool if none has the name of a parameter; else the body is one argument. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import type { Body, BodyEncoding } from "./api.ts";
import { at, type ObjectPlace, type Place } from "./document/documents.ts";
import type { FlatSchema, FlatSchemas } from "./flat-schema.ts";
import { bodyKindOf, chosenMediaType, essenceOf } from "./media-types.ts";
import { newStyle, type OperationPlace, oldStyle, type Read } from "./reading.ts";
import type { Field } from "./write-schema.ts";

/** Fields of a body that stand among the arguments. A body with more is one argument. */
const maxBodyFields = 500;

/** The argument of a whole body. */
const bodyArgument = "body";

/** Alternatives of required fields that a description names. */
const maxAlternatives = 6;

const filePath = "A path of a file in the workspace.";

/** The body and its arguments. `parameters` are all parameters of the operation, and `taken` the arguments of those that are not in the body. */
export function bodyIn(
  read: Read,
  place: OperationPlace,
  parameters: readonly ObjectPlace[],
  taken: ReadonlySet<string>,
): ReadBody | undefined {
  const source = read.isSwagger2 ? oldBody(read, place, parameters) : newBody(read, place);
  return source && bodyOf(read, source, taken);
}

interface ReadBody {
  body: Body;
  fields: Field[];
  /** A sentence about all fields together. */
  note?: string | undefined;
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

function newBody({ documents, schemas }: Read, { operation }: OperationPlace): BodySource | undefined {
  const body = documents.object(at(operation, "requestBody"));
  const content = body && documents.object(at(body, "content"));
  const schemaOf = (mediaType: string) => at(documents.object(at(content!, mediaType)) ?? body!, "schema");
  const all = content ? Object.keys(content.value) : [];
  const usable = all.filter((each) => !isForm(bodyKindOf(each)) || isFormSchema(schemas.of(schemaOf(each)), schemas));
  const mediaType = chosenMediaType(usable.length > 0 ? usable : all);
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

const isForm = (kind: Body["kind"] | undefined) => kind === "form" || kind === "multipart";

/** A form has fields, or is one file. */
function isFormSchema(flat: FlatSchema, schemas: FlatSchemas): boolean {
  return flat.types === undefined || flat.types.includes("object") || isFileSchema(flat, schemas);
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

function bodyOf(read: Read, source: BodySource, taken: ReadonlySet<string>): ReadBody {
  const { schemas } = read;
  const { mediaType, isRequired } = source;
  const whole = schemas.of(source.schema);
  const isFile = bodyKindOf(mediaType) === "multipart" && whole.types !== undefined && isFileSchema(whole, schemas);
  const flat = isFile ? schemas.of(formOfFile(source.schema)) : whole;
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
  const encoding = isForm(kind) ? encodingOf(read, source, flat) : undefined;
  const base: Body = { isRequired, mediaType: type, kind, ...(encoding ? { encoding } : {}) };
  if (fields && fields.length <= maxBodyFields && fields.every(({ name }) => !taken.has(name))) {
    const names = Object.fromEntries(fields.map(({ name }) => [name, name]));
    return {
      body: { ...base, fields: names },
      fields: fields.map((field) => ({ ...field, isRequired: isRequired && field.isRequired })),
      note: alternativesOf(flat),
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
  if (!(kind === "json" || isForm(kind)) || properties.size === 0 || !isObjectOnly || isNullable) return false;
  // Options of a choice that only say which fields are required do not matter for the names.
  const isPlain = choices.every((options) =>
    options.every(
      ({ value }) => isObject(value) && Object.keys(value).every((key) => key === "required" || key === "title"),
    ),
  );
  return isPlain && (additional === undefined || additional === false || isForm(kind));
}

/** A sentence that names the alternatives of required fields. Not all agents accept a schema with alternatives at its top. */
function alternativesOf({ choices, required }: FlatSchema): string | undefined {
  const sentences = choices.flatMap((options) => {
    const names = options.map(({ value }) =>
      stringsIn((value as JsonObject)["required"]).filter((name) => !required.has(name)),
    );
    const isUseful = names.length > 1 && names.length <= maxAlternatives && names.every(({ length }) => length > 0);
    return isUseful ? [`Needs ${names.map((each) => each.join(" with ")).join(" or ")}.`] : [];
  });
  return sentences.length > 0 ? sentences.join(" ") : undefined;
}

function fieldsOf({ schemas }: Read, { properties, required }: FlatSchema, kind: Body["kind"]): Field[] {
  const named = [...properties].flatMap(([name, schema]): Field[] => {
    const flat = schemas.of(schema);
    if (flat.keywords["readOnly"] === true) return [];
    const isFile = kind === "multipart" && isFileSchema(flat, schemas);
    return [{ name, schema, isRequired: required.has(name), note: isFile ? filePath : undefined }];
  });
  const unnamed = [...required].filter((name) => !properties.has(name));
  return [...named, ...unnamed.map((name) => ({ name, schema: anything, isRequired: true }))];
}

/** A field that must be sent, and that the document does not describe. */
const anything: Place = { value: {}, document: { url: "file:///", value: {} } };

/** A text of bytes, or a list of such texts. */
function isFileSchema({ types, keywords, items }: FlatSchema, schemas: FlatSchemas): boolean {
  if (items !== undefined) return isFileSchema(schemas.of(items), schemas);
  const { format, contentMediaType, contentEncoding } = keywords;
  if (types !== undefined && !types.includes("string")) return false;
  return format === "binary" || (contentMediaType === "application/octet-stream" && contentEncoding === undefined);
}

/** A form that is only a file: its part has the name that most APIs use. */
function formOfFile({ value, document }: Place): Place {
  return { value: { type: "object", properties: { file: value }, required: ["file"] }, document };
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
