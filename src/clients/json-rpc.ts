/** A text that a server sent → the message in it, if it is one. */
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";

/** Undefined for what is no message. An answer that cannot be understood becomes a failure, so that nobody waits for it. */
export function readMessage(text: string): JSONRPCMessage | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { success, data } = JSONRPCMessageSchema.safeParse(value);
  return success ? data : failedAnswer(value);
}

function failedAnswer(value: unknown): JSONRPCMessage | undefined {
  const { jsonrpc, id, method } = (value ?? {}) as Record<string, unknown>;
  if (jsonrpc !== "2.0" || method !== undefined || !(typeof id === "number" || typeof id === "string"))
    return undefined;
  return {
    jsonrpc,
    id,
    error: { code: ErrorCode.ParseError, message: "its answer is not MCP: it has no result or error" },
  };
}
