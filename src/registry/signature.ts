/** Makes the signature of a tool: how to call it, with exact names and types. */

import type { JsonObject } from "../json-object.ts";
import { requiredArguments } from "./json-schema.ts";
import type { RegistryServer, RegistryTool } from "./model.ts";
import { shallow } from "./observed/shape.ts";
import { sampleArguments } from "./sample.ts";
import { shortened } from "./types/documentation.ts";
import { typeText } from "./types/one-line.ts";

type ServerNames = Pick<RegistryServer, "name" | "jsName">;

/** `demo.get_order`, or with brackets if a name is not an identifier: `servers["fs"].read`. */
function callPath(server: ServerNames, tool: RegistryTool): string {
  const object = server.jsName ?? `servers[${JSON.stringify(server.name)}]`;
  return tool.jsName ? `${object}.${tool.jsName}` : `${object}[${JSON.stringify(tool.name)}]`;
}

/** `demo.get_order(args: { order_id: string }): Promise<unknown>`. */
export function signature(server: ServerNames, tool: RegistryTool): string {
  const { inputSchema } = tool;
  const args = typeText(inputSchema, "arguments");
  const none =
    args === "Record<string, never>" || args === "Record<string, unknown>" || Object.keys(inputSchema).length === 0;
  const optional = needsNoArguments(inputSchema);
  return `${callPath(server, tool)}(${none ? "" : `args${optional ? "?" : ""}: ${args}`}): ${resultText(tool)}`;
}

/** If an observed type is longer, its deep parts are left out. */
const maxObservedChars = 400;

/** The type of the result, and the format of a text. */
function resultText(tool: RegistryTool): string {
  const format = tool.known?.text;
  return `${resultType(tool)}${format === undefined ? "" : ` /* ${format} */`}`;
}

/** The declared type, else the observed one, else that of a well-known server, else `unknown`. Data keys beside fields are not shown. */
function resultType({ outputSchema, observed, known }: RegistryTool): string {
  if (outputSchema) return `Promise<${typeText(outputSchema)}>`;
  if (!observed) return `Promise<${known?.type ?? "unknown"}>`;
  for (const depth of [6, 4, 3, 2, 1]) {
    const text = typeText(shallow(observed, depth, true));
    if (text.length <= maxObservedChars || depth === 1) return `Promise<${text}> /* observed */`;
  }
  return "Promise<unknown>";
}

/** Whether the schema accepts a call without arguments. */
export function needsNoArguments(schema: JsonObject): boolean {
  const combined = ["$ref", "allOf", "anyOf", "oneOf"].some((key) => key in schema);
  return !combined && requiredArguments(schema, schema).size === 0;
}

/** `await demo.get_order({ order_id: "order_id" })`. */
export function exampleCall(server: ServerNames, tool: RegistryTool): string {
  return `await ${callPath(server, tool)}(${sampleArguments(tool.inputSchema)})`;
}

/** The first sentence of a text, on one line, at most `limit` characters. */
export function firstSentence(text: string, limit = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs))[.!?](?= [^\p{Ll}]|$)/u.exec(line);
  const sentence = end ? line.slice(0, end.index + 1) : line;
  return shortened(sentence, limit);
}
