/** Declares the types of one tool's arguments and result, for generated files. */
import type { RegistryTool } from "./model.ts";
import { resultSchema } from "./observed/result-schema.ts";
import { declareType, typeName } from "./types/declarations.ts";
import { comment, docComment } from "./types/documentation.ts";

export function typeNames({ name }: RegistryTool): { args: string; result: string } {
  const base = typeName(name);
  return { args: `${base}Arguments`, result: `${base}Result` };
}

/** The declarations of the types of a tool. */
export interface DeclaredTypes {
  args: string;
  result: string;
}

export function declaredTypes(tool: RegistryTool): DeclaredTypes {
  const { args, result } = typeNames(tool);
  const taken = new Set([args, result]);
  return { args: declaredArguments(tool, args, taken), result: declaredResult(tool, result, taken) };
}

function declaredArguments({ inputSchema }: RegistryTool, name: string, taken: Set<string>): string {
  const schema = Object.keys(inputSchema).length === 0 ? { type: "object" } : inputSchema;
  return declareType(schema, name, taken, "arguments").trimEnd();
}

/** The declared type, else the observed one, else the type of a well-known server, else `unknown`. */
function declaredResult(tool: RegistryTool, name: string, taken: Set<string>): string {
  const { outputSchema, observed, known } = tool;
  const format = known?.text === undefined ? "" : comment(known.text, "");
  if (outputSchema) {
    const description = docComment({ description: outputSchema["description"] }, "");
    return (description || format) + declareType(resultSchema(tool) ?? outputSchema, name, taken).trimEnd();
  }
  if (observed) return `/** observed: the shape of results so far */\n${declareType(observed, name, taken).trimEnd()}`;
  return `${format}export type ${name} = ${known?.type ?? "unknown"};`;
}
