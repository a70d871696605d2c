/** The SDK's client of one server, in either era of the protocol. Results and errors stay as the server sent them. */
import { randomUUID } from "node:crypto";
import {
  Client,
  type ClientCapabilities,
  type ClientContext,
  type JSONRPCErrorResponse,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type JSONRPCResultResponse,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type RequestOptions,
  type Result,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { version } from "../version.ts";
import { oneLine } from "../visible-text.ts";

/** A generation of the protocol: up to the revision 2025-11-25 with sessions, and from 2026-07-28 without. */
export type Era = "2025" | "2026";

/** A server, as it described itself at the start of a connection. */
export interface ServerIdentity {
  /** The revision of the protocol that both sides speak: "2025-11-25". */
  protocol: string;
  /** The server's own version, on one line. */
  version?: string;
}

type Handler = (request: JSONRPCRequest, context: ClientContext) => Promise<Result>;

/** Accepts any object: servers send odd results, and the caller knows how to read them. */
const anyResult: z.ZodType<Record<string, unknown>> = z.any();

/** Maximum time for an answer to `server/discover`. A process that says nothing is of the older era. */
const probeMs = 5_000;

/** Characters of a server's own version. */
const maxVersionChars = 100;

/** A result, or the `data` of an error, that the SDK would check or change. */
class Untouched {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Passes the checks of every method's result in the revision 2026-07-28. */
const emptyResult = {
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  completion: { values: [] },
  ...Object.fromEntries(
    ["content", "contents", "messages", "prompts", "resources", "resourceTemplates", "tools"].map((key) => [key, []]),
  ),
};

export class ServerClient extends Client {
  /** Servers of 2026-07-28 are told with each request which log messages to send. */
  logLevel: string | undefined;

  /** With "2026", the SDK still falls back to `initialize` if the server answers `server/discover` with an error. */
  constructor(capabilities: ClientCapabilities, era: Era = "2025") {
    const versionNegotiation = {
      mode: era === "2026" ? ("auto" as const) : ("legacy" as const),
      probe: { timeoutMs: probeMs },
    };
    super({ name: "claudikins", version }, { capabilities, versionNegotiation });
  }

  get era(): Era {
    return this.getProtocolEra() === "modern" ? "2026" : "2025";
  }

  /** Undefined before the connection is open. */
  get identity(): ServerIdentity | undefined {
    const protocol = this.getNegotiatedProtocolVersion();
    const version = oneLine(this.getServerVersion()?.version ?? "", maxVersionChars);
    return protocol === undefined ? undefined : { protocol, ...(version === "" ? {} : { version }) };
  }

  /** Resolves with the result as it is. Rejects with ProtocolError if the server answers with an error. */
  async ask(request: { method: string; params?: Record<string, unknown> }, options: RequestOptions) {
    try {
      const result = await this.request(request, anyResult, options);
      const { held } = result;
      if (!(held instanceof Untouched)) return result;
      const { resultType: _, ...own } = held.value as Record<string, unknown>;
      return own;
    } catch (error) {
      throw unwrapped(error);
    }
  }

  /** The SDK would check the whole result, which takes long if it is large, and refuses the parts that stay JSON text. */
  protected override _onresponse(response: JSONRPCResponse | JSONRPCErrorResponse): void {
    if ("error" in response) super._onresponse(wrapped(response) as JSONRPCResponse);
    else super._onresponse(this.era === "2026" && isComplete(response) ? held(response) : response);
  }

  /** Questions of the newer era come inside results. They are handled like requests of the older one. */
  protected override _getRequestHandler(method: string): Handler | undefined {
    const own = super._getRequestHandler(method);
    const fallback = this.fallbackRequestHandler;
    if (own || !fallback) return own;
    return (request, context) => fallback(request, { ...context, mcpReq: { ...context.mcpReq, id: randomUUID() } });
  }

  protected override _outboundMetaEnvelope(): Readonly<Record<string, unknown>> | undefined {
    const envelope = super._outboundMetaEnvelope();
    return envelope && this.logLevel ? { ...envelope, [LOG_LEVEL_META_KEY]: this.logLevel } : envelope;
  }
}

/** A result without a type counts as complete (basic/index, ResultType). */
function isComplete({ result }: JSONRPCResultResponse): boolean {
  return (result["resultType"] ?? "complete") === "complete";
}

function held({ result, ...response }: JSONRPCResultResponse): JSONRPCResultResponse {
  return { ...response, result: { ...emptyResult, held: new Untouched(result) } };
}

function wrapped({ error, ...response }: JSONRPCErrorResponse): JSONRPCErrorResponse {
  return { ...response, error: { ...error, data: new Untouched(error.data) } };
}

function unwrapped(error: unknown): unknown {
  if (!(error instanceof ProtocolError && error.data instanceof Untouched)) return error;
  return new ProtocolError(error.code, error.message, error.data.value);
}
