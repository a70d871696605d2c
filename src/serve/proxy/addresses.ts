/**
 * The URIs of resources of many servers. A URI that only one server has stays the same. A URI that several have, or that looks like ours,
 * is shown as `claudikins://<server>/<own URI>`. Templates follow the same rule. The pages of MCP Apps keep their scheme, by which agents
 * recognise them: `ui://a` is shown as `ui://claudikins/<server>/a`.
 */

/** A longer URI is not remembered. */
const maxUriChars = 8_192;

/** URIs in results that are remembered for each server, so that one server cannot displace another's. */
const maxLinkedUris = 2_000;

/** URIs in lists that are remembered. */
const maxListedUris = 50_000;

/** The beginnings of our addresses, and what they stand for. */
const beginnings = [
  { ours: "ui://claudikins/", own: "ui://" },
  { ours: "claudikins://", own: "" },
] as const;

export interface OwnAddress {
  server: string;
  uri: string;
}

/** The address of a server's URI that has the server's name in it. */
export function withServer(server: string, uri: string): string {
  const { ours, own } = beginnings.find((each) => uri.startsWith(each.own))!;
  return `${ours}${nameIn(server)}/${uri.slice(own.length)}`;
}

const nameIn = (server: string) => encodeURIComponent(server.toWellFormed());

/** The server and URI that such an address means; undefined for other addresses. */
export function placeOf(uri: string, servers: Iterable<string>): OwnAddress | undefined {
  const beginning = beginnings.find(({ ours }) => uri.startsWith(ours));
  if (!beginning) return undefined;
  for (const server of servers) {
    const prefix = `${beginning.ours}${nameIn(server)}/`;
    if (uri.startsWith(prefix)) return { server, uri: beginning.own + uri.slice(prefix.length) };
  }
  return undefined;
}

/**
 * The shown addresses of each server, in its order. `claimant` returns the server that the agent already knows by an address: the address
 * never passes to another server.
 */
export function shownAddresses(
  all: ReadonlyMap<string, readonly string[]>,
  claimant: (uri: string) => string | undefined = () => undefined,
): Map<string, Map<string, string>> {
  const owners = new Map<string, Set<string>>();
  for (const [server, uris] of all) {
    for (const uri of uris) owners.set(uri, (owners.get(uri) ?? new Set()).add(server));
  }
  const shown = (server: string, uri: string) => {
    const isShared = (owners.get(uri)?.size ?? 0) > 1 || (claimant(uri) ?? server) !== server;
    return isShared || isOurs(uri) ? withServer(server, uri) : uri;
  };
  return new Map([...all].map(([server, uris]) => [server, new Map(uris.map((uri) => [uri, shown(server, uri)]))]));
}

/** Whether a URI looks like an address of ours. Agents may write schemes and hosts in lower case. */
export function isOurs(uri: string): boolean {
  const lower = uri.slice(0, 20).toLowerCase();
  return beginnings.some(({ ours }) => lower.startsWith(ours));
}

/** Whether an address may come from a template (RFC 6570): it contains the template's fixed parts in order. */
export function mayBeOf(template: string, uri: string): boolean {
  const parts = template.split(/\{[^{}]*\}/);
  const [first = "", ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return uri === first;
  if (!uri.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}

/** `file:` for `file:///a`; empty if there is none. */
export function schemeOf(uri: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(uri)?.[0].toLowerCase() ?? "";
}

/**
 * The servers of addresses that the agent knows and that have no server's name in them. The first server that showed an address keeps it:
 * another server cannot take it over by listing it or linking to it later.
 */
export class KnownAddresses {
  /** Addresses in lists. */
  readonly #listed = new Map<string, string>();
  readonly #listedBy = new Map<string, number>();
  /** Addresses in results, by address and by server, oldest first. */
  readonly #linked = new Map<string, string>();
  readonly #byServer = new Map<string, Set<string>>();

  /** The server of an address that was in a list or in a result. */
  serverOf(address: string): string | undefined {
    return this.#listed.get(address) ?? this.#linked.get(address);
  }

  /** The agent was shown the address in a list. */
  list(address: string, server: string): void {
    if ((this.serverOf(address) ?? server) !== server || this.#listed.has(address)) return;
    const count = this.#listedBy.get(server) ?? 0;
    if (count >= maxListedUris || address.length > maxUriChars) return;
    this.#listedBy.set(server, count + 1);
    this.#listed.set(address, server);
  }

  /** The agent is shown the address in a result. Returns false if the address belongs to another server or is too long. */
  link(address: string, server: string): boolean {
    const known = this.serverOf(address);
    if (known !== undefined && known !== server) return false;
    if (address.length > maxUriChars) return false;
    const own = this.#byServer.get(server) ?? new Set<string>();
    this.#byServer.set(server, own);
    own.delete(address);
    own.add(address);
    this.#linked.set(address, server);
    const [oldest] = own;
    if (own.size > maxLinkedUris && oldest !== undefined) {
      own.delete(oldest);
      this.#linked.delete(oldest);
    }
    return true;
  }
}
