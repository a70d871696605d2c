/** The work on schemas, which strangers write, and on `select`. It is done in a worker: see `schema-worker.ts`. */

import { ClaudikinsError } from "../../base/errors.ts";
import { OffThread, TookTooLong } from "../../base/off-thread.ts";
import type { Asked } from "./answer.ts";
import type { GraphqlOperation, GraphqlRequest } from "./operation.ts";

/** Time to read a schema and to make its tools. The largest public ones take two seconds on a busy machine. */
const compileMs = 30_000;

/** Time to check `select`, and to read the schema again if the worker was idle. */
const selectMs = 20_000;

/** Time to read an answer, on a busy machine. */
const answerMs = 30_000;

/** The schema of an endpoint, as its worker gets it. */
export interface SchemaText {
  /** In SDL, or as the JSON of an introspection. */
  text: string;
  /** The folder for what was made of schemas. */
  cacheFolder: string;
}

export interface CompileJob extends SchemaText {
  kind: "compile";
  include: string[];
  exclude: string[];
}

/** A file with the schema, or its text if no file could be written. */
export type SchemaPlace = { file: string } | { text: string };

/** Asks for a type in GraphQL's schema language. */
export interface DescribeJob {
  kind: "describe";
  schema: SchemaPlace;
  type: string;
}

export interface SelectJob {
  kind: "select";
  schema: SchemaPlace;
  operation: GraphqlOperation;
  select: string;
}

/** Reads a large answer. */
export interface AnswerJob {
  kind: "answer";
  bytes: Uint8Array<ArrayBuffer>;
  /** An `Asked`, as JSON. */
  asked: string;
}

/** The parts of a result. Undefined if the answer is not GraphQL. */
export interface PackedResult {
  rest?: string | undefined;
  structured?: string | undefined;
  text?: string | undefined;
}

/** Flat, because Bun moves texts of flat objects between threads without a copy. */
export interface Compiled {
  /** A line of JSON for the problems, and one for each tool with its operation. */
  lines: string;
  /** The file with the schema. Undefined if it could not be written. */
  file: string | undefined;
}

/** One worker for all schemas: calls with `select` are quick once it has read them. */
const workers = new OffThread<CompileJob | SelectJob | DescribeJob, Compiled | { text: string }>(
  "./sources/graphql/schema-worker.ts",
  { maxWorkers: 1 },
);

/** Other workers, so that no schema delays an answer. */
const answerWorkers = new OffThread<AnswerJob, PackedResult>("./sources/graphql/schema-worker.ts");

/** The parts of the result of a large answer. Throws PROTOCOL_ERROR if it takes too long. */
export async function packedResult(bytes: Uint8Array<ArrayBuffer>, asked: Asked): Promise<PackedResult> {
  const job: AnswerJob = { kind: "answer", bytes, asked: JSON.stringify(asked) };
  try {
    return await answerWorkers.run(job, { limitMs: answerMs, transfer: [bytes.buffer] });
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw new ClaudikinsError("PROTOCOL_ERROR", "its answer takes too long to read", {
      hint: "Ask for fewer items or fields.",
    });
  }
}

/** Throws CONFIG_INVALID if the text is no schema. */
export async function compileSchema(job: Omit<CompileJob, "kind">): Promise<Compiled> {
  try {
    return (await workers.run({ kind: "compile", ...job }, { limitMs: compileMs })) as Compiled;
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw new ClaudikinsError("CONFIG_INVALID", `its schema takes more than ${compileMs / 1000} seconds to read`, {
      hint: 'Put the part that you need into a file, and name the file in "schema".',
    });
  }
}

/** Throws INVALID_ARGUMENTS if `select` does not fit the schema. */
export async function requestFor(job: Omit<SelectJob, "kind">): Promise<GraphqlRequest> {
  return JSON.parse(await answerTo({ kind: "select", ...job }, job.operation.select ?? "")) as GraphqlRequest;
}

/** The text of a type. Throws INVALID_ARGUMENTS if the schema does not have it. */
export function typeText(schema: SchemaPlace, type: string): Promise<string> {
  return answerTo({ kind: "describe", schema, type }, "type");
}

async function answerTo(job: SelectJob | DescribeJob, argument: string): Promise<string> {
  try {
    return ((await workers.run(job, { limitMs: selectMs })) as { text: string }).text;
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error;
    throw new ClaudikinsError("INVALID_ARGUMENTS", `${argument} takes too long to check: choose fewer fields`);
  }
}
