/** How the demo's tools are defined: with JSON Schemas, and a function that gets checked arguments. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { FromSchema, ObjectSchema } from "./json-schema.ts";
import { Refusal } from "./refusal.ts";
import type { Shop } from "./shop.ts";
import { argumentProblems } from "./validate.ts";

export interface ToolContext {
  shop: Shop;
  /** Aborted when the caller cancels the request or disconnects. */
  signal: AbortSignal;
  /** Reports progress to the caller. Does nothing if the caller did not ask for progress. */
  progress(done: number, total: number, message: string): Promise<void>;
}

/** Annotations by the effect of a tool. No tool affects anything outside of the shop. */
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
    // The SDK's type requires mutable arrays and open objects. The definition is only serialised.
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

/** Returns the result of a tool with an output schema: the value, and the same as text for clients that support only text. */
export function structuredResult(value: Record<string, unknown>): CallToolResult {
  return { ...jsonResult(value), structuredContent: value };
}
