/** executor: an MCP server with one tool that runs code, in front of its own daemon. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { type Environment, installedProgram, outputOf } from "./npm.ts";
import type { Peer, Program } from "./peer.ts";

const version = "1.5.9";

export type ExecutorHere = Exclude<Program, { missing: string }>;

/** Runs a small program first, since a program that starts may still be unable to run code on this machine. */
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

/** Starts it as a host does, with the folder as its workspace and home. */
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
