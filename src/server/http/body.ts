/** Reads the JSON-RPC messages in the body of a request, within limits. */
import {
  ErrorCode,
  isInitializeRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { invalidMessage, Refusal } from "./refusal.ts";

export interface Body {
  messages: JSONRPCMessage[];
  /** Whether the body is a batch, which only one version of the protocol has. */
  isBatch: boolean;
}

const maxBatch = 100;

/** Throws a Refusal with status 413, 415 or 400. */
export async function bodyOf(request: Request, maxBytes: number): Promise<Body> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type.trim())) {
    throw new Refusal(415, "The body must be application/json: set Content-Type");
  }
  const value = parsed(await textOf(request, maxBytes));
  const isBatch = Array.isArray(value);
  const items = isBatch ? value : [value];
  if (items.length === 0) throw invalidMessage("The batch is empty");
  if (items.length > maxBatch) throw invalidMessage(`A batch may have at most ${maxBatch} messages`);
  const messages = items.map((item) => {
    const { success, data } = JSONRPCMessageSchema.safeParse(item);
    if (!success) throw invalidMessage("The body is not a JSON-RPC message");
    return data;
  });
  if (isBatch && messages.some(isInitializeRequest))
    throw invalidMessage("initialize must be sent alone, not in a batch");
  return { messages, isBatch };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "The body is not JSON", {}, ErrorCode.ParseError);
  }
}

/** Reads no more than the limit, whatever length was announced. */
async function textOf(request: Request, maxBytes: number): Promise<string> {
  const tooLarge = () => new Refusal(413, `The body may have at most ${maxBytes} bytes`, { connection: "close" });
  if (Number(request.headers.get("content-length")) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal(400, "The body ended early");
  }
  return Buffer.concat(chunks).toString("utf8");
}
