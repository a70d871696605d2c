/** `model.ask` with the model of the agent: over stdio and HTTP, with agents that lend none and that refuse. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { type CreateMessageRequest, CreateMessageRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { claudikinsCommand } from "../support/command.ts";
import { type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { httpServe } from "../support/http-serve.ts";
import { openModernHost } from "../support/modern-host.ts";
import { ownFolder } from "../support/own-folder.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
const [command, ...args] = [...claudikinsCommand, "demo"];

const configure = (settings: object) =>
  folder.write("claudikins.json", { mcpServers: { demo: { command, args } }, ...settings });

type Params = CreateMessageRequest["params"];

/** A host whose model gives this answer. Its requests are added to `asked`. */
const lending = (answer: (params: Params) => unknown, asked: Params[] = []) => ({
  capabilities: { sampling: {} },
  prepare: (client: Client) =>
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      asked.push(params);
      const text = JSON.stringify(answer(params));
      return { role: "assistant", model: "lent", content: { type: "text", text } };
    }),
});

async function asHost<T>(way: string, options: HostOptions, work: (host: TestHost) => Promise<T>): Promise<T> {
  await using door = way === "http" ? await httpServe(folder, []) : undefined;
  await using host = await openHost(folder, { ...options, ...(door ? { url: door.url } : {}) });
  return await work(host);
}

async function text(host: TestHost, code: string): Promise<string> {
  const { content } = (await host.call("execute_code", { code })) as { content: { text?: string }[] };
  return content.map((block) => block.text ?? "").join("\n");
}

const schema = '{ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }';

describe.each(["stdio", "http"])("over %s", (way) => {
  test("the agent's model answers, each request once, and many at the same time", async () => {
    configure({ askModel: true });
    const asked: Params[] = [];
    const lent = lending(({ messages }) => ({ n: JSON.stringify(messages).length }), asked);
    const code = `const all = await Promise.all([1, 2, 3, 4].map((n) => model.ask("Number " + n, { schema: ${schema} }))); return all.map(({ n }) => typeof n);`;
    expect(await asHost(way, lent, (host) => text(host, code))).toContain('["number", "number", "number", "number"]');
    expect(asked.map(({ messages }) => (messages[0]!.content as { text: string }).text).toSorted()).toEqual([
      "Number 1",
      "Number 2",
      "Number 3",
      "Number 4",
    ]);
    expect(asked[0]?.systemPrompt).toContain("must match this JSON Schema");
  });

  test("an agent that refuses is an error with its code", async () => {
    configure({ askModel: true });
    const refusing = lending(() => {
      throw new McpError(-1, "the user said no");
    });
    const code = 'try { await model.ask("x"); } catch (error) { return error.data?.code + " " + error.message; }';
    expect(await asHost(way, refusing, (host) => text(host, code))).toContain(
      "MODEL_REFUSED MODEL_REFUSED: The user or the host refused",
    );
  });
});

test("an agent without a model gets an error that says what its user can do", async () => {
  configure({ askModel: true });
  const said = await asHost("stdio", {}, (host) => text(host, 'return await model.ask("x");'));
  expect(said).toContain("MODEL_UNAVAILABLE: No model is configured");
  expect(said).toContain('Set "llm" in claudikins.json');
});

test("an agent reads of the function only if it is on", async () => {
  const read = (host: TestHost) => host.client.getInstructions() ?? "";
  configure({});
  const off = await asHost("stdio", {}, async (host) => read(host));
  expect(off).not.toContain("model");
  configure({ askModel: true });
  expect(await asHost("stdio", {}, async (host) => read(host))).toContain("model");
});

test("private data does not leave to the agent's model unasked", async () => {
  configure({
    askModel: true,
    policy: { labels: { "demo.list_customers": ["private"], "demo.list_tickets": ["untrusted"] } },
  });
  const asked: Params[] = [];
  const read = "const { customers } = await demo.list_customers({});";
  const code = (first: string) =>
    `${first} ${read} return (await model.ask("Sum up", { data: customers.slice(0, 2), schema: ${schema} })).n;`;
  await asHost(
    "stdio",
    lending(() => ({ n: 7 }), asked),
    async (host) => {
      expect(await text(host, code(""))).toContain("7");
      expect(asked).toHaveLength(1);
      expect(await text(host, code("await demo.list_tickets({});"))).toContain("model.ask");
    },
  );
  expect(asked).toHaveLength(1);
});

test("an agent of 2026-07-28 is asked, too, while its request waits", async () => {
  configure({ askModel: true });
  const asked: string[] = [];
  await using host = await openModernHost(folder, {
    capabilities: { sampling: {} },
    prepare: (client) =>
      client.setRequestHandler("sampling/createMessage", ({ params }) => {
        asked.push(JSON.stringify(params.messages));
        return { role: "assistant", model: "lent", content: { type: "text", text: '{"n":3}' } };
      }),
  });
  const code = `return (await model.ask("Count", { schema: ${schema} })).n + 1;`;
  const { content } = await host.callTool({ name: "execute_code", arguments: { code } });
  expect(JSON.stringify(content)).toContain('"4');
  expect(asked).toEqual([expect.stringContaining("Count")]);
});

test("an agent in direct mode, which has a model itself, is not shown the function", async () => {
  configure({ askModel: true });
  const { tools } = await asHost("stdio", { flags: ["--mode", "direct"] }, (host) => host.client.listTools());
  const names = tools.map(({ name }) => name);
  expect(names).toContain("list_orders");
  expect(names.filter((name) => /ask|model/.test(name))).toEqual([]);
});
