/** Turns the answer of a GraphQL endpoint into the result of a call. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { ClaudikinsError } from "../../base/errors.ts";
import { parsedExact } from "../../base/exact-json.ts";
import { isObject, type JsonObject, stringsIn, valueAt } from "../../base/json-object.ts";
import { weigh } from "../../base/json-weight.ts";
import { itemsKey, type NextPage, nextPageKey } from "../source.ts";
import type { ConnectionPages, GraphqlOperation, GraphqlRequest } from "./operation.ts";
import { shortText } from "./types.ts";

/** Errors of an answer that are told. Each row of a list may have one. */
const maxToldErrors = 5;

/** Characters of one of them. */
const maxErrorChars = 600;

/** Levels of an answer. Deeper JSON would overflow the stack of code that writes or walks it. */
const maxDepth = 500;

/** Values in one answer. A million values take about 100 MB. */
const maxValues = 4_000_000;

/** The key in `_meta` of a result of which some fields could not be read. */
const errorsKey = "claudikins/errors";

export interface Asked {
  operation: GraphqlOperation;
  request: GraphqlRequest;
  args: JsonObject;
  /** Undefined if the caller has chosen no fields. */
  select: string | undefined;
}

interface GraphqlFailure {
  message: string;
  path: (string | number)[];
  code: string | undefined;
}

/** Undefined if the bytes are no answer of GraphQL. Throws PROTOCOL_ERROR if they cannot be held. */
export function answerIn(bytes: Uint8Array, asked: Asked): CallToolResult | undefined {
  const { depth, values } = weigh(bytes);
  const hint = "Ask for fewer items or fields.";
  if (depth > maxDepth)
    throw new ClaudikinsError("PROTOCOL_ERROR", `its answer is nested more than ${maxDepth} levels deep`, { hint });
  if (values > maxValues)
    throw new ClaudikinsError("PROTOCOL_ERROR", `its answer has more than ${maxValues / 1_000_000} million values`, {
      hint,
    });
  return resultOf(parsedExact(new TextDecoder().decode(bytes)), asked);
}

/** Undefined if the value is no answer of GraphQL. */
function resultOf(body: unknown, asked: Asked): CallToolResult | undefined {
  if (!isObject(body) || !("data" in body || Array.isArray(body["errors"]))) return undefined;
  const errors = Array.isArray(body["errors"]) ? body["errors"].filter(isObject) : [];
  const { path, pages } = asked.request;
  const value = valueAt(body["data"], path);
  const next = pages && taken(value, pages, asked);
  const meta = { ...next };
  if (errors.length === 0) return value === undefined ? undefined : valueResult(value, meta);
  const failures = errors.map(failureOf);
  // Fields that the caller did not ask for may be forbidden, and do not concern the call.
  const isOnlyInner = failures.every((each) => each.path.length > path.length);
  if (asked.select === undefined && value !== null && value !== undefined && isOnlyInner) {
    return valueResult(value, { ...meta, [errorsKey]: errors });
  }
  return failureResult(failures, { value: value ?? null, errors, asked });
}

function valueResult(value: unknown, meta: JsonObject): CallToolResult {
  const _meta = Object.keys(meta).length > 0 ? { _meta: meta } : {};
  if (isObject(value)) return { content: [], structuredContent: value, ..._meta };
  return { content: [{ type: "text", text: JSON.stringify(value) }], ..._meta };
}

function failureOf({ message, path, extensions }: JsonObject): GraphqlFailure {
  const code = valueAt(extensions, ["code"]) ?? valueAt(extensions, ["type"]);
  return {
    message: typeof message === "string" ? message : "it gave no reason",
    path: Array.isArray(path) ? path.filter((each) => typeof each === "string" || typeof each === "number") : [],
    code: typeof code === "string" ? code : undefined,
  };
}

interface Partial {
  value: unknown;
  errors: JsonObject[];
  asked: Asked;
}

/** What was read is in `structuredContent`, and programs find it in the `data` of the error. */
function failureResult(failures: GraphqlFailure[], { value, errors, asked }: Partial): CallToolResult {
  const { operation, request, select } = asked;
  const told = failures.slice(0, maxToldErrors).map(({ message, path, code }) => {
    const place = path.slice(request.path.length).join(".");
    const notes = [code, place === "" ? undefined : `at ${place}`].filter((each) => each !== undefined);
    return `${shortText(message, maxErrorChars)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
  });
  if (failures.length > maxToldErrors) told.push(`… and ${failures.length - maxToldErrors} more errors`);
  const hasValue = value !== null;
  if (hasValue && operation.kind === "mutation") told.push(`${operation.name} was carried out: do not repeat it.`);
  if (hasValue) told.push('The other fields are in "data.value" of this error.');
  else told.push(...adviceFor(failures));
  if (hasValue && select !== undefined) told.push("Leave the failed fields out of the selection to get a value.");
  return {
    isError: true,
    content: [{ type: "text", text: told.join("\n") }],
    structuredContent: { value, errors },
  };
}

function adviceFor(failures: GraphqlFailure[]): string[] {
  const codes = new Set(failures.map(({ code }) => code?.toUpperCase()));
  if (codes.has("UNAUTHENTICATED") || codes.has("UNAUTHORIZED"))
    return ["The API needs a sign-in, or refuses the token that was sent."];
  if (codes.has("FORBIDDEN") || codes.has("INSUFFICIENT_SCOPES"))
    return ["The token that was sent does not have the rights for it."];
  if (codes.has("RATE_LIMITED") || codes.has("THROTTLED"))
    return ["The API received too many requests: wait, and make fewer calls at once."];
  return [];
}

/** Takes an added `PageInfo` out of the value, and says which call returns the next page. */
function taken(value: unknown, pages: ConnectionPages, { args, operation, select }: Asked): JsonObject {
  const info = valueAt(value, pages.info);
  if (pages.isAdded) {
    const around = valueAt(value, pages.info.slice(0, -1));
    if (isObject(around)) delete around[pages.info.at(-1) ?? ""];
  }
  const items = { [itemsKey]: stringsIn(pages.items) };
  if (!isObject(info)) return {};
  const { hasNextPage, endCursor } = info;
  // With `last`, the pages go backwards from the end.
  const isForwards = args["last"] === undefined || args["last"] === null || !("argument" in pages.next);
  if (hasNextPage !== true || typeof endCursor !== "string" || !isForwards) return items;
  const next: NextPage = { arguments: nextArguments(pages.next, { operation, select, cursor: endCursor }) };
  return { ...items, [nextPageKey]: next };
}

interface Continued {
  operation: GraphqlOperation;
  select: string | undefined;
  cursor: string;
}

function nextArguments(next: ConnectionPages["next"], { operation, select = "", cursor }: Continued): JsonObject {
  if ("argument" in next) return { [next.argument]: cursor };
  const { start, end, before, after } = next;
  const text = `${select.slice(0, start)}${before}${JSON.stringify(cursor)}${after}${select.slice(end)}`;
  return { [operation.select ?? ""]: text };
}
