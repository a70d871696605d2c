/**
 * The header of a request that one replica passes on to another. It proves that a replica of the same database has passed it, so that nobody
 * else can claim the address of a client, and names the replica that it is meant for, so that no request is passed on twice.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { isObject, parsedJson } from "../../../base/json-object.ts";
import { maxForwardSkewMs } from "../../limits.ts";
import { HttpRefusal } from "../refusal.ts";
import { targetOf } from "../target.ts";

export const forwardHeader = "claudikins-forwarded";

/** What the header says. */
export interface Forwarded {
  /** The name of the replica that it is meant for. */
  to: string;
  /** The remote address of the client. */
  address: string;
}

interface Proven extends Forwarded {
  /** In milliseconds since 1970. */
  at: number;
  method: string;
  /** The path with the query. */
  path: string;
  host: string;
}

/** `key` is known to replicas alone. */
export function forwardProof(request: Request, { to, address }: Forwarded, key: Uint8Array): string {
  const proven: Proven = { to, address, at: Date.now(), ...aboutOf(request) };
  const text = Buffer.from(JSON.stringify(proven)).toString("base64url");
  return `${text}.${codeOf(text, key).toString("base64url")}`;
}

/** Undefined for a request that no replica has passed on. Throws an HttpRefusal with status 403 for a header that proves nothing. */
export function forwardedOf(request: Request, key: Uint8Array): Forwarded | undefined {
  const header = request.headers.get(forwardHeader);
  if (header === null) return undefined;
  const [text = "", code = ""] = header.split(".");
  const given = Buffer.from(code, "base64url");
  const wanted = codeOf(text, key);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw unproven();
  const proven = parsedJson(Buffer.from(text, "base64url").toString());
  if (!isObject(proven)) throw unproven();
  const { to, address, at, method, path, host } = proven as unknown as Proven;
  const own = aboutOf(request);
  if (method !== own.method || path !== own.path || host !== own.host) throw unproven();
  if (Math.abs(Date.now() - at) > maxForwardSkewMs) {
    throw new HttpRefusal(403, "The request was passed on too long ago, or the clocks of the replicas differ");
  }
  return { to, address };
}

function unproven(): HttpRefusal {
  return new HttpRefusal(403, "Only a replica of the same database may pass requests on");
}

function aboutOf(request: Request): Pick<Proven, "method" | "path" | "host"> {
  const { pathname, search } = targetOf(request);
  const { method, headers } = request;
  return { method, path: `${pathname}${search}`, host: headers.get("host") ?? "" };
}

function codeOf(text: string, key: Uint8Array): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
