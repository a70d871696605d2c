/** How the demo's tools are defined: with JSON Schemas, and a function that gets checked arguments. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { type FromSchema, type JsonSchema, problemsOf } from "./json-schema.ts";
import { Refusal, type Shop } from "./shop.ts";

export interface ToolContext {
  shop: Shop;
  /** Aborted when the caller cancels the request or disconnects. */
  signal: AbortSignal;
  /** Reports progress to the caller. Does nothing if the caller did not ask for progress. */
  progress(done: number, total: number, message: string): Promise<void>;
}

/** Annotations by the effect of a tool. No tool affects anything outside of the shop. */
export const ADDS = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false };
export const READS = { ...ADDS, readOnlyHint: true, idempotentHint: true };
export const SETS = { ...ADDS, idempotentHint: true };
export const DESTROYS = { ...ADDS, destructiveHint: true };

interface DemoTool {
  definition: Tool;
  call(args: Record<string, unknown>, context: ToolContext): Promise<CallToolResult>;
}

interface ToolSpec<S extends JsonSchema> {
  name: string;
  title: string;
  description: string;
  annotations: NonNullable<Tool["annotations"]>;
  inputSchema: S;
  outputSchema?: JsonSchema;
  run(args: FromSchema<S>, context: ToolContext): CallToolResult | Promise<CallToolResult>;
}

export function defineTool<const S extends JsonSchema>({ run, ...definition }: ToolSpec<S>): DemoTool {
  return {
    // The SDK's type requires mutable arrays and open objects. The definition is only serialised.
    definition: definition as unknown as Tool,
    async call(args, context) {
      try {
        const problems = [...problemsOf(definition.name, args, definition.inputSchema)];
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
