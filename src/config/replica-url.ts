/** Where the other replicas of a team reach this one. */
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { bracketed } from "../base/bracketed.ts";
import { ClaudikinsError } from "../base/errors.ts";
import type { Environment } from "./environment.ts";

/**
 * The address that `CLAUDIKINS_REPLICA_URL` names, or the host that `CLAUDIKINS_REPLICA_HOST` names with the port that is listened on, or else the
 * address that is listened on. For one that stands for all addresses of the machine, the first one that other machines can use. Throws
 * CONFIG_INVALID.
 */
export function replicaUrl(env: Environment, listensAt: string): string {
  const { CLAUDIKINS_REPLICA_URL: given = "", CLAUDIKINS_REPLICA_HOST: host = "" } = env;
  if (given !== "") return checkedUrl(given);
  const url = new URL(listensAt);
  if (host !== "") url.hostname = bracketed(checkedHost(host));
  return usableBy(url).origin;
}

function checkedUrl(given: string): string {
  const url = URL.parse(given);
  const isAddress = url && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash === "";
  if (isAddress && url.username + url.password === "") return url.origin;
  throw new ClaudikinsError("CONFIG_INVALID", "CLAUDIKINS_REPLICA_URL is not the address of a replica", {
    hint: "Set it to the address at which the other replicas reach this one, such as http://10.0.0.7:4600 or http://[fd00::7]:4600",
  });
}

function checkedHost(host: string): string {
  if (isIP(host) > 0 || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) return host;
  throw new ClaudikinsError("CONFIG_INVALID", "CLAUDIKINS_REPLICA_HOST is not a host", {
    hint: "Set it to the IP address or the name at which the other replicas reach this one, without a port, such as fd00::7",
  });
}

function usableBy(url: URL): URL {
  const isAny = url.hostname === "0.0.0.0" || url.hostname === "[::]";
  const own = isAny ? outerAddress() : undefined;
  if (own !== undefined) url.hostname = own;
  else if (isAny) url.hostname = "localhost";
  return url;
}

function outerAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const outer = addresses.filter(({ internal, scopeid }) => !internal && !scopeid);
  const found = outer.find(({ family }) => family === "IPv4") ?? outer[0];
  return found && bracketed(found.address);
}
