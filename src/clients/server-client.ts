/** The SDK's client of one server, for revisions of the protocol up to 2025-11-25. Results and errors stay as the server sent them. */
import {
  Client,
  type ClientCapabilities,
  type JSONRPCErrorResponse,
  type JSONRPCResponse,
  ProtocolError,
  type RequestOptions,
} from "@modelcontextprotocol/client";
import { z } from "zod";
import { version } from "../version.ts";

/** Accepts any object: servers send odd results, and the caller knows how to read them. */
const anyResult: z.ZodType<Record<string, unknown>> = z.any();

/** The `data` of an error. For some codes, the SDK would change the code, and drop parts of the data. */
class Untouched {
  readonly data: unknown;

  constructor(data: unknown) {
    this.data = data;
  }
}

export class ServerClient extends Client {
  constructor(capabilities: ClientCapabilities) {
    super({ name: "claudikins", version }, { capabilities, versionNegotiation: { mode: "legacy" } });
  }

  /** Resolves with the result as it is. Rejects with ProtocolError if the server answers with an error. */
  ask(request: { method: string; params?: Record<string, unknown> }, options: RequestOptions) {
    return this.request(request, anyResult, options).catch((error: unknown) => {
      throw unwrapped(error);
    });
  }

  protected override _onresponse(response: JSONRPCResponse | JSONRPCErrorResponse): void {
    super._onresponse("error" in response ? wrapped(response) : response);
  }
}

function wrapped({ error, ...response }: JSONRPCErrorResponse): JSONRPCErrorResponse {
  return { ...response, error: { ...error, data: new Untouched(error.data) } };
}

function unwrapped(error: unknown): unknown {
  if (!(error instanceof ProtocolError && error.data instanceof Untouched)) return error;
  return new ProtocolError(error.code, error.message, error.data.data);
}
