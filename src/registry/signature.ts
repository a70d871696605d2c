/** A tool as it is shown to whoever writes code: how to call it, with exact names and types. */

import type { RegistryTool } from "./model.ts";
import { toIdentifier } from "./names.ts";
import { sampleArguments } from "./sample.ts";
import { typeText } from "./type-text.ts";

/** `demo.get_order`, or with brackets where a name is no identifier. */
export function callPath(server: string, tool: Pick<RegistryTool, "name" | "jsName">): string {
  const serverName = toIdentifier(server);
  return tool.jsName ? `${serverName}.${tool.jsName}` : `${serverName}[${JSON.stringify(tool.name)}]`;
}

/** `demo.get_order(args: { order_id: string }): Promise<unknown>`. */
export function signature(server: string, tool: RegistryTool): string {
  const args = typeText(tool.inputSchema);
  const none = args === "{}" || args === "Record<string, unknown>" || args === "unknown";
  const optional = !Array.isArray(tool.inputSchema["required"]) || tool.inputSchema["required"].length === 0;
  const result = tool.outputSchema ? typeText(tool.outputSchema) : "unknown";
  return `${callPath(server, tool)}(${none ? "" : `args${optional ? "?" : ""}: ${args}`}): Promise<${result}>`;
}

/** `await demo.get_order({ order_id: "order_id" })`. */
export function exampleCall(server: string, tool: RegistryTool): string {
  return `await ${callPath(server, tool)}(${sampleArguments(tool.inputSchema)})`;
}

/** The first sentence of a text, on one line, at most `limit` characters. */
export function firstSentence(text: string, limit = 160): string {
  const line = text.replace(/\s+/g, " ").trim();
  const end = /[.!?](?=\s|$)/.exec(line);
  const sentence = end ? line.slice(0, end.index + 1) : line;
  return sentence.length > limit ? `${sentence.slice(0, limit - 1).trimEnd()}…` : sentence;
}
