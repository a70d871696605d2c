/** Asks a server without credentials, to read its challenge: which sign-in it wants. */

import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
} from "@modelcontextprotocol/client";
import { durationText } from "../../base/duration.ts";
import { version } from "../../base/version.ts";
import type { NetworkServer } from "../../config/load.ts";
import type { Endpoint } from "../endpoint.ts";
import { authProbeMs } from "../limits.ts";
import { noAnswer } from "../network-failure.ts";
import { type Challenge, challengeOf } from "./challenge.ts";
import { cancelled, unavailable } from "./words.ts";

interface ProbeOptions {
  server: NetworkServer;
  endpoint: Endpoint;
  signal: AbortSignal;
}

interface ProbeAnswer {
  status: number;
  challenge: Challenge | undefined;
  /** The session that the request has started. */
  session: string | undefined;
}

/**
 * The server's response to an unauthorized request. Some servers answer `initialize` without a sign-in, so they are asked for their
 * tools as well. Throws NetworkFailure.
 */
export async function probe(asked: ProbeOptions, url: URL): Promise<Pick<ProbeAnswer, "status" | "challenge">> {
  const { transport } = asked.server;
  if (transport !== "auto" && transport !== "http") return send(asked, url);
  const first = await send(asked, url, message("initialize", { ...handshake, clientInfo, capabilities: {} }));
  if (isChallenge(first)) return first;
  const second = await send(asked, url, first.session === undefined ? modernList : listIn(first.session));
  return isChallenge(second) ? second : first;
}

const isChallenge = ({ status, challenge }: ProbeAnswer) => status === 401 || challenge !== undefined;

const clientInfo = { name: "claudikins", version };
const handshake = { protocolVersion: LATEST_PROTOCOL_VERSION };
const modernVersion = "2026-07-28";

interface Message {
  body?: string;
  headers?: Record<string, string>;
}

function message(method: string, params: object, headers: Record<string, string> = {}): Message {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method, params });
  return { body, headers: { "content-type": "application/json", ...headers } };
}

function listIn(session: string): Message {
  const headers = { "mcp-session-id": session, "mcp-protocol-version": LATEST_PROTOCOL_VERSION };
  return message("tools/list", {}, headers);
}

const modernList = message(
  "tools/list",
  {
    _meta: {
      [PROTOCOL_VERSION_META_KEY]: modernVersion,
      [CLIENT_INFO_META_KEY]: clientInfo,
      [CLIENT_CAPABILITIES_META_KEY]: {},
    },
  },
  { "mcp-method": "tools/list", "mcp-protocol-version": modernVersion },
);

async function send(
  { endpoint, signal }: ProbeOptions,
  url: URL,
  { body, headers: own = {} }: Message = {},
): Promise<ProbeAnswer> {
  const limit = AbortSignal.timeout(authProbeMs);
  const headers = new Headers({ ...endpoint.headers, accept: "application/json, text/event-stream", ...own });
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: "POST", body }),
      headers,
      redirect: "manual",
      signal: AbortSignal.any([limit, signal]),
    });
    await response.body?.cancel();
    const session = response.headers.get("mcp-session-id") ?? undefined;
    return { status: response.status, challenge: challengeOf(response.headers), session };
  } catch (error) {
    if (signal.aborted) throw cancelled();
    if (limit.aborted) throw unavailable(`it did not answer within ${durationText(authProbeMs)}`);
    throw noAnswer(error, url);
  }
}
