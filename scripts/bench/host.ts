/** `claudikins serve` with a host, and the SDK's client on a server. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Entry } from "../../test/support/servers.ts";

/** The SDK's client drops a connection with more unread data than this; its default is 10 MiB. */
const maxBufferSize = 256 * 1_048_576;

export interface Host extends AsyncDisposable {
  pid: number;
  /** The text of the answer, without the receipt. Throws if the execution fails. */
  execute(code: string, options?: { timeoutMs?: number; signal?: AbortSignal }): Promise<string>;
}

/** Starts a host with a new `serve`, in a folder that may contain a config. */
export async function startHost(binary: string, folder: string, flags: string[] = []): Promise<Host> {
  const { client, pid } = await connected({ command: binary, args: ["serve", "--trust", ...flags] }, folder);
  return {
    pid,
    async execute(code, { timeoutMs = 60_000, signal } = {}) {
      const { content, isError } = await client.callTool(
        { name: "execute_code", arguments: { code, timeout_ms: timeoutMs } },
        undefined,
        { timeout: timeoutMs + 10_000, ...(signal ? { signal } : {}) },
      );
      const [block] = content as { text: string }[];
      if (isError || !block) throw new Error(`an execution failed: ${block?.text}`);
      return block.text.split("\n\n")[0]!;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export interface RawClient extends AsyncDisposable {
  call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Record<string, unknown>>;
}

/** The SDK's client on the same server, in this process. */
export async function startRawClient(entry: Entry): Promise<RawClient> {
  const { client } = await connected(entry);
  return {
    async call(tool, args, signal) {
      const result = await client.callTool({ name: tool, arguments: args }, undefined, signal ? { signal } : undefined);
      if (result.isError) throw new Error(`${tool} failed: ${JSON.stringify(result.content)}`);
      return result;
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** The name that hosts show for a tool of one of several servers. */
export const shownName = (server: string, tool: string) => `mcp__${server}__${tool}`;

/** The tools of all pages. */
export async function toolsOf(client: Client): Promise<Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

export interface HttpHost extends AsyncDisposable {
  url: string;
}

/** Starts `serve --http` on this machine, without a token. `env` is added to our environment. */
export async function startHttp(binary: string, folder: string, env: Record<string, string> = {}): Promise<HttpHost> {
  const command = [binary, "serve", "--http", "0", "--json", "--without-token", "--trust"];
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const { value } = await child.stdout.getReader().read();
  if (!value) throw new Error("serve --http did not start");
  const { url } = JSON.parse(new TextDecoder().decode(value)) as { url: string };
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

export async function connected(entry: Entry, cwd?: string): Promise<{ client: Client; pid: number }> {
  const client = new Client({ name: "bench", version: "1" });
  const transport = new StdioClientTransport({ ...entry, ...(cwd ? { cwd } : {}), stderr: "ignore", maxBufferSize });
  await client.connect(transport);
  return { client, pid: transport.pid! };
}
