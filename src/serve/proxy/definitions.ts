/**
 * Makes definitions valid for agents. Most agents validate a list as a whole, so one invalid definition would hide the definitions of all
 * servers. Valid definitions pass unchanged.
 */
import { PromptSchema, ResourceSchema, ResourceTemplateSchema } from "@modelcontextprotocol/core";
import type { z } from "zod";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { toolSchema } from "../../servers/connection/definition-schema.ts";

/** Undefined if the definition cannot be made valid. */
export type Usable = (definition: JsonObject) => JsonObject | undefined;

export const usableTool: Usable = (tool) => {
  const usable = checked(toolSchema, tool);
  if (usable) return usable;
  const { outputSchema, ...rest } = tool;
  return checked(toolSchema, {
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

/** A resource without a name is named by its URI. */
function withName(definition: JsonObject, address: string): JsonObject {
  return typeof definition["name"] === "string" ? definition : { ...definition, name: definition[address] };
}

/** The same definition, or one without its invalid optional fields. */
function checked(schema: z.ZodType, definition: JsonObject): JsonObject | undefined {
  const { success, error } = schema.safeParse(definition);
  if (success) return definition;
  const wrong = new Set(error.issues.map(({ path }) => path[0]));
  const rest = Object.fromEntries(Object.entries(definition).filter(([key]) => !wrong.has(key)));
  return schema.safeParse(rest).success ? rest : undefined;
}

/** Makes a schema one of objects, and keeps the rest of it. */
function objectSchema(schema: unknown): JsonObject {
  const { properties, required, ...rest } = isObject(schema) ? schema : {};
  // A schema may be a boolean as well, which few agents support.
  const asObject = (property: unknown) => (isObject(property) ? property : property === false ? { not: {} } : {});
  const entries = isObject(properties) ? Object.entries(properties).map(([key, each]) => [key, asObject(each)]) : [];
  return {
    ...rest,
    type: "object",
    ...(isObject(properties) ? { properties: Object.fromEntries(entries) } : {}),
    ...(Array.isArray(required) ? { required: required.filter((key) => typeof key === "string") } : {}),
  };
}
