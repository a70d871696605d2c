/** The tool execute_task for a host: with the user's model, and with the host's own. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  type CreateMessageRequest,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";
import { claudikinsCommand } from "../support/command.ts";
import { failedRequest, type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { httpServe } from "../support/http-serve.ts";
import { type Script, startLlm } from "../support/llm.ts";
import { ownFolder } from "../support/own-folder.ts";

setDefaultTimeout(60_000);

const key = "test-key-1234567";
const [command, ...args] = [...claudikinsCommand, "demo"];

const folder = ownFolder({ endsProcesses: true });

const configure = (settings: object) =>
  folder.write("claudikins.json", { mcpServers: { demo: { command, args, category: "business" } }, ...settings });

const picking = (tool: string, given: object) => (isChoice: boolean) => (isChoice ? { choice: tool } : given);
type Answers = ReturnType<typeof picking>;

/** There is one category and one server, so the first question is for the tool; its answers have a choice. */
const scripted =
  (answers: Answers): Script =>
  ({ body }) =>
    answers(body.response_format?.json_schema?.name === "tool_choice");

/** A host whose model gives these answers; its requests are added to `asked`. */
function lending(answers: Answers, asked: CreateMessageRequest["params"][] = []) {
  return (client: Client) =>
    client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
      asked.push(params);
      const text = `Sure:\n\`\`\`json\n${JSON.stringify(answers(JSON.stringify(params).includes("Which option?")))}\n\`\`\``;
      return { role: "assistant", model: "lent", content: { type: "text", text } };
    });
}

async function asHost<T>(way: string, options: HostOptions, work: (host: TestHost) => Promise<T>): Promise<T> {
  await using door = way === "http" ? await httpServe(folder, [], { env: { A_KEY: key } }) : undefined;
  const env = { A_KEY: key, ...options.env };
  await using host = await openHost(folder, { ...options, env, ...(door ? { url: door.url } : {}) });
  return await work(host);
}

interface Done {
  isError: boolean;
  value: Record<string, unknown>;
  receipt: string;
}

async function execute(host: TestHost, task: string, more: object = {}): Promise<Done> {
  const result = await host.call("execute_task", { task, ...more });
  const blocks = result["content"] as { type: string; text: string }[];
  expect(blocks.map(({ type }) => type)).toEqual(["text"]);
  expect(result["structuredContent"]).toBeUndefined();
  const [value = "", receipt = ""] = blocks[0]!.text.split(/\n\n(?=\[[^\n]*\]$)/);
  return { isError: result["isError"] === true, value: JSON.parse(value), receipt };
}

const namesOf = async (host: TestHost) =>
  ((await host.request("tools/list"))["tools"] as { name: string }[]).map(({ name }) => name);

const two = ["search_tools", "execute_code"];
const three = [...two, "execute_task"];

describe.each(["stdio", "http"])("execute_task over %s", (way) => {
  test.each<[string, object, object, string[]]>([
    ["not turned on", { llm: { preset: "ollama" } }, { sampling: {} }, two],
    ["turned on with a model", { llm: { preset: "cerebras" }, executeTask: true }, {}, three],
    ["turned on without a model", { executeTask: true }, { roots: {}, elicitation: {} }, two],
    ["turned on with the host's model", { executeTask: true }, { sampling: {} }, three],
  ])("%s is offered, or not, by the first list and later ones", async (_, settings, capabilities, names) => {
    configure(settings);
    await asHost(
      way,
      { capabilities, prepare: "sampling" in capabilities ? lending(picking("x", {})) : () => {} },
      async (host) => {
        expect(await namesOf(host)).toEqual(names);
        const nonsense = await host.call("execute_code", { code: 7 });
        expect(nonsense["isError"]).toBe(true);
        expect(await namesOf(host)).toEqual(names);
        if (names.length === 3) return;
        const { message } = await failedRequest(host.call("execute_task", { task: "x" }));
        expect(message).toEndWith('There is no tool "execute_task", only search_tools and execute_code');
      },
    );
  });

  test("calls one tool with the user's model, and returns one result", async () => {
    await using llm = startLlm(scripted(picking("get_order", { order_id: "ord_00042" })));
    configure({ executeTask: true, llm: { baseUrl: llm.baseUrl, model: "small", apiKey: "${A_KEY}" } });
    await asHost(way, {}, async (host) => {
      const { isError, value, receipt } = await execute(host, "order ord_00042");
      expect(isError).toBe(false);
      expect(value).toMatchObject({ success: true, tool_used: "demo.get_order", result: { id: "ord_00042" } });
      expect(Object.keys(value)).toEqual(["success", "tool_used", "result"]);
      expect(receipt).toMatch(/^\[demo\.get_order · 2 calls of 127\.0\.0\.1:\d+\/small, 214 tokens · \d[\d.,]* m?s\]$/);
      expect((await execute(host, "order ord_00042", { dry_run: true })).value).toEqual({
        success: true,
        dry_run: true,
        tool_used: "demo.get_order",
        arguments: { order_id: "ord_00042" },
      });
    });
    expect(llm.problems).toEqual([]);
  });

  test("asks the host's model for JSON in words, with hints for speed and cost", async () => {
    configure({ executeTask: true });
    const asked: CreateMessageRequest["params"][] = [];
    const prepare = lending(picking("get_order", { order_id: "ord_00042" }), asked);
    await asHost(way, { capabilities: { sampling: {} }, prepare }, async (host) => {
      const { value, receipt } = await execute(host, "order ord_00042");
      expect(value).toMatchObject({ success: true, tool_used: "demo.get_order", result: { id: "ord_00042" } });
      expect(receipt).toContain("2 calls of the host's model, about ");
    });
    expect(asked).toHaveLength(2);
    for (const params of asked) {
      expect(params.systemPrompt).toContain("JSON Schema");
      expect(params.modelPreferences).toMatchObject({ costPriority: 1, speedPriority: 1 });
      expect(params.maxTokens).toBeGreaterThan(0);
      expect(JSON.stringify(params.messages)).toContain("order ord_00042");
    }
  });

  test("says that the person or the host refused the model", async () => {
    configure({ executeTask: true });
    const prepare = (client: Client) =>
      client.setRequestHandler(CreateMessageRequestSchema, () => {
        throw new McpError(-1, "User rejected sampling request");
      });
    await asHost(way, { capabilities: { sampling: {} }, prepare }, async (host) => {
      const { isError, value } = await execute(host, "order ord_00042");
      expect(isError).toBe(true);
      expect(value).toEqual({
        success: false,
        error: {
          type: "MODEL_REFUSED",
          message: "The user or the host refused the request to its model",
          suggestion: 'Set "llm" in claudikins.json to use a model of your own instead.',
        },
      });
    });
  });

  test("asks the person for missing arguments if the host has forms", async () => {
    configure({ executeTask: true });
    const forms: unknown[] = [];
    const prepare = (client: Client) => {
      lending(picking("get_order", {}))(client);
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        forms.push(params);
        return { action: "accept", content: { order_id: "ord_00042" } };
      });
    };
    await asHost(way, { capabilities: { sampling: {}, elicitation: { form: {} } }, prepare }, async (host) => {
      expect((await execute(host, "an order")).value).toMatchObject({ success: true, result: { id: "ord_00042" } });
    });
    expect(forms).toMatchObject([
      { message: "demo.get_order needs order_id", requestedSchema: { required: ["order_id"] } },
    ]);
  });
});

test("missing arguments are described by their schema if nobody can be asked", async () => {
  configure({ executeTask: true });
  await asHost(
    "stdio",
    { capabilities: { sampling: {} }, prepare: lending(picking("get_order", {})) },
    async (host) => {
      const { isError, value } = await execute(host, "an order");
      expect(isError).toBe(true);
      expect(value).toMatchObject({
        success: false,
        tool_used: "demo.get_order",
        error: { type: "INVALID_ARGUMENTS" },
        needs_input: { missing: ["order_id"], known: {}, schema: { required: ["order_id"] } },
      });
    },
  );
});

test("a long result is abridged, and stored completely", async () => {
  configure({ executeTask: true, limits: { outputChars: 1_000 } });
  const prepare = lending(picking("list_orders", { limit: 100 }));
  await asHost("stdio", { capabilities: { sampling: {} }, prepare }, async (host) => {
    const [block] = (await host.call("execute_task", { task: "all orders" }))["content"] as { text: string }[];
    const { text } = block!;
    expect(text.length).toBeLessThan(1_800);
    const [, file] = /\.\/workspace\/(outputs\/[\w-]+\.txt)/.exec(text) ?? [];
    const whole = JSON.parse(readFileSync(join(folder.path, ".claudikins", "workspace", file ?? ""), "utf8"));
    expect(whole).toMatchObject({ success: true, tool_used: "demo.list_orders" });
    expect(whole.result.orders).toHaveLength(100);
    expect(text).toContain(`fs.readFile("./workspace/${file}", "utf8")`);
  });
});

test("a missing key of the model is reported, and other tools work", async () => {
  configure({ executeTask: true, llm: { preset: "cerebras" } });
  await asHost("stdio", {}, async (host) => {
    const result = await host.call("execute_task", { task: "an order" });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("needs CEREBRAS_API_KEY") }],
    });
    expect(await host.call("execute_code", { code: "return 1" })).not.toHaveProperty("isError");
  });
});

test.each([
  [{}, 'execute_task needs "task"'],
  [{ task: " " }, 'execute_task needs "task"'],
  [{ task: "x", dry_run: "yes" }, '"dry_run" must be true or false'],
])("execute_task refuses %j", async (given, message) => {
  configure({ executeTask: true, llm: { preset: "ollama" } });
  await asHost("stdio", {}, async (host) => {
    const result = await host.call("execute_task", given);
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(message) }] });
  });
});
