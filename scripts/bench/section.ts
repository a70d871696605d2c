/** The parameters of every section, and the peers that it measures. */

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
  /** The number of rounds of a section; expensive sections give a maximum, or a number that is enough. */
  rounds(most?: number, atLeast?: number): Rounds;
  /** The number of repetitions of work without rounds. */
  runs: number;
  /** The peers that were found, and why others are missing. */
  found: Found;
  /** The folder of the recorded queries that measure the quality of search. */
  corpus?: string | undefined;
  /** The user's own environment, with its caches; the benchmark has another home. */
  user: Record<string, string | undefined>;
  /** A new folder with a config of these servers and more settings. */
  folder(servers?: Record<string, object>, more?: object): string;
}

export type Measure = (bench: Bench) => Promise<{ rows: Row[]; notes?: string[] }>;

/** Replaces the figures of missing peers. */
export function absent(peers: Record<string, object>): Record<string, Other> {
  const missing = Object.entries(peers).filter(([, peer]) => "missing" in peer);
  return Object.fromEntries(missing.map(([name]) => [name, { none: "not here" }]));
}

/** The available peers by name, and why the others are missing. */
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

  /** One contestant per peer. */
  each<T>(make: (peer: Peer) => T): Record<string, T> {
    return Object.fromEntries(Object.entries(this.running).map(([name, peer]) => [name, make(peer)]));
  }

  /** Runs the code once in each peer. Those in which it fails are not measured, and returned. */
  async leaveOutFailing(code: string): Promise<{ name: string; why: string }[]> {
    const failed: { name: string; why: string }[] = [];
    for (const [name, peer] of Object.entries(this.running)) {
      try {
        await peer.execute(code);
      } catch (error) {
        await this.leaveOut(name);
        this.missing[name] = { none: "fails" };
        const why = /(?:Error|failed)[^\n]*/.exec(String(error))?.[0] ?? "no reason given";
        failed.push({ name, why: why.slice(0, 160) });
      }
    }
    return failed;
  }

  /** Ends peers that a section does not measure. */
  async leaveOut(...names: string[]): Promise<void> {
    for (const name of names) {
      await this.running[name]?.[Symbol.asyncDispose]();
      delete this.running[name];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(Object.values(this.running).map((peer) => peer[Symbol.asyncDispose]()));
  }
}
