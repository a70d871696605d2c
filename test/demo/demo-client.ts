/** The demo server as a process, with the SDK's client over stdio. */
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

export const DEMO_COMMAND = [process.execPath, join(import.meta.dir, "entry.ts")] as const;

type Arguments = Record<string, unknown>;

export interface DemoClient extends AsyncDisposable {
  client: Client;
  call(name: string, args?: Arguments): Promise<CallToolResult>;
  /** The text of a successful result. */
  text(name: string, args?: Arguments): Promise<string>;
  /** The parsed text of a successful result; `T` is the type that the caller expects. */
  value<T>(name: string, args?: Arguments): Promise<T>;
  /** The message of a failed result. */
  failure(name: string, args?: Arguments): Promise<string>;
}

export async function startDemoClient(): Promise<DemoClient> {
  const [command, ...args] = DEMO_COMMAND;
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ command, args }));

  async function call(name: string, args: Arguments = {}): Promise<CallToolResult> {
    return (await client.callTool({ name, arguments: args })) as CallToolResult;
  }
  async function onlyText(name: string, args: Arguments | undefined, isError: boolean): Promise<string> {
    const result = await call(name, args);
    const [block, ...more] = result.content;
    if ((result.isError ?? false) !== isError || block?.type !== "text" || more.length > 0) {
      throw new Error(`${name} gave ${JSON.stringify(result).slice(0, 400)}`);
    }
    return block.text;
  }
  return {
    client,
    call,
    text: (name, args) => onlyText(name, args, false),
    value: async (name, args) => JSON.parse(await onlyText(name, args, false)),
    failure: (name, args) => onlyText(name, args, true),
    [Symbol.asyncDispose]: () => client.close(),
  };
}
