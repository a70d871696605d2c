/** Which addresses the proxy of a box connects to. */
import { BlockList, isIP, isIPv4 } from "node:net";

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
  return isPublic(address) || isListed({ host: address, port }, hosts);
}

function isPublic(address: string): boolean {
  if (isIPv4(address)) return !closed().check(address);
  return isIP(address) === 6 && open().check(address, "ipv6") && !closed().check(address, "ipv6");
}

/** Private, local, shared, documentation, multicast and reserved addresses. In IPv6, also those that contain an IPv4 address. */
const closed = once(() =>
  blockList([
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
    ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
    ...["224.0.0.0/4", "240.0.0.0/4", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"],
  ]),
);

/** The public addresses of IPv6. */
const open = once(() => blockList(["2000::/3"]));

function blockList(nets: string[]): BlockList {
  const list = new BlockList();
  for (const net of nets) {
    const [address = "", bits] = net.split("/");
    list.addSubnet(address, Number(bits), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
