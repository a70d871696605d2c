/**
 * Definitions as hosts can take them. Most hosts check a list as a whole: one thing in it that is not as the protocol says
 * hides all others, of all servers. What is right passes unchanged.
 */
import { PromptSchema, ResourceSchema, ResourceTemplateSchema, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import { isObject, type JsonObject } from "../../json-object.ts";

/** Undefined for what nothing can be made of. */
export type Usable = (definition: JsonObject) => JsonObject | undefined;

export const usableTool: Usable = (tool) => {
  const usable = checked(ToolSchema, tool);
  if (usable) return usable;
  const { outputSchema, ...rest } = tool;
  return checked(ToolSchema, {
    ...rest,
    inputSchema: objectSchema(tool["inputSchema"]),
    ...(isObject(outputSchema) && outputSchema["type"] === "object"
      ? { outputSchema: objectSchema(outputSchema) }
      : {}),
  });
};
export const usablePrompt: Usable = (prompt) => checked(PromptSchema, prompt);
export const usableResource: Usable = (resource) => checked(ResourceSchema, withName(resource, "uri"));
export const usableTemplate: Usable = (template) => checked(ResourceTemplateSchema, withName(template, "uriTemplate"));

/** Where it has none, its address says what it is. */
function withName(definition: JsonObject, address: string): JsonObject {
  return typeof definition["name"] === "string" ? definition : { ...definition, name: definition[address] };
}

/** The same; or without what is wrong, where it can be left out. */
function checked(schema: z.ZodType, definition: JsonObject): JsonObject | undefined {
  const { success, error } = schema.safeParse(definition);
  if (success) return definition;
  const wrong = new Set(error.issues.map(({ path }) => path[0]));
  const rest = Object.fromEntries(Object.entries(definition).filter(([key]) => !wrong.has(key)));
  return schema.safeParse(rest).success ? rest : undefined;
}

/** A schema of objects: what it says otherwise stays, where it can be understood. */
function objectSchema(schema: unknown): JsonObject {
  const { properties, required, ...rest } = isObject(schema) ? schema : {};
  // A schema may be true or false as well, which few hosts know.
  const asObject = (property: unknown) => (isObject(property) ? property : property === false ? { not: {} } : {});
  const entries = isObject(properties) ? Object.entries(properties).map(([key, each]) => [key, asObject(each)]) : [];
  return {
    ...rest,
    type: "object",
    ...(isObject(properties) ? { properties: Object.fromEntries(entries) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((key) => typeof key === "string") } : {}),
  };
}
