/** executor: an MCP server with one tool that runs code, before a daemon of its own. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Environment, installedProgram, outputOf } from "./npm.ts";
import type { Peer, Program } from "./peer.ts";

const version = "1.5.9";

export type ExecutorHere = Exclude<Program, { missing: string }>;

/** Asked what one and one is, since a program that starts may still not run code here. */
export async function findExecutor(env: Environment, folder: string): Promise<Program> {
  try {
    const executable = await installedProgram("executor", version, env);
    const said = (await outputOf([executable, "--version"])).trim();
    const here = { command: [executable], version: said.replace(/^\D*/, "") };
    await using peer = await startExecutor(here, folder);
    if ((await peer.execute("return 1 + 1")) !== 2) throw new Error("executor: 1 + 1 is not 2");
    return here;
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/** As a host has it; the folder is its workspace and its home. */
export async function startExecutor({ command: [command = ""] }: ExecutorHere, folder: string): Promise<Peer> {
  const client = new Client({ name: "bench", version: "1" });
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const args = ["mcp", "--scope", folder];
  await client.connect(new StdioClientTransport({ command, args, env, cwd: folder, stderr: "ignore" }));
  return {
    async execute(code) {
      const { structuredContent, isError } = await client.callTool({ name: "execute", arguments: { code } });
      const { status, result } = (structuredContent ?? {}) as { status?: string; result?: unknown };
      if (isError || status !== "completed") throw new Error(`executor: ${JSON.stringify(structuredContent)}`);
      return result;
    },
    leave() {
      throw new Error("executor is not measured with code that goes on");
    },
    pids: () => [],
    [Symbol.asyncDispose]: () => client.close(),
  };
}
