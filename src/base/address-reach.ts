/** Decides from where an IP address can be reached: the internet, a private network, or this machine. */
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
