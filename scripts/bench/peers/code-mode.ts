/** @utcp/code-mode: a library that runs code in V8 isolates (isolated-vm) with blocking tool calls, in its own Node process. */
import { join } from "node:path";
import { strippingNode } from "../../../test/support/node.ts";
import { startLines } from "./line-peer.ts";
import { type Environment, installed, outputOf } from "./npm.ts";
import type { Peer, Servers } from "./peer.ts";

const packages = ["@utcp/code-mode@1.2.12", "@utcp/sdk@1.1.2", "@utcp/mcp@1.1.3"];

export interface CodeModeHere {
  node: string;
  folder: string;
  version: string;
}
export type CodeMode = CodeModeHere | { missing: string };

/** Requires isolated-vm, which loads only with some versions of Node. */
export async function findCodeMode(env: Environment): Promise<CodeMode> {
  try {
    const node = strippingNode ?? "node";
    const folder = await installed(packages, env);
    const load = `import("node:module").then((m) => m.createRequire(${JSON.stringify(join(folder, "x.js"))})("isolated-vm"))`;
    await outputOf([node, "--no-node-snapshot", "-e", load]);
    return { node, folder, version: "1.2.12" };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

export function startCodeMode({ node, folder }: CodeModeHere, servers: Servers = {}): Peer {
  const program = join(import.meta.dir, "code-mode.mjs");
  return startLines("@utcp/code-mode", [node, "--no-node-snapshot", program, folder, JSON.stringify(servers)]);
}
