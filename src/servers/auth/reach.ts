/** Checks the addresses to which an MCP server sends the client during a sign-in (server-side request forgery). */
import { kindOf, mayReach, type Resolve, resolveName } from "../../base/address-reach.ts";
import { NetworkFailure } from "../failures/network-failure.ts";

export { kindOf, type Resolve };

/** Throws NetworkFailure with PROTOCOL_ERROR if `server` must not send the client to `url`. */
export async function checkReach(url: URL, server: URL, resolve: Resolve = resolveName): Promise<void> {
  if (await mayReach(url, server, resolve)) return;
  throw new NetworkFailure(`its sign-in points to ${url.origin}, which only this machine or its network can reach`, {
    code: "PROTOCOL_ERROR",
    hint: 'A remote server must not do this. If you trust it, add a token to its "headers" in the config.',
  });
}
