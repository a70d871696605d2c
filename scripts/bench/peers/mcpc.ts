/** @apify/mcpc: a command line for MCP servers that keeps each connection in its own process. */
import { type Environment, installedProgram, outputOf } from "./npm.ts";
import type { Program } from "./peer.ts";

const version = "0.2.6";

export async function findMcpc(env: Environment): Promise<Program> {
  try {
    const executable = await installedProgram("@apify/mcpc", version, env, "mcpc");
    return { command: [executable], version: (await outputOf([executable, "--version"])).trim() };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}
