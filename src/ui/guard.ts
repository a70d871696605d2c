/** Checks the requests to the page: they must come from the page itself, in the browser of the user of this process. */
import { readIfThere } from "../files.ts";

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

/**
 * Whether the process at the other end of a connection runs as another user of this machine. Only Linux can tell. The
 * administrator counts as the same user, because some systems forward connections in a process of theirs.
 */
export function isOtherUser(peer: { address: string; port: number } | null, port: number): boolean {
  const own = process.getuid?.();
  if (process.platform !== "linux" || own === undefined || !peer) return false;
  const user = userOf(peer, port);
  return user !== undefined && user !== own && user !== 0;
}

/** The user of the socket that is connected from `peer` to our port. Undefined if it is not listed. */
function userOf(peer: { address: string; port: number }, port: number): number | undefined {
  const hex = (value: number) => value.toString(16).toUpperCase().padStart(4, "0");
  const [from, to] = [`0100007F:${hex(peer.port)}`, `0100007F:${hex(port)}`];
  // Columns: slot, local address, remote address, state, queues, timer, retransmits, user.
  const lines = (readIfThere("/proc/net/tcp") ?? "").split("\n").map((line) => line.trim().split(/\s+/));
  const found = lines.find(([, local, remote]) => local === from && remote === to);
  return found?.[7] === undefined ? undefined : Number(found[7]);
}

/** The value of a cookie. */
export function cookieIn({ headers }: Request, name: string): string | undefined {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("="));
  return pairs.find(([key]) => key === name)?.[1];
}
