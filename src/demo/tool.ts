/** How a tool of the demo is written down: described by plain JSON Schemas, run with arguments that satisfy them. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { FromSchema, ObjectSchema } from "./json-schema.ts";
import { Refusal } from "./refusal.ts";
import type { Shop } from "./shop.ts";
import { argumentProblems } from "./validate.ts";

export interface ToolContext {
  shop: Shop;
  /** Aborted when the caller has cancelled the request or is gone. */
  signal: AbortSignal;
  /** Tells the caller how far the work is; does nothing for a caller that did not ask. */
  progress(done: number, total: number, message: string): Promise<void>;
}

/** What a tool does to the shop. None of them reaches beyond it. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const ADDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;
export const SETS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
export const DESTROYS = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
} as const;

export interface DemoTool {
  definition: Tool;
  call(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<CallToolResult>;
}

interface ToolSpec<S extends ObjectSchema> {
  name: string;
  title: string;
  description: string;
  annotations: NonNullable<Tool["annotations"]>;
  inputSchema: S;
  outputSchema?: ObjectSchema;
  run(args: FromSchema<S>, context: ToolContext): CallToolResult | Promise<CallToolResult>;
}

export function defineTool<const S extends ObjectSchema>({ run, ...definition }: ToolSpec<S>): DemoTool {
  return {
    // The SDK's type wants mutable arrays and open objects; what it gets is only ever serialised.
    definition: definition as unknown as Tool,
    async call(args, context) {
      const problems = argumentProblems(definition.name, args, definition.inputSchema);
      try {
        if (problems.length > 0) throw new Refusal(problems.join("\n"));
        return await run(args as FromSchema<S>, context);
      } catch (error) {
        if (error instanceof Refusal) return { isError: true, content: [{ type: "text", text: error.message }] };
        throw error;
      }
    },
  };
}

export function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

export function jsonResult(value: object): CallToolResult {
  return textResult(JSON.stringify(value));
}

/** For a tool with an output schema: the value itself, and the same as text for clients that know only text. */
export function structuredResult(value: Record<string, unknown>): CallToolResult {
  return { ...jsonResult(value), structuredContent: value };
}
