/** Reads the JSON-RPC messages in the body of a request, within limits. */
import { isUtf8 } from "node:buffer";
import { JSONRPCMessageSchema } from "@modelcontextprotocol/core";
import {
  type InitializeRequest,
  isInitializeRequest,
  isJsonContentType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Chunks, limited } from "../../base/bounded-body.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { parsedExact } from "../../base/exact-json.ts";
import { tooHeavy } from "../../base/json-weight.ts";
import { appsExtension } from "../proxy/apps.ts";
import { skillsExtension } from "../surface/surface.ts";
import { HttpRefusal, invalidMessage } from "./refusal.ts";

/** Messages in one batch. */
const maxBatch = 100;

/** Only one larger body is read in a turn of the event loop: it may have thousands of keys, which take some milliseconds. */
const largeBodyBytes = 32_768;

export interface Messages {
  messages: JSONRPCMessage[];
  /** Whether the body is a batch, which only one version of the protocol has. */
  isBatch: boolean;
}

export interface Body extends Messages {
  text: string;
  /** The parsed JSON. */
  value: unknown;
}

/** Throws an HttpRefusal with status 413, 415 or 400. A body that would take long to read is refused before it is parsed. */
export async function bodyOf(request: Request, maxBytes: number): Promise<Body> {
  if (!isJsonContentType(request.headers.get("content-type"))) {
    throw new HttpRefusal(415, "The body must be application/json: set Content-Type");
  }
  const bytes = await bytesOf(request, maxBytes);
  const problem = tooHeavy(bytes);
  if (problem !== undefined) throw new HttpRefusal(413, problem, {}, ProtocolErrorCode.InvalidRequest);
  // Several bodies may be complete at once, and each takes some milliseconds.
  if (bytes.length > largeBodyBytes) await eventLoopTurn();
  const text = decoded(bytes);
  const value = parsedExact(text);
  if (value === undefined) throw new HttpRefusal(400, "The body is not JSON", {}, ProtocolErrorCode.ParseError);
  const isBatch = Array.isArray(value);
  const items = isBatch ? value : [value];
  if (items.length === 0) throw invalidMessage("The batch is empty");
  if (items.length > maxBatch) throw invalidMessage(`A batch may have at most ${maxBatch} messages`);
  const { success, data: messages } = z.array(JSONRPCMessageSchema).safeParse(items);
  if (!success) throw invalidMessage("The body is not a JSON-RPC message");
  if (isBatch && messages.some(isInitializeRequest))
    throw invalidMessage("initialize must be sent alone, not in a batch");
  return { text, value, messages, isBatch };
}

/** The text of a body. Throws an HttpRefusal with status 413 or 400. */
export async function textOf(request: Request, maxBytes: number): Promise<string> {
  return decoded(await bytesOf(request, maxBytes));
}

/** Reads no more than the limit, whatever length was announced. Throws an HttpRefusal with status 413 or 400. */
export async function bytesOf(request: Request, maxBytes: number): Promise<Buffer> {
  const tooLarge = () => new HttpRefusal(413, `The body may have at most ${maxBytes} bytes`, { connection: "close" });
  try {
    return Buffer.concat(await Array.fromAsync(limited(request.body ?? noChunks(), maxBytes, tooLarge)));
  } catch (error) {
    throw error instanceof HttpRefusal ? error : new HttpRefusal(400, "The body ended early");
  }
}

async function* noChunks(): Chunks {}

/** Without this check, each wrong byte would become three. */
function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new HttpRefusal(400, "The body is not UTF-8", {}, ProtocolErrorCode.ParseError);
  return new TextDecoder().decode(bytes);
}

const short = z.string().transform((text) => text.slice(0, 256));
const present = z
  .unknown()
  .transform(() => ({}))
  .optional();

/** The part of its `initialize` request that a session keeps. The rest is dropped, because many sessions may be open. */
const kept = z.object({
  protocolVersion: short,
  capabilities: z.object({
    sampling: z.object({ context: present, tools: present }).optional(),
    elicitation: z
      .object({ form: z.object({ applyDefaults: z.boolean().optional() }).optional(), url: present })
      .optional(),
    roots: z.object({ listChanged: z.boolean().optional() }).optional(),
    extensions: z
      .object({ [skillsExtension]: present, [appsExtension]: z.record(z.string(), z.unknown()).optional() })
      .optional(),
  }),
  clientInfo: z.object({ name: short, version: short }),
});

export function lean({ jsonrpc, id, params }: JSONRPCRequest & InitializeRequest): JSONRPCRequest & InitializeRequest {
  return { jsonrpc, id, method: "initialize", params: kept.parse(params) as InitializeRequest["params"] };
}
