/** A GraphQL endpoint as a source of tools. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import { getIntrospectionQuery } from "graphql/utilities/getIntrospectionQuery.js";
import { boundedText } from "../../base/bounded-body.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { parsedExact } from "../../base/exact-json.ts";
import { isObject, type JsonObject, parsedJson, valueAt } from "../../base/json-object.ts";
import { megabyte } from "../../base/units.ts";
import { version } from "../../base/version.ts";
import type { Source } from "../source.ts";
import { resultOf } from "./answer.ts";
import { compileSchema, requestFor, type SchemaPlace, typeText } from "./jobs.ts";
import type { GraphqlOperation, GraphqlRequest } from "./operation.ts";
import { shortText } from "./types.ts";

/** One answer of the API. */
const maxAnswerBytes = 64 * megabyte;

/** The introspection of a schema. The largest public ones have about 10 MB. */
const maxIntrospectionBytes = 48 * megabyte;

/** Requests for texts in `select` that are remembered. */
const maxKeptRequests = 200;

export interface GraphqlOptions {
  /** Sends a request to the endpoint, with the credentials of the entry. */
  send: (request: GraphqlHttpRequest, signal: AbortSignal) => Promise<Response>;
  /** The text of the schema, if the endpoint does not tell it: SDL, or the JSON of an introspection. */
  schema?: string | undefined;
  /** Patterns of names of tools. Without any, all are included. */
  include?: string[] | undefined;
  exclude?: string[] | undefined;
  cacheFolder: string;
  signal: AbortSignal;
}

export interface GraphqlHttpRequest {
  method: "POST";
  headers: Record<string, string>;
  body: string;
  /** Whether the request changes nothing, so that it can be sent again. */
  isRepeatable: boolean;
}

/** Throws CONFIG_INVALID if there is no schema that can be used, and what `send` throws. */
export async function openGraphql(options: GraphqlOptions): Promise<Source> {
  const text = options.schema ?? (await introspect(options));
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
async function introspect({ send, signal }: GraphqlOptions): Promise<string> {
  const newer = { specifiedByUrl: true, inputValueDeprecation: true, oneOf: true };
  let why = "";
  for (const query of [getIntrospectionQuery(newer), getIntrospectionQuery()]) {
    const request = {
      method: "POST",
      headers,
      body: JSON.stringify({ query, operationName: "IntrospectionQuery" }),
      isRepeatable: true,
    } as const;
    const response = await send(request, signal);
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

  async call(tool: string, args: JsonObject, signal: AbortSignal): Promise<CallToolResult> {
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
    const body = JSON.stringify({ query: request.document, variables: variablesOf(operation, args) });
    const isRepeatable = operation.kind === "query";
    const response = await this.#options.send({ method: "POST", headers, body, isRepeatable }, signal);
    const text = await boundedText(response, maxAnswerBytes, () => {
      const what = `the answer has more than ${maxAnswerBytes / megabyte} MB: ask for fewer items or fields`;
      return new ClaudikinsError("TOOL_FAILED", what);
    });
    const result = resultOf(parsedExact(text), { operation, request, args, select });
    if (result && (response.ok || result.isError === true)) return result;
    return { isError: true, ...textResult(`The API answered with HTTP ${response.status}: ${shortText(text, 600)}`) };
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

/** A variable without a value is left out, so that it has its default. */
function variablesOf({ variables, first }: GraphqlOperation, args: JsonObject): JsonObject {
  const given = variables.filter((name) => Object.hasOwn(args, name)).map((name) => [name, args[name]]);
  const isUnbounded = first !== undefined && (args["first"] ?? args["last"]) === undefined;
  return Object.fromEntries([...given, ...(isUnbounded ? [["first", first]] : [])]);
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
