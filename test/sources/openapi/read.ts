/** Reads the documents of tests as `readApi` does, and finds one operation in the result. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@modelcontextprotocol/client";
import type { Api, Operation } from "../../../src/sources/openapi/api.ts";
import { type ReadApiOptions, readApi } from "../../../src/sources/openapi/api-in-worker.ts";

/** Writes the document into the folder and reads it. A text is written as it is. */
export function readDocument(folder: string, document: unknown, options: Partial<ReadApiOptions> = {}): Promise<Api> {
  const path = join(folder, "openapi.json");
  writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
  return read(path, folder, options);
}

export function read(document: string, folder: string, options: Partial<ReadApiOptions> = {}): Promise<Api> {
  return readApi({ document, cacheFolder: join(folder, "cache"), signal: new AbortController().signal, ...options });
}

/** A document with these paths, and more parts. */
export function documentOf(paths: object, more: object = {}): object {
  return {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1.2" },
    servers: [{ url: "https://api.example.com/v1" }],
    paths,
    ...more,
  };
}

export function operationOf(api: Api, name: string): { tool: Tool; operation: Operation } {
  const at = api.operations.findIndex((each) => each.name === name);
  const tool = api.tools[at];
  const operation = api.operations[at];
  if (!tool || !operation)
    throw new Error(`no operation ${name} in ${api.operations.map((each) => each.name).join(", ")}`);
  return { tool, operation };
}
