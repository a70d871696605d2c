/** Explains an error of an API: its status, its own message, and what to do. */
import { waitText } from "../../base/duration.ts";
import { isObject, type JsonObject, parsedJson } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Operation } from "./api.ts";
import type { Credentials, Signing } from "./credentials.ts";

/** Characters of the API's own message. */
const maxMessageChars = 2_000;

/** Details that are listed: the fields with problems, in most APIs. */
const maxDetails = 20;

/** Levels in which a message is looked for. */
const maxMessageDepth = 4;

interface ApiError {
  /** The key of the entry in the config. */
  entry: string;
  operation: Operation;
  status: number;
  statusText: string;
  headers: Headers;
  /** The beginning of the body. */
  body: string;
  signing: Signing;
  credentials: Credentials;
}

/** The text for agents, in up to three lines. */
export function errorText(error: ApiError): string {
  const { operation, status, statusText, body } = error;
  const value = parsedJson(body);
  const own = messageIn(value) ?? (value === undefined ? plainMessage(body) : undefined);
  const text = own ?? operation.responses[String(status)]?.description ?? "";
  const said = text.trim().toLowerCase() === statusText.toLowerCase() ? "" : text;
  const details = detailsIn(value).filter((each) => !said.includes(each));
  const first = `${status}${statusText === "" ? "" : ` ${statusText}`}`;
  return [
    said === "" ? first : `${first}: ${oneLine(said, maxMessageChars)}`,
    ...(details.length === 0 ? [] : [`Details: ${details.join("; ")}`]),
    adviceFor(error),
  ]
    .filter(Boolean)
    .join("\n");
}

function adviceFor(error: ApiError): string {
  const { status, headers } = error;
  switch (status) {
    case 400:
    case 422:
      return "Correct the arguments, and call again.";
    case 401:
      return signInAdvice(error);
    case 403:
      return rightsAdvice(error);
    case 404:
      return "Check the names and ids in the arguments. Some APIs also say this for what the credentials may not see.";
    case 405:
      return "The API does not offer this operation at this address: its document may be for another version.";
    case 409:
      return "Something else has changed it or has the same name: read it again before the next attempt.";
    case 410:
      return "It does not exist any more.";
    case 412:
      return "It has changed since it was read: read it again before the next attempt.";
    case 413:
      return "Send less in one call.";
    case 429:
      return `The API limits how often it is called: ${waitAdvice(headers)}`;
    default:
      return status >= 500 ? `The API failed: ${waitAdvice(headers)}` : "";
  }
}

function signInAdvice({ entry, signing, credentials }: ApiError): string {
  const { missing, used, signsIn } = signing;
  if (signsIn) return `Sign in: claudikins auth login ${entry}`;
  if (used.length > 0) {
    return `The API refused the credentials for ${used.join(" and ")}: check "auth" of "${entry}" in the config.`;
  }
  if (missing.length === 0) return `Add credentials to "headers" of "${entry}" in the config.`;
  const ways = missing.map((name) => `"${name}": "\${…}"`);
  const kinds = missing.map((name) => `${name} is ${kindOf(name, credentials)}`);
  return `Add credentials to "${entry}" in the config: "auth": { ${ways.join(", ")} }. ${kinds.join(", ")}.`;
}

function kindOf(name: string, credentials: Credentials): string {
  const scheme = credentials.schemeOf(name);
  switch (scheme?.type) {
    case "apiKey":
      return `a key (${scheme.in} ${scheme.name})`;
    case "http":
      return scheme.scheme.toLowerCase() === "basic" ? '"user:password"' : `a token (${scheme.scheme})`;
    case "oauth2":
    case "openIdConnect":
      return "an access token of OAuth";
    case "mutualTLS":
      return "a client certificate, which claudikins does not support";
    default:
      return "unknown to the document";
  }
}

function rightsAdvice({ headers, operation, signing }: ApiError): string {
  const asked = /\bscope="([^"]{1,500})"/.exec(headers.get("www-authenticate") ?? "")?.[1];
  const named = headers.get("x-accepted-oauth-scopes") ?? undefined;
  const declared = operation.security.flatMap((each) =>
    Object.entries(each).flatMap(([name, scopes]) => (signing.used.includes(name) ? scopes : [])),
  );
  const scopes = oneLine(asked || named || declared.join(", "), maxMessageChars);
  const left = headers.get("x-ratelimit-remaining");
  if (left === "0") return `The API limits how often it is called: ${waitAdvice(headers)}`;
  return scopes === ""
    ? "The credentials are valid and may not do this."
    : `The credentials need these scopes: ${scopes}`;
}

function waitAdvice(headers: Headers): string {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(seconds)) return `call again in ${waitText(seconds * 1_000)}.`;
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN) * 1_000 - Date.now();
  return Number.isFinite(reset) && reset > 0 ? `call again in ${waitText(reset)}.` : "call again later.";
}

/** The keys under which APIs write a message, the most telling first. */
const messageKeys = [
  "message",
  "error_description",
  "detail",
  "error_message",
  "description",
  "title",
  "reason",
  "error",
];

/** The API's own message. */
function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === "string") return value.trim() || undefined;
  if (depth > maxMessageDepth) return undefined;
  if (Array.isArray(value)) {
    const parts = value.slice(0, maxDetails).flatMap((each) => messageIn(each, depth + 1) ?? []);
    return parts.length === 0 ? undefined : parts.join("; ");
  }
  if (!isObject(value)) return undefined;
  const isOf = (key: string) => Object.hasOwn(value, key);
  // An object with the details comes before a short code.
  if (isOf("error") && isObject(value["error"])) {
    const inner = messageIn(value["error"], depth + 1);
    if (inner !== undefined) return inner;
  }
  for (const key of messageKeys) {
    if (isOf(key) && typeof value[key] === "string" && value[key] !== "") return String(value[key]);
  }
  return isOf("errors") ? messageIn(value["errors"], depth + 1) : undefined;
}

/** The fields that the API complains about, as `name: message`, and messages without a field. */
function detailsIn(value: unknown): string[] {
  if (!isObject(value)) return [];
  const list = [value["errors"], value["detail"], value["violations"], value["invalid-params"], value["details"]].find(
    (each) => Array.isArray(each) || isObject(each),
  );
  const lines = Array.isArray(list)
    ? list.filter(isObject).map(detailLine)
    : Object.entries(Object(list) as JsonObject).map(([name, each]) => {
        const said = messageIn(each);
        return said === undefined ? undefined : `${name}: ${said}`;
      });
  return lines.flatMap((line) => (line === undefined ? [] : [oneLine(line, 300)])).slice(0, maxDetails);
}

function detailLine(problem: JsonObject): string | undefined {
  const { field, loc, path, pointer, param, name, propertyPath, source } = problem;
  const place = [
    field,
    loc,
    path,
    pointer,
    param,
    propertyPath,
    isObject(source) ? source["pointer"] : undefined,
    name,
  ].find((each) => typeof each === "string" || Array.isArray(each));
  const said = messageIn(problem) ?? (typeof problem["msg"] === "string" ? problem["msg"] : problem["code"]);
  if (place === undefined) return said === undefined ? undefined : String(said);
  return `${Array.isArray(place) ? place.join(".") : String(place)}${said === undefined ? "" : `: ${String(said)}`}`;
}

/** A text that is not a page for people. */
function plainMessage(body: string): string | undefined {
  const text = body.trim();
  return text === "" || text.startsWith("<") ? undefined : text;
}
