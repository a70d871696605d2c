/** A GraphQL endpoint as a source of tools. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { getIntrospectionQuery } from "graphql/utilities/getIntrospectionQuery.js";
import { boundedBytes, boundedText } from "../../base/bounded-body.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { isObject, type JsonObject, parsedJson, valueAt } from "../../base/json-object.ts";
import { LargeJson } from "../../base/large-json.ts";
import { megabyte } from "../../base/units.ts";
import { version } from "../../base/version.ts";
import { isWebAddress } from "../../config/sources.ts";
import type { Send, Source, SourceCall, SourceFiles } from "../source.ts";
import { type Asked, answerIn } from "./answer.ts";
import { compileSchema, packedResult, requestFor, type SchemaPlace, typeText } from "./jobs.ts";
import type { GraphqlOperation, GraphqlRequest } from "./operation.ts";
import { shortText } from "./types.ts";
import { uploadBody } from "./uploads.ts";

/** Larger answers are read in a worker. An answer of this size takes at most 3 ms, as much as the use of a worker. */
const maxInlineBytes = 131_072;

/** The beginning of an answer that is not GraphQL, for the error. */
const maxRefusalBytes = 4_000;

/** One answer of the API. */
const maxAnswerBytes = 64 * megabyte;

/** The introspection of a schema. The largest public ones have about 10 MB. */
const maxIntrospectionBytes = 48 * megabyte;

/** Requests for texts in `select` that are remembered. */
const maxKeptRequests = 200;

export interface GraphqlOptions {
  /** The key of the entry in the config. */
  entry: string;
  /** The endpoint. */
  url: URL;
  /** Sends requests to the endpoint, with the credentials of the entry. */
  send: Send;
  /** Whether the user can sign in to the API. */
  signsIn: boolean;
  /** The path or the address of the schema, if the endpoint does not tell it. */
  schema?: string | undefined;
  /** Sends the request for the schema, if it has an address. */
  sendForSchema?: Send | undefined;
  /** Patterns of names of tools. Without any, all are included. */
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  cacheFolder: string;
  files?: SourceFiles | undefined;
  signal: AbortSignal;
}

/** Throws CONFIG_INVALID if there is no schema that can be used, and what `send` throws. */
export async function openGraphql(options: GraphqlOptions): Promise<Source> {
  const text = options.schema === undefined ? await introspect(options) : await schemaText(options.schema, options);
  const { include = [], exclude = [], cacheFolder } = options;
  const { lines, file } = await compileSchema({ text, cacheFolder, include, exclude });
  const tools = new Map<string, { tool: Tool; operation: GraphqlOperation }>();
  let isFirst = true;
  for (const line of lines.split("\n")) {
    if (!hasTurnTime()) await eventLoopTurn();
    if (isFirst) isFirst = false;
    else {
      const [tool, operation] = JSON.parse(line) as [Tool, GraphqlOperation];
      tools.set(tool.name, { tool, operation });
    }
  }
  return new GraphqlSource(options, tools, file === undefined ? { text } : { file });
}

const headers = {
  "content-type": "application/json",
  accept: "application/graphql-response+json, application/json;q=0.9",
};

/** Old servers refuse a question with the newer fields, so a second one has none of them. */
async function introspect({ entry, url, send, signsIn, signal }: GraphqlOptions): Promise<string> {
  const newer = { specifiedByUrl: true, inputValueDeprecation: true, oneOf: true };
  let why = "";
  for (const query of [getIntrospectionQuery(newer), getIntrospectionQuery()]) {
    const body = JSON.stringify({ query, operationName: "IntrospectionQuery" });
    const response = await send({ method: "POST", url, headers, body, isRead: true, signsIn }, signal);
    if (response.status === 401 || response.status === 403) {
      await response.body?.cancel();
      throw new ClaudikinsError("AUTH_REQUIRED", `the endpoint needs credentials (HTTP ${response.status})`, {
        hint: signInHint(entry),
      });
    }
    const tooLarge = () => noSchema(`the introspection has more than ${maxIntrospectionBytes / megabyte} MB`);
    const text = await boundedText(response, maxIntrospectionBytes, tooLarge);
    // Reading the whole answer is the worker's part.
    if (response.ok && text.slice(0, 2_000).includes('"__schema"')) return text;
    const answer = text.length < megabyte ? parsedJson(text) : undefined;
    const [error] = isObject(answer) && Array.isArray(answer["errors"]) ? answer["errors"] : [];
    const message = valueAt(error, ["message"]);
    why =
      typeof message === "string"
        ? `it answers: ${shortText(message, 300)}`
        : `it does not answer as GraphQL does (HTTP ${response.status})`;
  }
  throw noSchema(why);
}

/** A file of the user, or the answer of an address that the user has written. */
async function schemaText(schema: string, { send, sendForSchema = send, signal }: GraphqlOptions): Promise<string> {
  const invalid = (why: string) =>
    new ClaudikinsError("CONFIG_INVALID", `its schema cannot be read: ${why}`, {
      hint: 'Correct "schema" in its entry.',
    });
  const tooLarge = () => invalid(`it has more than ${maxIntrospectionBytes / megabyte} MB`);
  if (!isWebAddress(schema)) {
    const file = Bun.file(schema);
    if (!(await file.exists())) throw invalid(`there is no file ${schema}`);
    if (file.size > maxIntrospectionBytes) throw tooLarge();
    return (await file.text()).replace(/^\uFEFF/, "");
  }
  const response = await sendForSchema({ method: "GET", url: new URL(schema), headers: { accept: "*/*" } }, signal);
  if (response.ok) return boundedText(response, maxIntrospectionBytes, tooLarge);
  await response.body?.cancel();
  throw invalid(`its address answered with HTTP ${response.status}`);
}

function signInHint(entry: string): string {
  return `Sign in with claudikins auth login ${entry}, or write a token into its entry: "auth": "\${TOKEN}".`;
}

function noSchema(why: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `the endpoint does not tell its schema: ${why}`, {
    hint: 'Correct "graphql", or name a file with the schema in "schema".',
  });
}

type KnownTools = ReadonlyMap<string, { tool: Tool; operation: GraphqlOperation }>;

class GraphqlSource implements Source {
  readonly info = { name: "graphql", version };
  readonly instructions: string;
  readonly tools: Tool[];
  readonly #options: GraphqlOptions;
  readonly #known: KnownTools;
  readonly #schema: SchemaPlace;
  readonly #requests = new Map<string, GraphqlRequest>();
  /** The name of the tool that describes types. */
  readonly #describer: string;

  constructor(options: GraphqlOptions, known: KnownTools, schema: SchemaPlace) {
    this.#options = options;
    this.#known = known;
    this.#schema = schema;
    this.#describer = known.has("describe_type") ? "describe_graphql_type" : "describe_type";
    this.tools = [...[...known.values()].map(({ tool }) => tool), describerTool(this.#describer)];
    this.instructions = `A GraphQL API. "select" chooses the fields of a result, such as select: "id name owner { id }"; without it, a result has plain fields and one level of objects. ${this.#describer} shows the fields of a type.`;
  }

  async call(tool: string, args: JsonObject, { signal }: SourceCall): Promise<CallToolResult> {
    try {
      const known = this.#known.get(tool);
      if (known) return await this.#made(known.operation, args, signal);
      const { type } = args;
      if (tool === this.#describer && typeof type === "string") return textResult(await typeText(this.#schema, type));
      return { isError: true, ...textResult(`There is no tool ${shortText(tool, 100)}`) };
    } catch (error) {
      // A program can correct these, and the text is all that it gets of a failed call.
      if (!(error instanceof ClaudikinsError) || error.code !== "INVALID_ARGUMENTS") throw error;
      return { isError: true, ...textResult([error.message, error.hint].filter(Boolean).join(". ")) };
    }
  }

  async #made(operation: GraphqlOperation, args: JsonObject, signal: AbortSignal): Promise<CallToolResult> {
    const chosen = operation.select === undefined ? undefined : args[operation.select];
    const select = typeof chosen === "string" && chosen.trim() !== "" ? chosen : undefined;
    const request = select === undefined ? operation.request : await this.#requestWith(operation, select);
    const isRead = operation.kind === "query";
    const { entry, url, send, signsIn } = this.#options;
    const sent = await this.#bodyOf(request.document, operation, variablesOf(operation, args));
    const response = await send({ method: "POST", url, ...sent, isRead, signsIn }, signal);
    const bytes = await wholeBody(response);
    const result = await resultIn(bytes, { operation, request, args, select });
    if (result && (response.ok || result.isError === true)) return result;
    return {
      isError: true,
      ...textResult(refusalText(response, new TextDecoder().decode(bytes.subarray(0, maxRefusalBytes)), entry)),
    };
  }

  async #bodyOf(query: string, { uploads }: GraphqlOperation, variables: JsonObject) {
    if (uploads) {
      const form = await uploadBody(query, variables, uploads, this.#options.files);
      // Servers that refuse forms of other sites ask for a header of this kind.
      const own = { accept: headers.accept, "apollo-require-preflight": "true" };
      if (form) return { headers: { ...own, "content-type": form.mediaType }, body: form.body };
    }
    return { headers, body: JSON.stringify({ query, variables }) };
  }

  async #requestWith(operation: GraphqlOperation, select: string): Promise<GraphqlRequest> {
    const key = `${operation.name} ${select}`;
    const known = this.#requests.get(key) ?? (await requestFor({ schema: this.#schema, operation, select }));
    this.#requests.delete(key);
    this.#requests.set(key, known);
    const [oldest] = this.#requests.keys();
    if (this.#requests.size > maxKeptRequests && oldest !== undefined) this.#requests.delete(oldest);
    return known;
  }

  async close(): Promise<void> {
    this.#requests.clear();
  }
}

function wholeBody(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = () =>
    new ClaudikinsError("PROTOCOL_ERROR", `its answer has more than ${maxAnswerBytes / megabyte} MB`, {
      hint: "Ask for fewer items or fields.",
    });
  return boundedBytes(response, maxAnswerBytes, tooLarge);
}

/** A large answer stays JSON text on its way to the program. Its bytes are moved to a worker, except those of a refusal. */
async function resultIn(bytes: Uint8Array<ArrayBuffer>, asked: Asked): Promise<CallToolResult | undefined> {
  if (bytes.length <= maxInlineBytes) return answerIn(bytes, asked);
  const { rest, structured, text } = await packedResult(bytes, asked);
  if (rest === undefined) return undefined;
  return {
    ...(JSON.parse(rest) as object),
    content: text === undefined ? [] : (new LargeJson(undefined, text) as unknown as CallToolResult["content"]),
    ...(structured === undefined ? {} : { structuredContent: new LargeJson(structured) as unknown as JsonObject }),
  };
}

/** A variable without a value is left out, so that it has its default. */
function variablesOf({ variables, first }: GraphqlOperation, args: JsonObject): JsonObject {
  const given = variables.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name]]);
  const isUnbounded = first !== undefined && (args["first"] ?? args["last"]) === undefined;
  return Object.fromEntries([...given, ...(isUnbounded ? [["first", first]] : [])]);
}

/** An answer that is not GraphQL: of a gateway, or of a sign-in. */
function refusalText({ status, headers: own }: Response, text: string, entry: string): string {
  const type = own.get("content-type") ?? "";
  const said = /html/i.test(type) || text.trim() === "" ? "" : `: ${shortText(text, 600)}`;
  const after = own.get("retry-after");
  const advice =
    status === 401 || status === 403
      ? ` ${signInHint(entry)}`
      : status === 429
        ? ` Wait ${after === null ? "a moment" : `until it allows the next request (Retry-After: ${shortText(after, 60)})`}, and make fewer calls at once.`
        : "";
  return `The API answered with HTTP ${status}${said}.${advice}`;
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function describerTool(name: string): Tool {
  return {
    name,
    description: "Shows a type of the GraphQL schema, with its fields and their arguments. Use it to write a `select`.",
    inputSchema: {
      type: "object",
      properties: {
        type: { type: "string", description: "The name of the type, such as the one that a tool returns." },
      },
      required: ["type"],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}
