/** Jobs that may take long and run in a worker thread: making the registry's files, and showing large JSON. */
import { indentedJson, type JsonObject } from "../../base/json-object.ts";
import { checkArguments, isSound } from "../arguments/check-arguments.ts";
import type { RegistryServer } from "../model.ts";
import { type GivenWords, givenBy, type Observed, shapeOfText } from "../observed/observe.ts";
import { rewriteTools, updateIndex, type Written, writeServer } from "../registry/store.ts";
import { keepPrepared, listedTools, preparedIn } from "../search/prepared-index.ts";

/** Parsed schemas that a worker keeps. Beyond it, all are dropped. */
const maxKeptSchemas = 200;

/** Values are passed as JSON text, because cloning objects takes far longer than parsing. */
export interface Jobs {
  /** Checks arguments against a tool's schema, and returns the problems. */
  arguments: { input: { schema: string; args: string }; output: string[] };
  /** Says whether a tool's schema is valid. */
  soundness: { input: { schema: string }; output: boolean };
  /** Prepares the search of all tools. Returns a `Prepared` as JSON and keeps it in the folder. */
  search: { input: { folder: string; servers: string[] }; output: string };
  /** Prepares the search of all tools, and only keeps it in the folder. */
  "search file": { input: { folder: string; servers: string[] }; output: undefined };
  /** Writes the generated files of one server. */
  files: { input: { folder: string; server: string; before: string | undefined }; output: Written };
  /** Writes the types of some tools of a server again. `names` are the names of all of its tools. */
  tools: { input: { folder: string; server: string; names: string[] }; output: undefined };
  /** Observes the shape of a result, which is JSON or text. */
  shape: { input: { text: string; given: GivenWords }; output: Observed | undefined };
  /** Indents a JSON text, for a person to read. */
  indented: { input: { json: string }; output: string };
  /** Writes changes into the index. */
  index: { input: { folder: string; names: string[]; ours: string[] }; output: undefined };
}

export type Job<Work extends keyof Jobs = keyof Jobs> = { [Each in Work]: { work: Each } & Jobs[Each]["input"] }[Work];
export type JobOutput = Jobs[keyof Jobs]["output"];

export function doJob(job: Job): JobOutput | Promise<JobOutput> {
  switch (job.work) {
    case "arguments":
      return checkArguments(schemaOf(job.schema), JSON.parse(job.args) as JsonObject);
    case "soundness":
      return isSound(schemaOf(job.schema));
    case "search":
      return JSON.stringify(preparedIn(job.folder, listedTools(job.servers.map(serverOf))));
    case "search file":
      return void keepPrepared(job.folder, listedTools(job.servers.map(serverOf)));
    case "files":
      return writeServer(job.folder, serverOf(job.server), job.before === undefined ? undefined : serverOf(job.before));
    case "tools":
      return void rewriteTools(job.folder, serverOf(job.server), job.names);
    case "shape":
      return shapeOfText(job.text, givenBy(job.given));
    case "indented":
      return indentedJson(job.json);
    case "index":
      return void updateIndex(job.folder, job.names, job.ours.map(serverOf));
  }
}

const serverOf = (json: string) => JSON.parse(json) as RegistryServer;

/** Schemas by their text, because compiled validators are kept by schema object. */
const schemas = new Map<string, JsonObject>();

function schemaOf(json: string): JsonObject {
  let schema = schemas.get(json);
  if (!schema) {
    if (schemas.size >= maxKeptSchemas) schemas.clear();
    schema = JSON.parse(json) as JsonObject;
    schemas.set(json, schema);
  }
  return schema;
}
