/** Reads the responses of an operation, and chooses the one that describes its result. */
import { isObject, stringsIn } from "../../base/json-object.ts";
import type { ResponseKind } from "./api.ts";
import { at, type Documents, type ObjectPlace, type Place } from "./document/documents.ts";
import { bodyKindOf, chosenMediaType, responseKindOf } from "./media-types.ts";
import type { Read } from "./reading.ts";
import { shortText } from "./tool-text.ts";

/** Characters of the text of a status. */
const maxStatusTextChars = 120;

/** Statuses of one operation. */
const maxStatuses = 40;

export interface Success {
  schema: Place;
  response: ObjectPlace;
}

export function responsesOf(
  { documents, isSwagger2 }: Read,
  operation: ObjectPlace,
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
