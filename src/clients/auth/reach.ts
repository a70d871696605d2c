/**
 * Checks the addresses to which an MCP server sends the client during a sign-in. A server on the internet must not reach
 * this machine or its network (server-side request forgery), so names are resolved and checked before anything is sent.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";
import { NetworkFailure } from "../network-failure.ts";

/** `forbidden`: never an authorization server, for example the metadata service of a cloud (169.254.169.254). */
type Kind = "public" | "private" | "loopback" | "forbidden";

const allowed: Record<Kind, readonly Kind[]> = {
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
  if (url.hostname === server.hostname) return;
  const [target, own] = await Promise.all([kindsOf(url, resolve), kindsOf(server, resolve)]);
  // A server with a public address counts as one on the internet.
  const from = order.find((kind) => own.includes(kind)) ?? "public";
  if (target.every((kind) => allowed[from].includes(kind))) return;
  throw new NetworkFailure(`its sign-in points to ${url.origin}, which only this machine or its network can reach`, {
    code: "PROTOCOL_ERROR",
    hint: 'A remote server must not do this. If you trust it, add a token to its "headers" in the config.',
  });
}

const order: readonly Kind[] = ["public", "forbidden", "private", "loopback"];

/** Empty if the name cannot be resolved: behind a proxy that is normal, and otherwise nothing can be sent there. */
async function kindsOf({ hostname }: URL, resolve: Resolve): Promise<Kind[]> {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) > 0) return [kindOf(host)];
  if (/(?:^|\.)localhost$/.test(host)) return ["loopback"];
  return (await resolve(host).catch(() => [])).map(kindOf);
}

export function kindOf(address: string): Kind {
  const plain = address.replace(/%.*$/, "");
  const inner = embedded(plain);
  if (inner !== undefined) return kindOf(inner);
  const family = isIP(plain) === 6 ? "ipv6" : "ipv4";
  return (["loopback", "forbidden", "private"] as const).find((kind) => lists[kind].check(plain, family)) ?? "public";
}

const lists = {
  loopback: listOf("127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"),
  // Link-local; the metadata services of AWS, Alibaba and Oracle; multicast, reserved, documentation.
  forbidden: listOf(
    "169.254.0.0/16",
    "fe80::/10",
    "fd00:ec2::254/128",
    "100.100.100.200/32",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "2001:db8::/32",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "ff00::/8",
  ),
  private: listOf(
    "10.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "198.18.0.0/15",
    "fc00::/7",
    "fec0::/10",
  ),
};

function listOf(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", bits] = subnet.split("/");
    list.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** The IPv4 address in an IPv6 address: mapped, compatible, translated (NAT64) or tunnelled (6to4). */
function embedded(address: string): string | undefined {
  if (isIP(address) !== 6) return undefined;
  const groups = groupsOf(address);
  const [first = 0, second = 0, third = 0] = groups;
  const v4 = (high = 0, low = 0) => [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  if (first === 0x2002) return v4(second, third);
  const prefix = groups.slice(0, 6);
  const isMapped = prefix.slice(0, 5).every((each) => each === 0) && prefix[5] === 0xffff;
  const isTranslated = first === 0x64 && second === 0xff9b;
  // Among addresses that begin with zeros, :: and ::1 do not contain an IPv4 address.
  const isCompatible = prefix.every((each) => each === 0) && (groups[6] ?? 0) > 0;
  return isMapped || isTranslated || isCompatible ? v4(groups[6], groups[7]) : undefined;
}

/** The eight numbers of an IPv6 address, in any spelling. */
function groupsOf(address: string): number[] {
  // The URL parser writes the end of an address as numbers, too.
  const plain = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = "", tail] = plain.split("::").map((part) => part.split(":").filter(Boolean));
  const filled = tail ? [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail] : [...head];
  return filled.map((group) => Number.parseInt(group, 16));
}
