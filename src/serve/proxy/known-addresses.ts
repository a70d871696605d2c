/**
 * Which server an address means that the agent knows without a server's name in it. The first server whose URI the agent was shown keeps
 * the address: another server cannot take it over by listing it or linking to it later.
 */

import { maxLinkedUris, maxListedUris, maxUriChars } from "../limits.ts";

export class KnownAddresses {
  /** Addresses in lists. */
  readonly #listed = new Map<string, string>();
  readonly #listedBy = new Map<string, number>();
  /** Addresses in results, and those of each server, oldest first. */
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
