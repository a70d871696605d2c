/** Answers a request that is not accepted: an HTTP status and a JSON-RPC error. */
import { ProtocolErrorCode, type RequestId } from "@modelcontextprotocol/server";

/** The code of errors that have none in JSON-RPC. The SDK's servers use it too. */
const noCode = -32_000;

export class HttpRefusal extends Error {
  readonly status: number;
  readonly #code: number;
  readonly #headers: Record<string, string>;

  constructor(status: number, message: string, headers: Record<string, string> = {}, code: number = noCode) {
    super(message);
    this.status = status;
    this.#headers = headers;
    this.#code = code;
  }

  /** `id` is the request's, if the answer may come in a stream. */
  response(id: RequestId | null = null): Response {
    const error = { code: this.#code, message: this.message };
    return Response.json({ jsonrpc: "2.0", id, error }, { status: this.status, headers: this.#headers });
  }
}

/** The body is not a message of the protocol. */
export function invalidMessage(message: string): HttpRefusal {
  return new HttpRefusal(400, message, {}, ProtocolErrorCode.InvalidRequest);
}

/** A request whose answer is lost. `why` is the beginning of a sentence. */
export function lostAnswer(why: string): HttpRefusal {
  return new HttpRefusal(502, `${why}, and nobody knows whether it took effect: look before you send it again`);
}

const realm = 'Bearer realm="claudikins"';

/** The request has no token. `more` are further parameters of the challenge. */
export function noToken(more = ""): HttpRefusal {
  return new HttpRefusal(401, "A token is required: Authorization: Bearer …", {
    "www-authenticate": `${realm}${more}`,
  });
}

/** The token of the request is not accepted. */
export function invalidToken(message: string, more = ""): HttpRefusal {
  return new HttpRefusal(401, message, { "www-authenticate": `${realm}, error="invalid_token"${more}` });
}

/** The token of the request lacks scopes. */
export function insufficientScope(message: string, more: string): HttpRefusal {
  return new HttpRefusal(403, message, { "www-authenticate": `${realm}, error="insufficient_scope"${more}` });
}

/** The token has ended since the request came. */
export function endedToken(): HttpRefusal {
  return invalidToken("The token is no longer valid");
}

/** Seconds after which a client tries again that has met a replica which is leaving. */
const leavingRetrySeconds = 5;

/** This process takes no new work, because it ends. Another replica does, or the process that comes next. */
export class LeavingRefusal extends HttpRefusal {
  constructor() {
    const message = "claudikins is shutting down and accepts no new requests: send the request again";
    super(503, message, { "retry-after": String(leavingRetrySeconds) });
  }
}

/** Another replica has just taken the session over. It answers the request, if it gets it. */
export class MovedRefusal extends HttpRefusal {
  constructor() {
    super(503, "Another replica has just taken the session over: send the request again", { "retry-after": "1" });
  }
}

/** Clients start a new session when they get this status. */
export function noSession(): HttpRefusal {
  return new HttpRefusal(404, "The session does not exist or has ended: start a new one", {}, -32_001);
}
