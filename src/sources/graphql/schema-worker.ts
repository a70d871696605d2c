/** The worker thread that reads GraphQL schemas, makes their tools and checks `select`. */
import { join } from "node:path";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { buildClientSchema, buildSchema, type GraphQLSchema, type IntrospectionQuery, printType } from "graphql";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { parseExact } from "../../base/exact-json.ts";
import { makeFolder, readIfThere, writeWhenChanged } from "../../base/files.ts";
import { isObject } from "../../base/json-object.ts";
import { didYouMean } from "../../base/near-names.ts";
import { answerJobs } from "../../base/off-thread.ts";
import { sha256 } from "../../base/sha256.ts";
import { megabyte } from "../../base/units.ts";
import { matches } from "../../config/pattern.ts";
import { type Asked, answerIn } from "./answer.ts";
import type { AnswerJob, Compiled, CompileJob, DescribeJob, PackedResult, SchemaPlace, SelectJob } from "./jobs.ts";
import { requestWith } from "./select.ts";
import { graphqlApi } from "./tools.ts";
import { shortText } from "./types.ts";

declare const self: Worker;

/** Raised when the same schema would give other tools or requests. */
const formatNumber = 2;

/** Characters of a schema. The largest public ones have about 10 million as introspection. */
const maxSchemaChars = 48 * megabyte;

/** Tokens of a schema in SDL. */
const maxSchemaTokens = 6_000_000;

/** Characters of one type. The types of well-known APIs with the most fields have about 30,000. */
const maxTypeChars = 60_000;

/** Schemas that the worker remembers. Each may take a hundred megabytes. */
const maxKept = 4;

const kept = new Map<string, GraphQLSchema>();

type Job = CompileJob | SelectJob | DescribeJob | AnswerJob;

answerJobs<Job, Compiled | { text: string } | PackedResult>(self, (job) => {
  if (job.kind === "compile") return compile(job);
  if (job.kind === "answer") return packed(answerIn(job.bytes, parseExact(job.asked) as Asked));
  const schema = schemaFrom(job.schema);
  if (job.kind === "select") return { text: JSON.stringify(requestWith(schema, job.operation, job.select)) };
  return { text: described(schema, job.type) };
});

function compile({ text, cacheFolder, include, exclude }: CompileJob): Compiled {
  if (text.length > maxSchemaChars) throw invalid(`it has more than ${maxSchemaChars / megabyte} million characters`);
  const file = join(cacheFolder, `${sha256(text)}.schema`);
  const choice = sha256(JSON.stringify([formatNumber, include, exclude])).slice(0, 16);
  const cached = join(cacheFolder, `${sha256(text)}-${choice}.jsonl`);
  const known = readIfThere(cached);
  if (known !== undefined && readIfThere(file) === text) return { lines: known, file };
  const schema = schemaOf(text);
  const wanted = (tool: string) =>
    (include.length === 0 || include.some((pattern) => matches(pattern, tool))) &&
    !exclude.some((pattern) => matches(pattern, tool));
  const { tools, operations, problems } = graphqlApi(schema, wanted);
  const lines = [JSON.stringify(problems), ...tools.map((tool, at) => JSON.stringify([tool, operations[at]]))].join(
    "\n",
  );
  try {
    makeFolder(cacheFolder, 0o700);
    writeWhenChanged(file, text, undefined, 0o600);
    writeWhenChanged(cached, lines, undefined, 0o600);
    keep(file, schema);
    return { lines, file };
  } catch {
    // Without the files, the next start reads the schema again.
    return { lines, file: undefined };
  }
}

function packed(result: CallToolResult | undefined): PackedResult {
  if (!result) return {};
  const { structuredContent, content, ...rest } = result;
  const [block] = content;
  return {
    rest: JSON.stringify(rest),
    ...(structuredContent === undefined ? {} : { structured: JSON.stringify(structuredContent) }),
    ...(block?.type === "text" ? { text: block.text } : {}),
  };
}

/** A type in GraphQL's schema language. Throws INVALID_ARGUMENTS. */
function described(schema: GraphQLSchema, name: string): string {
  const type = schema.getType(name);
  if (type) return printType(type).slice(0, maxTypeChars);
  const names = Object.keys(schema.getTypeMap()).filter((each) => !each.startsWith("__"));
  throw new ClaudikinsError("INVALID_ARGUMENTS", `the schema has no type "${shortText(name, 80)}"`, {
    hint: didYouMean(name, names) ?? "Descriptions of tools name the types of their results.",
  });
}

function schemaFrom(from: SchemaPlace): GraphQLSchema {
  if ("text" in from) return schemaOf(from.text);
  const known = kept.get(from.file);
  if (known) return keep(from.file, known);
  const text = readIfThere(from.file);
  if (text === undefined) {
    throw new ClaudikinsError("FILE_NOT_FOUND", "the schema of this API is not in the cache any more", {
      hint: "Call the tool again.",
    });
  }
  return keep(from.file, schemaOf(text));
}

/** The one that was used last stands at the end. */
function keep(file: string, schema: GraphQLSchema): GraphQLSchema {
  kept.delete(file);
  kept.set(file, schema);
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  return schema;
}

function schemaOf(text: string): GraphQLSchema {
  try {
    // Checking the whole schema would take as long again, and an API with a mistake in one type can be used.
    if (!/^\s*\{/.test(text))
      return buildSchema(text, {
        assumeValid: true,
        assumeValidSDL: true,
        noLocation: true,
        maxTokens: maxSchemaTokens,
      });
    return buildClientSchema(introspectionIn(JSON.parse(text)), { assumeValid: true });
  } catch (error) {
    if (error instanceof ClaudikinsError) throw error;
    throw invalid(shortText(messageOf(error), 300));
  }
}

/** Files have the whole answer of the server, or its data alone. */
function introspectionIn(value: unknown): IntrospectionQuery {
  const data = isObject(value) && isObject(value["data"]) ? value["data"] : value;
  if (!isObject(data) || !isObject(data["__schema"])) throw invalid('the JSON has no "__schema"');
  return data as unknown as IntrospectionQuery;
}

function invalid(why: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `its schema cannot be read: ${why}`, {
    hint: "A schema is a text in GraphQL's schema language, or the JSON of an introspection.",
  });
}
