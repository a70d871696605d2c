/**
 * Says from where an address can be reached: the internet, a private network, or this machine. A stranger on the internet must not send us
 * to this machine or its network (server-side request forgery), so names are resolved and checked before anything is sent.
 */
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** `forbidden`: none of these, or meant only for programs of the machine, such as the metadata service of a cloud (169.254.169.254). */
export type Reach = "public" | "private" | "loopback" | "forbidden";

/** The reach of an IPv4 or IPv6 address, which may have a zone. */
export function kindOf(address: string): Reach {
  const plain = address.replace(/%.*$/, "");
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
    "192.88.99.0/24",
    "2001::/23",
    "2001:db8::/32",
    "3fff::/20",
    // Translation within a network (RFC 8215).
    "64:ff9b:1::/48",
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

/** IPv4 subnets are listed with their IPv6 forms: mapped, compatible, translated (NAT64) and tunnelled (6to4). */
function listOf(...subnets: string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", length] = subnet.split("/");
    const bits = Number(length);
    if (network.includes(":")) {
      list.addSubnet(network, bits, "ipv6");
      continue;
    }
    list.addSubnet(network, bits, "ipv4");
    for (const prefix of ["::ffff:", "::", "64:ff9b::"]) list.addSubnet(`${prefix}${network}`, 96 + bits, "ipv6");
    const [high, low] = Buffer.from(network.split(".").map(Number)).toString("hex").match(/.{4}/g) ?? [];
    list.addSubnet(`2002:${high}:${low}::`, 16 + bits, "ipv6");
  }
  return list;
}

const allowed: Record<Reach, readonly Reach[]> = {
  public: ["public"],
  private: ["public", "private"],
  loopback: ["public", "private", "loopback"],
  forbidden: ["public"],
};

/** Whether something that is at `from` may name an address with this reach. */
export function isWithinReach(reach: Reach, from: Reach): boolean {
  return allowed[from].includes(reach);
}

/** Returns the IP addresses of a name. Rejects if it has none. */
export type Resolve = (hostname: string) => Promise<string[]>;

export const resolveName: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address);

/** Whether `server` may name `url`. A server on the internet may not name an address of this machine or its network. */
export async function mayReach(url: URL, server: URL, resolve: Resolve = resolveName): Promise<boolean> {
  if (url.hostname === server.hostname) return true;
  const [target, own] = await Promise.all([kindsOfHost(url, resolve), kindsOfHost(server, resolve)]);
  // A server with a public address counts as one on the internet.
  const from = order.find((kind) => own.includes(kind)) ?? "public";
  return target.every((kind) => isWithinReach(kind, from));
}

const order: readonly Reach[] = ["public", "forbidden", "private", "loopback"];

/** Empty if the name cannot be resolved: behind a proxy that is normal, and otherwise nothing can be sent there. */
export async function kindsOfHost({ hostname }: URL, resolve: Resolve = resolveName): Promise<Reach[]> {
  const host = hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (isIP(host) > 0) return [kindOf(host)];
  if (/(?:^|\.)localhost$/.test(host)) return ["loopback"];
  return (await resolve(host).catch(() => [])).map(kindOf);
}
