/** mcporter: a command line for MCP servers, which keeps them in a daemon of its own where their entry says so. */
import { type Environment, installedProgram, outputOf } from "./npm.ts";
import type { Program } from "./peer.ts";

/** The newest version that the Node here runs, unless there is one on PATH. */
export async function findMcporter(env: Environment): Promise<Program> {
  try {
    const node = Number.parseInt((await outputOf(["node", "--version"])).slice(1), 10);
    const executable =
      Bun.which("mcporter") ?? (await installedProgram("mcporter", node >= 24 ? "0.12.3" : "0.9.0", env));
    return { executable, version: (await outputOf([executable, "--version"])).trim() };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}
