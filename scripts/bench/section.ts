/** What every section is given, and the peers beside which it measures. */

import type { Rounds } from "./measure.ts";
import { startCodeMode } from "./peers/code-mode.ts";
import { startDeno } from "./peers/deno.ts";
import type { Found } from "./peers/found.ts";
import { startNodeVm } from "./peers/node-vm.ts";
import type { Peer, Servers as PeerServers } from "./peers/peer.ts";
import type { Other, Row } from "./report.ts";

export interface Bench {
  /** The executable. */
  binary: string;
  /** How many rounds there are in each section; those with dear ones say how many are the most, and enough. */
  rounds(most?: number, atLeast?: number): Rounds;
  /** How many times, where something is repeated that is no round. */
  runs: number;
  /** Who stands beside us, and who does not. */
  found: Found;
  /** Where the recorded queries are by which the quality of searches is measured. */
  corpus?: string | undefined;
  /** The user's own environment, with their caches; the one of the bench has another home. */
  user: Record<string, string | undefined>;
  /** A new folder, with a config of these servers, and what else is to stand in it. */
  folder(servers?: Record<string, object>, more?: object): string;
}

export type Measure = (bench: Bench) => Promise<{ rows: Row[]; notes?: string[] }>;

/** What stands in the place of figures of those that are not here. */
export function absent(peers: Record<string, object>): Record<string, Other> {
  const missing = Object.entries(peers).filter(([, peer]) => "missing" in peer);
  return Object.fromEntries(missing.map(([name]) => [name, { none: "not here" }]));
}

/** The peers that run here, by name, and why the others do not. */
export class Peers implements AsyncDisposable {
  readonly running: Record<string, Peer> = {};
  readonly missing: Record<string, Other> = {};

  static async start({ found: { deno, codeMode } }: Bench, servers: PeerServers = {}): Promise<Peers> {
    const peers = new Peers();
    peers.running["node:vm"] = startNodeVm(servers);
    Object.assign(peers.missing, absent({ deno, "@utcp/code-mode": codeMode }));
    if (!("missing" in deno)) peers.running["deno"] = await startDeno(deno, servers);
    if (!("missing" in codeMode)) peers.running["@utcp/code-mode"] = startCodeMode(codeMode, servers);
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
