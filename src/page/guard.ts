/** Checks the requests to the page: they must come from the page itself, in the browser of the user of this process. */
import { type End, problemOfPeer } from "../base/peer-owner.ts";

/** Sent by the page's script. Forms and images cannot send it, and other pages would need our permission. */
const ownHeader = "claudikins-ui";

/** Answers a request that is not accepted. */
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

/** Throws for requests by other pages, and for requests of forms if `isChange`. Browsers tell where a request comes from. */
export function checkSender({ headers }: Request, host: string, isChange: boolean): void {
  const foreign = () => new RefusedRequest(403, "Other pages may not send requests to this page");
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") throw foreign();
  const origin = headers.get("origin");
  if (origin !== null ? origin !== `http://${host}` : isChange) throw foreign();
  if (!headers.has(ownHeader) && isChange) throw foreign();
}

/** Throws unless a program of this user has opened the connection. */
export async function checkPeer(peer: End | null, own: End): Promise<void> {
  const problem = await problemOfPeer(peer, own);
  if (problem) throw new RefusedRequest(403, problem.message, problem.hint);
}

/** The value of a cookie. */
export function cookieIn({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([key]) => key === name)?.[1];
}
