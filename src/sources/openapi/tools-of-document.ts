/** Makes tools and operations of the paths of a document. */
import type { Tool } from "@modelcontextprotocol/client";
import { messageOf } from "../../base/errors.ts";
import { type JsonObject, stringsIn } from "../../base/json-object.ts";
import { matches } from "../../config/pattern.ts";
import { type PagedTool, pagesKey } from "../source.ts";
import { addressesIn } from "./addresses.ts";
import type { Operation } from "./api.ts";
import { argumentsOf } from "./arguments.ts";
import { at, type Documents, type ObjectPlace, type Place } from "./document/documents.ts";
import { FlatSchemas } from "./flat-schema.ts";
import { toolNames } from "./names.ts";
import { pagesOf } from "./pages.ts";
import type { OperationPlace, Read } from "./reading.ts";
import { responsesOf } from "./responses.ts";
import { requirementsOf } from "./security.ts";
import { annotationsOf, descriptionOf, shortText, titleOf } from "./tool-text.ts";
import { SchemaWriter } from "./write-schema.ts";

/** Operations of one API. Microsoft Graph's beta has 22,000. */
const maxOperations = 30_000;

/** Characters of all schemas together. An API with more operations gets shorter ones, so that a start stays fast. */
const maxSchemaCharsOfApi = 16_000_000;

/** Characters of the schemas of one tool. A model reads them. */
const maxSchemaCharsOfTool = 24_000;

/** The share of the schema of the arguments. */
const argumentsShare = 0.5;

/** Paths or operations after which garbage is collected. */
const collectedOperations = 500;

/** Operations that are named in problems. */
const maxNamedProblems = 20;

/** Characters of a path or a reason in a problem. */
const maxNamedChars = 120;

export interface Selection {
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
}

/** An operation that was found. Its places are looked up again, since those of a whole document take much memory. */
interface Found {
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
  const paths = documents.object(at({ value: documents.root.value, document: documents.root }, "paths"));
  const all = foundIn(documents, paths);
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
    collectSometimes(index);
    try {
      const { tool, operation } = one(read, { ...found, ...placesOf(documents, paths!, found) }, chars, baseUrl);
      onOperation(tool, operation);
    } catch (error) {
      failed += 1;
      if (failed <= maxNamedProblems)
        documents.tell(
          `${found.method} ${shortText(found.path, maxNamedChars)} was left out: ${shortText(messageOf(error), maxNamedChars)}`,
        );
    }
  }
  if (failed > maxNamedProblems) documents.tell(`${failed} operations were left out, because they could not be read.`);
  if (sorted.length === 0)
    documents.tell(
      all.length === 0 ? "The document has no operations." : '"include" and "exclude" leave no operation.',
    );
}

/** Otherwise the garbage of thousands of operations would be collected in the end only. */
function collectSometimes(index: number): void {
  if (index % collectedOperations === collectedOperations - 1) Bun.gc(true);
}

const methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

function foundIn(documents: Documents, paths: ObjectPlace | undefined): Found[] {
  const found: Found[] = [];
  for (const [index, path] of Object.keys(paths?.value ?? {}).entries()) {
    collectSometimes(index);
    if (path.startsWith("x-")) continue;
    const item = documents.object(at(paths!, path));
    if (!item) continue;
    for (const method of methodsOf(documents, item)) {
      const operation = operationOf(documents, item, method);
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
        operationId: typeof operationId === "string" ? operationId : undefined,
        tags: stringsIn(tags),
        isDeprecated: deprecated === true,
        name: "",
      });
    }
  }
  return found;
}

function methodsOf(documents: Documents, item: ObjectPlace): string[] {
  const more = documents.object(at(item, "additionalOperations"));
  return [
    ...methods.filter((method) => method in item.value).map((method) => method.toUpperCase()),
    ...Object.keys(more?.value ?? {}).filter((method) => /^[A-Za-z-]{1,40}$/.test(method)),
  ];
}

function operationOf(documents: Documents, item: ObjectPlace, method: string): ObjectPlace | undefined {
  const usual = method.toLowerCase();
  if (methods.includes(usual) && usual in item.value && method !== usual) return documents.object(at(item, usual));
  const more = documents.object(at(item, "additionalOperations"));
  return more && documents.object(at(more, method));
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

function placesOf(documents: Documents, paths: ObjectPlace, { path, method }: Found): OperationPlace {
  const item = documents.object(at(paths, path));
  const operation = item && operationOf(documents, item, method);
  if (!operation) throw new Error("it is gone");
  return { item, operation };
}

function one(
  read: Read,
  found: Found & OperationPlace,
  chars: number,
  baseUrl: string | undefined,
): { tool: Tool; operation: Operation } {
  const { documents, schemas } = read;
  const { method, path, name, item, operation } = found;
  const security =
    requirementsOf(operation.value["security"]) ?? requirementsOf(documents.root.value["security"]) ?? [];
  const { parameters, body, fields, note } = argumentsOf(read, found);
  const { responses, success } = responsesOf(read, operation);
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
      description: descriptionOf(operation.value, found, note, chars),
      inputSchema: inputSchema as Tool["inputSchema"],
      ...(outputSchema ? { outputSchema: outputSchema as Tool["outputSchema"] } : {}),
      annotations: annotationsOf(name, found),
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

/** Undefined if it would say nothing. */
function resultSchema(schemas: FlatSchemas, place: Place, chars: number): JsonObject | undefined {
  const written = new SchemaWriter(schemas, {
    side: "response",
    chars,
    descriptionChars: chars >= 6_000 ? 100 : chars >= 2_000 ? 50 : 0,
  }).schemaOf(place);
  return Object.keys(written).some((key) => key !== "description") ? written : undefined;
}
