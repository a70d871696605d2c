/**
 * Checks the requests to the page: they must come from the page itself, in the browser of this process's user, and their bodies must have
 * a shape of `bodies.ts`.
 */
import type { z } from "zod";
import { parsedJson } from "../base/json-object.ts";
import { tooHeavy } from "../base/json-weight.ts";
import { type ConnectionEnd, problemOfPeer } from "../base/peer-owner.ts";
import { type Body, type BodyName, bodies } from "./bodies.ts";
import { maxPageBodyBytes } from "./limits.ts";

/** A header that the page's script sends. Forms and images cannot send it, and other pages would need our permission. */
const ownHeader = "claudikins-ui";

/** The refusal of a request, with its status. */
export class RefusedRequest extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** Throws if the request names another host: a name can be made to resolve to this machine (DNS rebinding). */
export function checkHost({ headers }: Request, host: string): void {
  if (headers.get("host") !== host) throw new RefusedRequest(403, `This page is only at http://${host}`);
}

/** Throws for requests by other pages. Browsers send the origin of a request. `own` is our origin. */
function checkOrigin({ headers }: Request, own: string, isChange: boolean): void {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if ((site !== null && site !== "same-origin") || (origin === null ? isChange : origin !== own)) throw foreign();
}

/** Throws for requests by other pages, and for requests of forms if `isChange`. `own` is our origin. */
export function checkSender(request: Request, own: string, isChange: boolean): void {
  checkOrigin(request, own, isChange);
  if (isChange && !request.headers.has(ownHeader)) throw foreign();
}

function foreign(): RefusedRequest {
  return new RefusedRequest(403, "Other pages may not send requests to this page");
}

/** Throws unless a program of this user has opened the connection. */
export async function checkPeer(peer: ConnectionEnd | null, own: ConnectionEnd): Promise<void> {
  const problem = await problemOfPeer(peer, own);
  if (problem) throw new RefusedRequest(403, problem.message, problem.hint);
}

/** Throws if the body has not the shape of this name. */
export async function jsonBody<Name extends BodyName>(request: Request, name: Name): Promise<Body<Name>> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "")) {
    throw new RefusedRequest(415, "The body must be JSON");
  }
  const text = await textOf(request);
  const problem = tooHeavy(Buffer.from(text));
  if (problem !== undefined) throw new RefusedRequest(413, problem);
  const shape: z.ZodType = bodies[name];
  const { success, data } = shape.safeParse(parsedJson(text));
  if (!success) throw new RefusedRequest(400, "The body is not as expected");
  return data as Body<Name>;
}

/** The fields of a form on one of our own pages. Throws for the form of another page. `own` is our origin. */
export async function formBody(request: Request, own: string): Promise<URLSearchParams> {
  checkOrigin(request, own, true);
  return new URLSearchParams(await textOf(request));
}

async function textOf(request: Request): Promise<string> {
  if (Number(request.headers.get("content-length") ?? maxPageBodyBytes + 1) > maxPageBodyBytes) {
    throw new RefusedRequest(413, "The body is too large");
  }
  return request.text();
}
