/** What every section is given, and the peers beside which it measures. */

import { type Deno, startDeno } from "./peers/deno.ts";
import { startNodeVm } from "./peers/node-vm.ts";
import type { Peer, Servers as PeerServers } from "./peers/peer.ts";
import type { Other, Row } from "./report.ts";

export interface Bench {
  /** The executable. */
  binary: string;
  /** How many rounds where a round is cheap; sections with dear ones take fewer. */
  runs: number;
  deno: Deno;
  /** The user's own environment, with their caches; the one of the bench has another home. */
  user: Record<string, string | undefined>;
  /** A new folder, with a config of these servers, and what else is to stand in it. */
  folder(servers?: Record<string, object>, more?: object): string;
}

export type Measure = (bench: Bench) => Promise<{ rows: Row[]; notes?: string[] }>;

/** The peers that run here, by name, and why the others do not. */
export class Peers implements AsyncDisposable {
  readonly running: Record<string, Peer> = {};
  readonly missing: Record<string, Other> = {};

  static async start({ deno }: Bench, servers: PeerServers = {}): Promise<Peers> {
    const peers = new Peers();
    peers.running["node:vm"] = startNodeVm(servers);
    if ("missing" in deno) peers.missing["deno"] = { none: "not here" };
    else peers.running["deno"] = await startDeno(deno, servers);
    return peers;
  }

  /** One contestant a peer. */
  each<T>(make: (peer: Peer) => T): Record<string, T> {
    return Object.fromEntries(Object.entries(this.running).map(([name, peer]) => [name, make(peer)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.running).map((peer) => peer[Symbol.asyncDispose]()));
  }
}
