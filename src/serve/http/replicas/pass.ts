/** Passes one request on to another replica, and its answer back. */
import { isJSONRPCRequest, type RequestId } from "@modelcontextprotocol/server";
import { systemCodeOf } from "../../../base/errors.ts";
import { parsedJson } from "../../../base/json-object.ts";
import type { StayOpen } from "../event-stream.ts";
import { replicaEnded, withForcedEnd } from "../forced-end.ts";
import { LeavingRefusal, lostAnswer } from "../refusal.ts";
import { targetOf } from "../target.ts";

/** The status of a replica that a request was not meant for: another process has its address now. */
export const misdirected = 421;

/**
 * The headers that are passed on, because the other replica reads them. Other headers are made anew. Headers about the client's connection
 * (RFC 9110, section 7.6.1) or about other servers on its way are not passed on.
 */
const passedOn =
  /^(?:accept|authorization|content-type|cookie|host|last-event-id|mcp-[a-z0-9-]+|origin|sec-fetch-site|user-agent)$/;

/** The headers that are passed back. */
const passedBack =
  /^(?:allow|cache-control|content-(?:language|security-policy|type)|location|mcp-session-id|referrer-policy|retry-after|set-cookie|www-authenticate|x-[a-z-]+)$/;

export interface Passed {
  request: Request;
  /** The path at the other replica, which is one of ours. */
  path: string;
  /** Undefined for a request without a body. */
  body: string | undefined;
  /** The address of the replica. */
  url: string;
  /** Further headers. */
  headers: Record<string, string>;
  stayOpen: StayOpen;
  /** Aborted when the replica counts as dead before it has answered. */
  isGone: AbortSignal;
  /** Has the request until its answer has ended. */
  open: Set<Request> | undefined;
  /** Aborted when this replica ends, and passes nothing on any more. */
  ending: AbortSignal;
}

/**
 * The answer of the replica, as it comes. Undefined if the replica has not got the request: nothing listens at its address, or another process
 * does. Throws an HttpRefusal with status 502 if the replica may have got it and says nothing.
 */
export async function passOn(passed: Passed): Promise<Response | undefined> {
  const { request, open, stayOpen } = passed;
  open?.add(request);
  const end = () => void open?.delete(request);
  try {
    const response = await sent(passed);
    if (!response || response.status === misdirected) {
      await response?.body?.cancel();
      end();
      return undefined;
    }
    const { status, body } = response;
    if (!body) end();
    const headers = only(response.headers, passedBack);
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const ids = () => idsIn(passed.body);
    const why = (isBroken: boolean) => (isBroken && isStream ? replicaEnded : undefined);
    stayOpen();
    // The other replica keeps its stream alive, and each piece of it keeps ours.
    const options = { ids, why, onChunk: stayOpen, onEnd: end, ending: passed.ending };
    return new Response(body && (withForcedEnd(body as never, options) as never), { status, headers });
  } catch (error) {
    end();
    throw error;
  }
}

/** Undefined if nothing listens at the address. */
async function sent({
  request,
  path,
  body,
  url,
  headers: more,
  isGone,
  ending,
}: Passed): Promise<Response | undefined> {
  if (ending.aborted) throw new LeavingRefusal();
  const headers = only(request.headers, passedOn);
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  const { method, signal } = request;
  try {
    return await fetch(addressAt(url, path, targetOf(request).search), {
      method,
      headers,
      body: body ?? null,
      signal: AbortSignal.any([signal, isGone, ending]),
      redirect: "manual",
      decompress: false,
      // A connection of an earlier request may be closed just now, and then nobody knows whether the request has arrived.
      keepalive: false,
      timeout: false,
      // The proxy of the environment is for the internet, and must not see the tokens of clients.
      proxy: false,
    } as RequestInit);
  } catch (error) {
    if (signal.aborted) throw error;
    // A request that only reads, and the end of a session, may be sent twice.
    if (method !== "POST" || notArrived.has(systemCodeOf(error) ?? "")) return undefined;
    throw lostAnswer("The replica that has the session ended while it got this request");
  }
}

/** These setters never change the host, whatever the texts are. */
function addressAt(replica: string, path: string, search: string): URL {
  const address = new URL(replica);
  address.pathname = path;
  address.search = search;
  return address;
}

function only(headers: Headers, names: RegExp): Headers {
  return new Headers([...headers].filter(([name]) => names.test(name)));
}

const notArrived = new Set(["ECONNREFUSED", "ConnectionRefused", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND"]);

/** The ids of the requests in a body. The other replica has read it, so it is one of the protocol. */
function idsIn(body: string | undefined): RequestId[] {
  return [parsedJson(body ?? "")].flat().flatMap((message) => (isJSONRPCRequest(message) ? [message.id] : []));
}
