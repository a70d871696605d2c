/** Makes tools and operations of the paths of a document. */
import { edenGC } from "bun:jsc";
import type { Tool } from "@modelcontextprotocol/client";
import { messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import { matches } from "../../config/pattern.ts";
import { type PagedTool, pagesKey } from "../source.ts";
import { addressesIn } from "./addresses.ts";
import { argumentsOf, type OperationPlace, type Read } from "./arguments.ts";
import { at, type Documents, type ObjectPlace, type Place } from "./documents.ts";
import { FlatSchemas } from "./flat-schema.ts";
import { bodyKindOf, chosenMediaType, responseKindOf } from "./media-types.ts";
import { toolNames, wordsIn } from "./names.ts";
import type { Operation, ResponseKind } from "./operation.ts";
import { pagesOf } from "./pages.ts";
import { requirementsOf } from "./security.ts";
import { SchemaWriter, shortText } from "./write-schema.ts";

/** Operations of one API. Microsoft Graph's beta has 22,000. */
const maxOperations = 30_000;

/** Characters of all schemas together. An API with more operations gets shorter ones, so that a start stays fast. */
const maxSchemaCharsOfApi = 16_000_000;

/** Characters of the schemas of one tool. A model reads them. */
const maxSchemaCharsOfTool = 24_000;

/** The share of the schema of the arguments. */
const argumentsShare = 0.5;

/** Characters of a tool's description. */
const maxDescriptionChars = 1_000;

/** The same in an API with many operations. */
const minDescriptionChars = 200;

/** Characters of a tool's title. */
const maxTitleChars = 100;

/** Characters of the text of a status. */
const maxStatusTextChars = 120;

/** Statuses of one operation. */
const maxStatuses = 40;

/** Operations after which garbage is collected. */
const collectedOperations = 500;

/** Operations that are named in problems. */
const maxNamedProblems = 20;

export interface Selection {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
}

interface Found extends OperationPlace {
  method: string;
  path: string;
  operationId: string | undefined;
  tags: string[];
  isDeprecated: boolean;
  name: string;
}

/** Calls `onOperation` for each operation that is chosen. */
export function readOperations(
  documents: Documents,
  selection: Selection,
  hasSecurity: boolean,
  baseUrl: string | undefined,
  onOperation: (tool: Tool, operation: Operation) => void,
): void {
  const isSwagger2 = typeof documents.root.value["swagger"] === "string";
  const read: Read = { documents, schemas: new FlatSchemas(documents), isSwagger2, hasSecurity, known: new WeakMap() };
  const all = foundIn(documents);
  for (const [index, name] of toolNames(all).entries()) all[index]!.name = name;
  const chosen = all.filter((each) => isChosen(each, selection));
  // Deprecated operations come last.
  const sorted = [
    ...chosen.filter(({ isDeprecated }) => !isDeprecated),
    ...chosen.filter(({ isDeprecated }) => isDeprecated),
  ];
  const chars = Math.min(maxSchemaCharsOfTool, Math.floor(maxSchemaCharsOfApi / Math.max(1, sorted.length)));
  let failed = 0;
  for (const [index, found] of sorted.entries()) {
    // Otherwise the garbage of thousands of operations would be collected in the end only.
    if (index % collectedOperations === collectedOperations - 1) edenGC();
    try {
      const { tool, operation } = one(read, found, chars, baseUrl);
      onOperation(tool, operation);
    } catch (error) {
      failed += 1;
      if (failed <= maxNamedProblems)
        documents.tell(
          `${found.method} ${shortText(found.path, maxTitleChars)} was left out: ${shortText(messageOf(error), maxStatusTextChars)}`,
        );
    }
  }
  if (failed > maxNamedProblems) documents.tell(`${failed} operations were left out, because they could not be read.`);
  if (sorted.length === 0)
    documents.tell(
      all.length === 0 ? "The document has no operations." : '"include" and "exclude" leave no operation.',
    );
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

function foundIn(documents: Documents): Found[] {
  const found: Found[] = [];
  const root: ObjectPlace = { value: documents.root.value, document: documents.root };
  const paths = documents.object(at(root, "paths"));
  for (const path of paths ? Object.keys(paths.value) : []) {
    if (path.startsWith("x-")) continue;
    const item = documents.object(at(paths!, path));
    if (!item) continue;
    const more = documents.object(at(item, "additionalOperations"));
    const places: [string, Place][] = [
      ...methods
        .filter((method) => method in item.value)
        .map((method): [string, Place] => [method.toUpperCase(), at(item, method)]),
      ...(more
        ? Object.keys(more.value)
            .filter((method) => /^[A-Za-z-]{1,40}$/.test(method))
            .map((method): [string, Place] => [method, at(more, method)])
        : []),
    ];
    for (const [method, place] of places) {
      const operation = documents.object(place);
      if (!operation) continue;
      if (found.length === maxOperations) {
        documents.tell(
          `The document has more than ${maxOperations} operations. The others were left out: choose some with "include".`,
        );
        return found;
      }
      const { operationId, tags, deprecated } = operation.value;
      found.push({
        method,
        path,
        item,
        operation,
        operationId: typeof operationId === "string" ? operationId : undefined,
        tags: stringsIn(tags),
        isDeprecated: deprecated === true,
        name: "",
      });
    }
  }
  return found;
}

/** A pattern with a slash is compared with the path, or with the method and the path. Others are compared with the name, the id and the tags. */
function isChosen({ name, operationId, tags, method, path }: Found, { include, exclude = [] }: Selection): boolean {
  const fits = (pattern: string) =>
    /^(?:[A-Za-z*]+ )?\//.test(pattern)
      ? matches(
          pattern.startsWith("/") ? pattern : pattern.replace(/^\S+/, (word) => word.toUpperCase()),
          pattern.startsWith("/") ? path : `${method} ${path}`,
        )
      : [name, operationId ?? name, ...tags].some((each) => matches(pattern, each));
  return (include === undefined || include.length === 0 || include.some(fits)) && !exclude.some(fits);
}

function one(
  read: Read,
  found: Found,
  chars: number,
  baseUrl: string | undefined,
): { tool: Tool; operation: Operation } {
  const { documents, schemas } = read;
  const { method, path, name, item, operation } = found;
  const security =
    requirementsOf(operation.value["security"]) ?? requirementsOf(documents.root.value["security"]) ?? [];
  const { parameters, body, fields } = argumentsOf(read, found, path);
  const { responses, success } = responsesOf(read, found);
  const pages = pagesOf(documents, schemas, parameters, success);
  const servers = ownServers(operation, item, baseUrl);
  const request = new SchemaWriter(schemas, {
    side: "request",
    chars: Math.floor(chars * argumentsShare),
    descriptionChars: chars >= 8_000 ? 300 : chars >= 2_500 ? 120 : 60,
  });
  const inputSchema = request.objectOf(fields, false);
  const outputSchema = success && resultSchema(schemas, success.schema, chars - Math.floor(chars * argumentsShare));
  const paged: PagedTool | undefined = pages && { items: pages.items };
  return {
    tool: {
      name,
      ...titleOf(operation.value),
      description: descriptionOf(found, chars),
      inputSchema: inputSchema as Tool["inputSchema"],
      ...(outputSchema ? { outputSchema: outputSchema as Tool["outputSchema"] } : {}),
      annotations: annotationsOf(found),
      ...(paged ? { _meta: { [pagesKey]: paged } } : {}),
    } as Tool,
    operation: {
      name,
      method,
      path,
      ...(servers ? { servers } : {}),
      parameters,
      ...(body ? { body } : {}),
      responses,
      security,
      ...(pages ? { pages } : {}),
    },
  };
}

/** Addresses of the operation or its path. With an address of the user, only those on other hosts count. */
function ownServers(operation: ObjectPlace, item: ObjectPlace, baseUrl: string | undefined): string[] | undefined {
  const owner = [operation, item].find(({ value }) => Array.isArray(value["servers"]) && value["servers"].length > 0);
  return owner && addressesIn(owner.value["servers"], baseUrl ?? owner.document.url);
}

function titleOf({ summary }: JsonObject): { title?: string } {
  return typeof summary === "string" && summary.trim() !== ""
    ? { title: shortText(summary.trim(), maxTitleChars) }
    : {};
}

/** Begins with what it does, and ends with the request, which people know from the documentation of the API. */
function descriptionOf({ operation, method, path, isDeprecated }: Found, chars: number): string {
  const { summary, description } = operation.value;
  const limit = Math.max(minDescriptionChars, Math.min(maxDescriptionChars, Math.floor(chars / 8)));
  const texts = [summary, description].flatMap((each) =>
    typeof each === "string" && each.trim() !== "" ? [plainText(each, limit)] : [],
  );
  const [first = "", second = ""] = texts;
  const about = second.toLowerCase().startsWith(first.toLowerCase().replace(/\.$/, ""))
    ? second
    : [sentence(first), second].filter(Boolean).join(" ");
  return [
    isDeprecated ? "Deprecated." : "",
    sentence(shortText(about, limit)),
    `(${method} ${shortText(path, minDescriptionChars)})`,
  ]
    .filter(Boolean)
    .join(" ");
}

const sentence = (text: string) => (text === "" || /[.!?…:)]$/.test(text) ? text : `${text}.`);

/** Without tags, and with the texts of links in place of the links. */
function plainText(text: string, limit: number): string {
  const read = text.slice(0, limit * 4);
  return shortText(
    /[<[`*]/.test(read)
      ? read
          .replace(/<\/?[a-z][^<>]{0,200}>/gi, " ")
          .replace(/\[([^\][]{1,200})\]\([^()\s]{1,500}\)/g, "$1")
          .replace(/\*\*|`/g, "")
      : read,
    limit,
  );
}

function annotationsOf({ method, name, path }: Found): NonNullable<Tool["annotations"]> {
  const readOnlyHint = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"].includes(method);
  if (readOnlyHint) return { readOnlyHint, openWorldHint: true };
  const words = [...name.split("_"), ...wordsIn(path.split("/").at(-1) ?? "")];
  const destructiveHint = method === "DELETE" || words.some((word) => destructive.has(word));
  return {
    readOnlyHint,
    destructiveHint,
    idempotentHint: method === "PUT" || method === "DELETE",
    openWorldHint: true,
  };
}

const destructive = new Set(
  "delete remove destroy purge wipe erase revoke terminate uninstall drop truncate reset kick ban".split(" "),
);

interface Success {
  schema: Place;
  response: ObjectPlace;
}

function responsesOf(
  { documents, isSwagger2 }: Read,
  { operation }: Found,
): { responses: Record<string, ResponseKind>; success: Success | undefined } {
  const place = documents.object(at(operation, "responses"));
  const responses: Record<string, ResponseKind> = {};
  const successes: { status: string; value: Success }[] = [];
  for (const status of place ? Object.keys(place.value).slice(0, maxStatuses) : []) {
    if (!/^(?:[1-5](?:\d\d|XX)|default)$/i.test(status)) continue;
    const response = documents.object(at(place!, status));
    if (!response) continue;
    const content = isSwagger2 ? undefined : documents.object(at(response, "content"));
    const types = isSwagger2 ? oldTypes(documents, operation, response) : content ? Object.keys(content.value) : [];
    const kind = responseKindOf(types);
    const { description } = response.value;
    const text = typeof description === "string" ? shortText(description, maxStatusTextChars) : "";
    const says =
      text.length > 0 &&
      !/^(?:ok|okay|success(?:ful)?(?: (?:response|operation))?|response|retrieved .*|created|no content|error(?: response)?|default.*|bad request|not found|forbidden|unauthorized|requires authentication)\.?$/i.test(
        text,
      );
    responses[status.toUpperCase() === "DEFAULT" ? "default" : status.toUpperCase()] = {
      kind,
      ...(says ? { description: text } : {}),
    };
    const schema = isSwagger2 ? at(response, "schema") : schemaOfContent(documents, content);
    if (kind !== "none" && schema !== undefined && /^(?:2|default)/i.test(status))
      successes.push({
        status,
        value: {
          schema:
            kind === "json"
              ? schema
              : { value: kind === "text" ? { type: "string" } : savedFile, document: schema.document },
          response,
        },
      });
  }
  const [first] = successes.toSorted((one, other) => (one.status < other.status ? -1 : 1));
  return { responses, success: first?.value };
}

/** The result of an operation that returns bytes. */
const savedFile = {
  type: "object",
  properties: {
    file: { type: "string", description: "The path of the file in the workspace." },
    mediaType: { type: "string" },
    bytes: { type: "integer" },
  },
  required: ["file", "mediaType", "bytes"],
};

function oldTypes(documents: Documents, operation: ObjectPlace, response: ObjectPlace): string[] {
  const { schema } = response.value;
  if (!isObject(schema)) return [];
  const produces = stringsIn(operation.value["produces"] ?? documents.root.value["produces"]);
  if (schema["type"] === "file")
    return [produces.find((each) => bodyKindOf(each) === "binary") ?? "application/octet-stream"];
  return produces.length > 0 ? produces : ["application/json"];
}

function schemaOfContent(documents: Documents, content: ObjectPlace | undefined): Place | undefined {
  const type = content && chosenMediaType(Object.keys(content.value));
  const media = type === undefined ? undefined : documents.object(at(content!, type));
  if (!media) return undefined;
  // Streams of OpenAPI 3.2 have a schema for each item.
  return "schema" in media.value || !("itemSchema" in media.value)
    ? at(media, "schema")
    : { value: { type: "string" }, document: media.document };
}

/** Undefined if it would say nothing. */
function resultSchema(schemas: FlatSchemas, place: Place, chars: number): JsonObject | undefined {
  const written = new SchemaWriter(schemas, {
    side: "response",
    chars,
    descriptionChars: chars >= 6_000 ? 100 : chars >= 2_000 ? 50 : 0,
  }).schemaOf(place);
  return Object.keys(written).some((key) => key !== "description") ? written : undefined;
}
