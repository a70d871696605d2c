/** Which addresses the proxy of a box connects to. */
import { isIP, isIPv4 } from "node:net";
import { kindOf } from "../../base/address-reach.ts";

export interface Target {
  host: string;
  port: number;
}

const httpsPort = 443;

/** Parses the target of CONNECT, `host:port`. Undefined for everything that is not a plain name or an IPv4 address with a port. */
export function targetOf(text: string): Target | undefined {
  const [, host = "", digits = ""] = /^([a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?):(\d{1,5})$/i.exec(text) ?? [];
  const port = Number(digits);
  const isName = host.split(".").every((label) => /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d])?$/i.test(label));
  if (!isName || port < 1 || port > 65_535) return undefined;
  // `127.1` and `0x7f000001` are addresses for some resolvers.
  if (/^(?:\d+|0x[\da-f]*)$/i.test(host.split(".").at(-1) ?? "") && !isIPv4(host)) return undefined;
  return { host: host.toLowerCase(), port };
}

/** Whether the list of an entry names the host: `host`, `*.host` for all names below it, or `host:port` for another port than 443. */
export function isListed({ host, port }: Target, hosts: readonly string[]): boolean {
  return hosts.some((entry) => {
    const [name = "", digits] = entry.toLowerCase().split(":");
    if (port !== (digits === undefined ? httpsPort : Number(digits))) return false;
    return name.startsWith("*.") ? isIP(host) === 0 && host.endsWith(name.slice(1)) : host === name;
  });
}

/** Whether an address that a name leads to may be used: public ones, and those that the list names themselves. */
export function mayConnect(address: string, port: number, hosts: readonly string[]): boolean {
  return (isIP(address) > 0 && kindOf(address) === "public") || isListed({ host: address, port }, hosts);
}
