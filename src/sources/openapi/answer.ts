/** Makes the result of a call from the response of an API. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import { boundedBytes } from "../../base/bounded-body.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { parsedExact, parseExact } from "../../base/exact-json.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { LargeJson } from "../../base/large-json.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import { type HttpAnswer, httpKey, nextPageKey, type SourceFiles } from "../source.ts";
import type { Operation } from "./api.ts";
import { errorText } from "./api-error.ts";
import type { Credentials, Signing } from "./credentials.ts";
import { type PageOf, readAnswer } from "./json-answer.ts";

/** A JSON or text answer, as one message of a server. */
const maxTextBytes = 256 * megabyte;

/** A file that is written to the workspace. It is in memory meanwhile. */
const maxFileBytes = 256 * megabyte;

/** The body of an error, which is read only for the message. */
const maxErrorBytes = 65_536;

/** Text from here on stays JSON text on its way to the program. */
const largeTextChars = 131_072;

/** Headers of an answer that programs get. */
const maxHeaders = 60;

/** Characters of one header that programs get. */
const maxHeaderChars = 2_000;

export interface Answered {
  entry: string;
  operation: Operation;
  args: JsonObject;
  url: URL;
  response: Response;
  signing: Signing;
  credentials: Credentials;
  files: SourceFiles | undefined;
}

export async function resultOf(answered: Answered): Promise<CallToolResult> {
  const { response, operation } = answered;
  const _meta = { [httpKey]: httpAnswer(response) };
  if (response.status >= 400 || isUnfollowed(response)) return { ...(await errorResult(answered)), _meta };
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  const declared = declaredKind(operation, response.status);
  if (!response.body || response.status === 204 || response.status === 205 || operation.method === "HEAD") {
    await response.body?.cancel();
    return { content: [textBlock("null")], _meta };
  }
  if (isJson(type) || (type === "" && declared === "json")) {
    const bytes = await wholeBody(response, maxTextBytes);
    if (bytes.length === 0) return { content: [textBlock("null")], _meta };
    return jsonResult(bytes, answered, _meta);
  }
  if (isText(type) || (type === "" && declared !== "binary")) {
    const bytes = await wholeBody(response, maxTextBytes);
    if (bytes.length === 0) return { content: [textBlock("null")], _meta };
    return { content: textContent(decoderFor(response).decode(bytes)), _meta };
  }
  return { ...(await fileResult(answered, type)), _meta };
}

async function jsonResult(bytes: Uint8Array<ArrayBuffer>, answered: Answered, _meta: object): Promise<CallToolResult> {
  const answer = await readAnswer(bytes, pageOf(answered));
  if (answer.problem !== undefined && answer.text === "") {
    throw new ClaudikinsError("PROTOCOL_ERROR", `its answer ${answer.problem}`, { hint: "Ask for less in one call." });
  }
  const meta = { ..._meta, ...(answer.next ? { [nextPageKey]: { arguments: answer.next } } : {}) };
  // The body may not be the JSON that its media type promises. It is then a text.
  if (!answer.isObject) return { content: textContent(answer.text), _meta: meta };
  const isLarge = answer.text.length > largeTextChars;
  const structuredContent = (isLarge ? new LargeJson(answer.text) : parseExact(answer.text)) as JsonObject;
  return { content: textContent(answer.text), structuredContent, _meta: meta };
}

function pageOf({ operation, args, url, response }: Answered): PageOf {
  const { pages, parameters } = operation;
  if (!pages) return undefined;
  const link = response.headers.get("link") ?? undefined;
  return { pages, parameters, args, url: url.href, ...(link === undefined ? {} : { link }) };
}

async function fileResult({ response, files, url }: Answered, type: string): Promise<CallToolResult> {
  if (!files) {
    await response.body?.cancel();
    throw new ClaudikinsError("PROTOCOL_ERROR", `its answer is a file (${type}), and there is no workspace here`);
  }
  const bytes = await wholeBody(response, maxFileBytes);
  const file = await files.write(nameOf(response, url, type), bytes);
  const value = { file, mediaType: type || "application/octet-stream", bytes: bytes.length };
  return { content: [textBlock(JSON.stringify(value))], structuredContent: value };
}

async function errorResult({ entry, operation, response, signing, credentials }: Answered): Promise<CallToolResult> {
  const { status, statusText, headers } = response;
  const body = await beginning(response);
  const text = errorText({ entry, operation, status, statusText, headers, body, signing, credentials });
  return { isError: true, content: [textBlock(text)], structuredContent: { status, body: bodyValue(body) } };
}

/** The body of an error as programs get it: without a page for people. */
function bodyValue(body: string): unknown {
  const value = parsedExact(body);
  if (value !== undefined) return value;
  return body.trimStart().startsWith("<") || body === "" ? null : body;
}

/** A redirect without an address, or with one that is no address of the web. */
const isUnfollowed = ({ status }: Response) => status >= 300 && status < 400 && status !== 304;

const textBlock = (text: string) => ({ type: "text" as const, text });

function textContent(text: string): CallToolResult["content"] {
  if (text.length <= largeTextChars) return [textBlock(text)];
  return new LargeJson(undefined, text) as unknown as CallToolResult["content"];
}

export const isJson = (type: string) =>
  /[/+]json$|^application\/(?:x-)?(?:nd)?json/.test(type) && !/ndjson|jsonl|json-seq/.test(type);

const isText = (type: string) =>
  /^text\/|[/+](?:xml|yaml|x-yaml|csv|javascript|x-ndjson|ndjson|jsonl|json-seq|graphql|sql|x-www-form-urlencoded)$/.test(
    type,
  );

function declaredKind({ responses }: Operation, status: number) {
  return (responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses["default"])?.kind;
}

function decoderFor({ headers }: Response): TextDecoder {
  const charset = /charset="?([\w-]+)/i.exec(headers.get("content-type") ?? "")?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset as ConstructorParameters<typeof TextDecoder>[0]);
  } catch {
    return new TextDecoder();
  }
}

function wholeBody(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new ClaudikinsError("PROTOCOL_ERROR", `its answer has more than ${megabytes(maxBytes)}`, {
      hint: "Ask for less in one call.",
    });
  return boundedBytes(response, maxBytes, tooLarge);
}

/** The beginning of a body, without an error for the rest. */
async function beginning({ body }: Response): Promise<string> {
  if (!body) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString();
}

/** Cookies are credentials. */
const secretHeaders = new Set(["set-cookie", "set-cookie2", "authentication-info", "proxy-authenticate"]);

function httpAnswer({ status, headers }: Response): HttpAnswer {
  const shown = [...headers].filter(([name, value]) => !secretHeaders.has(name) && value.length <= maxHeaderChars);
  return { status, headers: Object.fromEntries(shown.slice(0, maxHeaders)) };
}

/** The name that the answer gives its file, or the last part of its address with the usual ending. */
function nameOf({ headers }: Response, url: URL, type: string): string {
  const disposition = headers.get("content-disposition") ?? "";
  const named = /filename\*?=(?:UTF-8'')?"?([^";]+)/i.exec(disposition)?.[1]?.split(/[\\/]/).at(-1);
  if (named) return named;
  const last = url.pathname.split("/").filter(Boolean).at(-1) ?? "file";
  const ending = type.split("/")[1]?.replace(/^x-|\+.*$/g, "") ?? "bin";
  return /\.\w{1,10}$/.test(last) ? last : `${last}.${ending === "octet-stream" ? "bin" : ending}`;
}
