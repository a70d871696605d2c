/** Where the other replicas of a team reach this one. */
import { networkInterfaces } from "node:os";
import { ClaudikinsError } from "../base/errors.ts";
import type { Environment } from "./environment.ts";

/**
 * The address that `CLAUDIKINS_REPLICA_URL` names, or else the one that is listened on. For one that stands for all addresses of the machine, the
 * first one that other machines can use. Throws CONFIG_INVALID.
 */
export function replicaUrl({ CLAUDIKINS_REPLICA_URL: given = "" }: Environment, listensAt: string): string {
  if (given === "") return usableBy(new URL(listensAt)).origin;
  const url = URL.parse(given);
  const isAddress = url && /^https?:$/.test(url.protocol) && url.pathname === "/" && url.search + url.hash === "";
  if (isAddress && url.username + url.password === "") return url.origin;
  throw new ClaudikinsError("CONFIG_INVALID", "CLAUDIKINS_REPLICA_URL is not the address of a replica", {
    hint: "Set it to the address at which the other replicas reach this one, such as http://10.0.0.7:4600",
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
  const { address, family } = outer.find((each) => each.family === "IPv4") ?? outer[0] ?? {};
  return family === "IPv6" ? `[${address}]` : address;
}
