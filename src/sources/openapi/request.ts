/** Makes the request of a call: its address, headers and body, from the arguments. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { headerValue } from "../../config/address.ts";
import { type Multipart, multipart, type Part } from "../multipart.ts";
import type { SourceFiles } from "../source.ts";
import type { Body, BodyEncoding, Operation, Parameter } from "./api.ts";
import { inHeader, inPath, percentEncoded, plainText, queryParts } from "./serialize.ts";

export interface ApiRequest {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | Blob | Uint8Array<ArrayBuffer> | undefined;
}

/** Throws INVALID_ARGUMENTS for arguments that cannot be sent. `base` is the address of the API. */
export async function requestOf(
  operation: Operation,
  args: JsonObject,
  base: string,
  files: SourceFiles | undefined,
): Promise<ApiRequest> {
  const headers = new Headers({ accept: acceptOf(operation) });
  const query: string[] = [];
  const cookies: string[] = [];
  const template = pathTemplate(operation.path);
  let { path } = template;
  for (const parameter of operation.parameters) {
    const value = args[parameter.argument] ?? parameter.constant;
    if (value === undefined || value === null) {
      if (parameter.in === "path") throw invalid(parameter.argument, "is missing: it is a part of the address");
      continue;
    }
    const written = { ...parameter, style: parameter.style, explode: parameter.explode };
    const shown = parameter.mediaType === undefined ? value : documentText(value, parameter.mediaType);
    if (parameter.in === "path") path = path.replaceAll(`{${parameter.name}}`, () => pathText(shown, parameter));
    else if (parameter.in === "query") query.push(...queryParts(shown, written));
    else if (parameter.in === "querystring") query.push(...wholeQuery(value, parameter));
    else if (parameter.in === "cookie") cookies.push(...queryParts(shown, { ...written, style: "form" }));
    else setHeader(headers, parameter, inHeader(shown, written));
  }
  if (path !== template.path && path.split("/").some((each) => /^(?:\.|%2e){1,2}$/i.test(each))) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", 'The arguments make a step "." or ".." in the address');
  }
  if (cookies.length > 0) headers.set("cookie", cookies.join("; "));
  const { body } = operation;
  const sent = body && (await bodyOf(body, bodyValue(body, operation.parameters, args), files));
  if (sent) headers.set("content-type", sent.mediaType);
  return {
    method: operation.method,
    url: addressOf(base, path, [...fixedQuery(template, operation), ...query]),
    headers: Object.fromEntries(headers),
    ...(sent ? { body: sent.body } : {}),
  };
}

function acceptOf({ responses }: Operation): string {
  const hasJson = Object.values(responses).some(({ kind }) => kind === "json");
  return hasJson ? "application/json, */*;q=0.8" : "*/*";
}

/** The pairs of the path that no parameter stands for. */
function fixedQuery({ query }: PathTemplate, { parameters }: Operation): string[] {
  const isGiven = (name: string) => parameters.some((parameter) => parameter.in === "query" && parameter.name === name);
  return query.flatMap(({ name, text, placeholder }) =>
    placeholder !== undefined || isGiven(name) ? [] : [`${name}=${text}`],
  );
}

function addressOf(base: string, path: string, query: string[]): URL {
  const url = new URL(base);
  url.hash = "";
  const own = url.search.replace(/^\?/, "");
  url.search = "";
  const made = new URL(`${url.href.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`);
  made.search = [own, ...query].filter(Boolean).join("&");
  return made;
}

/** An empty value would reach another operation. */
function pathText(value: unknown, parameter: Parameter): string {
  const text = inPath(value, parameter);
  if (text === "") throw invalid(parameter.argument, "must not be empty: it is a part of the address");
  return text;
}

function documentText(value: unknown, mediaType: string): string {
  return typeof value === "string" && !isJson(mediaType) ? value : JSON.stringify(value);
}

const isJson = (mediaType: string) => /[/+]json\b/i.test(mediaType);

/** The whole query is one value (OpenAPI 3.2). */
function wholeQuery(value: unknown, { mediaType = "" }: Parameter): string[] {
  if (typeof value === "string") return [value.replace(/^\?/, "")];
  if (isJson(mediaType)) return [percentEncoded(JSON.stringify(value))];
  return queryParts(value, { name: "", style: "form", explode: true });
}

function setHeader(headers: Headers, { name, argument }: Parameter, text: string): void {
  try {
    if (!headerValue.test(text)) throw new TypeError();
    headers.set(name, text);
  } catch {
    throw invalid(argument, "has characters that a header cannot have");
  }
}

/** Undefined if the call has no body. */
function bodyValue(body: Body, parameters: readonly Parameter[], args: JsonObject): unknown {
  if (!body.fields) return body.argument === undefined ? undefined : args[body.argument];
  const taken = new Set(parameters.map(({ argument }) => argument));
  // Arguments that the document does not name are fields of the body: it may allow any.
  const fields = Object.entries(args).flatMap(([argument, value]) =>
    taken.has(argument) || value === undefined ? [] : [[body.fields?.[argument] ?? argument, value] as const],
  );
  return fields.length === 0 && !body.isRequired ? undefined : Object.fromEntries(fields);
}

interface Sent {
  mediaType: string;
  body: string | Blob | Uint8Array<ArrayBuffer>;
}

async function bodyOf(body: Body, value: unknown, files: SourceFiles | undefined): Promise<Sent | undefined> {
  if (value === undefined) {
    if (!body.isRequired || body.argument === undefined) return undefined;
    throw invalid(body.argument, "is missing");
  }
  const { mediaType, kind, encoding = {} } = body;
  if (kind === "multipart") return await formOfParts(value, mediaType, encoding, files);
  if (kind === "binary") return { mediaType, body: await fileOf(value, body.argument ?? "body", files) };
  if (kind === "json") return { mediaType, body: JSON.stringify(value) };
  return { mediaType, body: kind === "form" ? formText(value, encoding) : plainText(value) };
}

type Encodings = Record<string, BodyEncoding>;

const fieldsOf = (value: unknown): [string, unknown][] =>
  Object.entries(Object(value) as object).filter(([, each]) => each !== undefined && each !== null);

function formText(value: unknown, encodings: Encodings): string {
  if (typeof value === "string") return value;
  const parts = fieldsOf(value).flatMap(([name, each]) => {
    const { style, explode, mediaType } = (Object.hasOwn(encodings, name) && encodings[name]) || {};
    const isDocument = style === undefined && (mediaType !== undefined ? isJson(mediaType) : isNested(each));
    const shown = isDocument ? JSON.stringify(each) : each;
    return queryParts(shown, { name, style: style ?? "form", explode: explode ?? (style ?? "form") === "form" });
  });
  // Forms write spaces as a plus sign.
  return parts.map((part) => part.replaceAll("%20", "+")).join("&");
}

const isNested = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

async function formOfParts(
  value: unknown,
  mediaType: string,
  encodings: Encodings,
  files: SourceFiles | undefined,
): Promise<Multipart> {
  const parts: Part[] = [];
  for (const [name, each] of fieldsOf(value)) {
    const { mediaType: declared, isFile = false } = (Object.hasOwn(encodings, name) && encodings[name]) || {};
    const one = declared === undefined || /[*,]/.test(declared) ? undefined : declared;
    for (const item of Array.isArray(each) ? each : [each]) {
      if (isFile) {
        const content = await fileOf(item, name, files);
        parts.push({ name, fileName: fileName(String(item)), mediaType: one ?? "application/octet-stream", content });
      } else if (isNested(item) || (one !== undefined && isJson(one))) {
        parts.push({ name, mediaType: one ?? "application/json", content: JSON.stringify(item) });
      } else parts.push({ name, mediaType: one, content: plainText(item) });
    }
  }
  return multipart(parts, mediaType.replace(/;.*/, ""));
}

const fileName = (path: string) => path.split("/").at(-1) || "file";

async function fileOf(
  path: unknown,
  argument: string,
  files: SourceFiles | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (typeof path !== "string" || path === "") throw invalid(argument, "must be the path of a file in the workspace");
  if (!files) throw invalid(argument, "is a file, and there is no workspace here");
  return files.read(path);
}

function invalid(argument: string, problem: string): ClaudikinsError {
  return new ClaudikinsError("INVALID_ARGUMENTS", `The argument "${argument}" ${problem}`);
}

/** The path of an operation. Some documents write a query or a fragment into it, which tell operations with the same address apart. */
export interface PathTemplate {
  /** With placeholders, such as `/repos/{owner}`. */
  path: string;
  /** The query: texts, or the name of a placeholder. */
  query: { name: string; text: string; placeholder?: string | undefined }[];
}

export function pathTemplate(text: string): PathTemplate {
  // A placeholder may have any characters.
  const [, path = "", query = ""] = /^((?:\{[^{}]*\}|[^?#])*)(?:\?((?:\{[^{}]*\}|[^#])*))?/.exec(text) ?? [];
  const pairs = query.split("&").filter(Boolean);
  return {
    path,
    query: pairs.map((pair) => {
      const [name = "", value = ""] = pair.split(/=(.*)/s);
      return { name, text: value, placeholder: /^\{([^{}]+)\}$/.exec(value)?.[1] };
    }),
  };
}

export const placeholdersIn = (path: string): string[] =>
  Array.from(path.matchAll(/\{([^{}]+)\}/g), ([, name]) => name!);
