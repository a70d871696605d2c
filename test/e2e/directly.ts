/** An agent that is connected to servers directly, and one that uses them through claudikins, compared by the same calls. */
import { expect } from "bun:test";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ProgressNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { claudikinsCommand } from "../support/command.ts";
import { testEnvironment } from "../support/process.ts";
import type { Entry } from "../support/servers.ts";
import type { TemporaryFolder } from "../support/temporary.ts";

type Result = Record<string, unknown>;

export interface Step {
  server: string;
  tool: string;
  args?: Record<string, unknown>;
}

/** The size of base64 in its place: code that returned it would show an image. */
const sizesOfData = (json: string) =>
  json.replace(/"(data|blob)":"([^"]*)"/g, (_, key, data) => `"${key}":"${data.length}"`);

/** An agent that can be asked for roots, forms and messages, and counts the requests. */
async function agent(entry: Entry, cwd: string, root: string) {
  const capabilities = { roots: { listChanged: true }, elicitation: { form: {} }, sampling: {} };
  const client = new Client({ name: "agent", version: "1" }, { capabilities });
  const heard: string[] = [];
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(root).href, name: "root" }],
  }));
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    heard.push("form");
    // Like a person who accepts the defaults and enters a name.
    const { properties = {} } = (params as { requestedSchema?: { properties?: Record<string, { default?: unknown }> } })
      .requestedSchema ?? { properties: {} };
    const values = Object.entries(properties).map(([key, field]) => [
      key,
      field.default ?? (key === "name" ? "Ada" : undefined),
    ]);
    return { action: "accept", content: Object.fromEntries(values.filter(([, value]) => value !== undefined)) };
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => {
    heard.push("message");
    return { model: "m", role: "assistant", content: { type: "text", text: "sampled" } };
  });
  client.setNotificationHandler(ProgressNotificationSchema, () => void heard.push("progress"));
  const { command, args, env } = entry;
  await client.connect(new StdioClientTransport({ command, args, cwd, env: testEnvironment(env), stderr: "ignore" }));
  const call = async (name: string, given: object): Promise<Result> => {
    const params = { name, arguments: given, _meta: { progressToken: name } };
    return (await client.request({ method: "tools/call", params } as never, z.any())) as Result;
  };
  return { call, heard, [Symbol.asyncDispose]: () => client.close() };
}

export interface Comparison {
  folder: TemporaryFolder;
  /** The root of the agent. */
  root: string;
  servers: Record<string, Entry>;
  steps: readonly Step[];
  /** Removes everything from a result's JSON that differs between runs. */
  same?: (json: string) => string;
}

/** Expects the same results and requests for both agents, in a first round and in a later one. Returns the requests to ours. */
export async function compareWithDirect({
  folder,
  root,
  servers,
  steps,
  same = (json) => json,
}: Comparison): Promise<string[]> {
  // Directly, an agent is not asked whether a server may get what another one has said.
  folder.write("claudikins.json", { mcpServers: servers, policy: { flow: "off" } });
  const [command, ...args] = [...claudikinsCommand, "serve"];
  await using ours = await agent({ command, args }, folder.path, root);
  await using agents = new AsyncDisposableStack();
  const direct = new Map<string, Awaited<ReturnType<typeof agent>>>();
  for (const [name, entry] of Object.entries(servers)) {
    direct.set(name, agents.use(await agent(entry, folder.path, root)));
  }
  // A server may still be asking for the agent's roots, which a directly connected agent cannot know.
  await Bun.sleep(1_000);
  for (const round of ["first", "later"]) {
    for (const [name, itself] of direct) {
      for (const { server, tool, args = {} } of steps.filter((step) => step.server === name)) {
        const [before, beforeDirect] = [ours.heard.length, itself.heard.length];
        const expected = same(sizesOfData(JSON.stringify(await itself.call(tool, args))));
        const code = `const result = await servers[${JSON.stringify(server)}][${JSON.stringify(tool)}].raw(${JSON.stringify(args)});
          return JSON.stringify(result).replace(/"(data|blob)":"([^"]*)"/g, (_, key, data) => '"' + key + '":"' + data.length + '"');`;
        const { content } = await ours.call("execute_code", { code });
        const [{ text = "" } = {}] = content as { text?: string }[];
        const [value = ""] = text.split("\n\n[");
        expect([round, server, tool, value.startsWith("{") ? JSON.parse(same(value)) : text]).toEqual([
          round,
          server,
          tool,
          JSON.parse(expected),
        ]);
        const kinds = (heard: string[]) => [...new Set(heard)].sort();
        // An execution sends progress of its own.
        const asked = kinds(ours.heard.slice(before).filter((each) => each !== "progress"));
        const askedDirectly = kinds(itself.heard.slice(beforeDirect).filter((each) => each !== "progress"));
        expect([tool, asked]).toEqual([tool, askedDirectly]);
      }
    }
  }
  return ours.heard;
}
