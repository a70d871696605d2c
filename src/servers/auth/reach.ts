/**
 * Checks the addresses to which an MCP server sends the client during a sign-in. A server on the internet must not reach
 * this machine or its network (server-side request forgery), so names are resolved and checked before anything is sent.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { kindOf, type Reach } from "../../base/address-reach.ts";
import { NetworkFailure } from "../failures/network-failure.ts";

export { kindOf };

const allowed: Record<Reach, readonly Reach[]> = {
  public: ["public"],
  private: ["public", "private"],
  loopback: ["public", "private", "loopback"],
  forbidden: ["public"],
};

/** Returns the IP addresses of a name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

const resolveName: Resolve = async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Throws NetworkFailure with PROTOCOL_ERROR if `server` must not send the client to `url`. */
export async function checkReach(url: URL, server: URL, resolve: Resolve = resolveName): Promise<void> {
  if (await mayReach(url, server, resolve)) return;
  throw new NetworkFailure(`its sign-in points to ${url.origin}, which only this machine or its network can reach`, {
    code: "PROTOCOL_ERROR",
    hint: 'A remote server must not do this. If you trust it, add a token to its "headers" in the config.',
  });
}

/** Whether `server` may name `url`. A server on the internet may not name an address of this machine or its network. */
export async function mayReach(url: URL, server: URL, resolve: Resolve = resolveName): Promise<boolean> {
  if (url.hostname === server.hostname) return true;
  const [target, own] = await Promise.all([kindsOfHost(url, resolve), kindsOfHost(server, resolve)]);
  // A server with a public address counts as one on the internet.
  const from = order.find((kind) => own.includes(kind)) ?? "public";
  return target.every((kind) => allowed[from].includes(kind));
}

const order: readonly Reach[] = ["public", "forbidden", "private", "loopback"];

/** Empty if the name cannot be resolved: behind a proxy that is normal, and otherwise nothing can be sent there. */
export async function kindsOfHost({ hostname }: URL, resolve: Resolve = resolveName): Promise<Reach[]> {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) > 0) return [kindOf(host)];
  if (/(?:^|\.)localhost$/.test(host)) return ["loopback"];
  return (await resolve(host).catch(() => [])).map(kindOf);
}
