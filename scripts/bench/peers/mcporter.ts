/** mcporter: a command line for MCP servers that keeps them in its own daemon if their entries say so. */
import { join } from "node:path";
import { type Environment, installed, outputOf } from "./npm.ts";
import type { Program } from "./peer.ts";

const version = "0.12.3";

/** mcporter requires Node 24 or newer, which is installed from npm too. */
const node = {
  name: `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`,
  version: "24.9.0",
};

/** mcporter on PATH, or else this version with its own Node. */
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
