/** mcporter: a command line for MCP servers, which keeps them in a daemon of its own where their entry says so. */
import { join } from "node:path";
import { type Environment, installed, outputOf } from "./npm.ts";
import type { Program } from "./peer.ts";

const version = "0.12.3";

/** It wants a Node of 24 or newer, which comes with it, as a package of the same registry. */
const node = {
  name: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`,
  version: "24.9.0",
};

/** The one on PATH, else that version under a Node of its own. */
export async function findMcporter(env: Environment): Promise<Program> {
  try {
    const here = Bun.which("mcporter");
    const command = here ? [here] : await withItsNode(env);
    return { command, version: (await outputOf([...command, "--version"])).trim() };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

async function withItsNode(env: Environment): Promise<string[]> {
  const folder = await installed([`mcporter@${version}`, `${node.name}@${node.version}`], env);
  const modules = join(folder, "node_modules");
  return [join(modules, node.name, "bin", "node"), join(modules, ".bin", "mcporter")];
}
