/** One Node process that runs each program in a new context of `node:vm`, without isolation. It is the lower bound. */
import { join } from "node:path";
import { startLines } from "./line-peer.ts";
import type { Peer, Servers } from "./peer.ts";

const program = join(import.meta.dir, "node-vm.mjs");

export function startNodeVm(servers: Servers = {}): Peer {
  return startLines("node:vm", ["node", program, JSON.stringify(servers)]);
}
