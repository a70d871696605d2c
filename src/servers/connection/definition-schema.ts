/**
 * Schemas of the protocol up to 2025-11-25, where the SDK's are of a later revision. They look at no values that a
 * server may nest at will, which would take long.
 */
import { CreateMessageRequestParamsSchema, CreateMessageRequestSchema, ToolSchema } from "@modelcontextprotocol/core";
import { z } from "zod";

const anyObject = z.custom<object>((value) => typeof value === "object" && value !== null);

/** The schema of arguments or results. */
const ofObjects = z.looseObject({
  type: z.literal("object"),
  properties: z.record(z.string(), anyObject).optional(),
  required: z.array(z.string()).optional(),
});

/** The definition of a tool. */
export const toolSchema = ToolSchema.extend({ inputSchema: ofObjects, outputSchema: ofObjects.optional() });

/** The request `sampling/createMessage`. */
export const samplingSchema = CreateMessageRequestSchema.extend({
  params: CreateMessageRequestParamsSchema.extend({
    metadata: anyObject.optional(),
    tools: z.array(toolSchema).optional(),
  }),
});
