/** Every path of a task for a host: with an endpoint over HTTP, and with the host's model over sampling. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js";
import { type HostOptions, openHost, type TestHost } from "../support/host.ts";
import { type Reply, startLlm } from "../support/llm.ts";
import { ownFolder } from "../support/own-folder.ts";
import { fixture } from "../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const categories = ["animals", "books", "cars", "drinks", "engines"];
const needsId = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

/** Five categories with one server of one tool each. */
function configure(llm: object | undefined, inputSchema: object = { type: "object", properties: {} }): void {
  const servers = categories.map((category) => {
    const tools = folder.write(`${category}.json`, [
      { name: `get_${category}`, description: `About ${category}.`, inputSchema },
    ]);
    return [`my-${category}`, { ...fixture("recording", join(folder.path, `${category}.got`), tools), category }];
  });
  folder.write("claudikins.json", {
    mcpServers: Object.fromEntries(servers),
    executeTask: true,
    ...(llm ? { llm } : {}),
  });
}

/** The calls that the server of this category received. */
function got(category: string): unknown[] {
  const file = join(folder.path, `${category}.got`);
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
    : [];
}

interface Done {
  value: Record<string, unknown>;
  receipt: string;
  /** The requests to the model, in order. */
  questions: string[];
}

interface Given {
  /** The answers of the model, one per request; the last one is repeated. */
  answers: string[];
  inputSchema?: object;
  options?: HostOptions;
}

async function execute(host: TestHost): Promise<Omit<Done, "questions">> {
  const result = await host.call("execute_task", { task: "what is there to drink?" });
  const [{ text = "" } = {}] = result["content"] as { text?: string }[];
  const [value = "", receipt = ""] = text.split(/\n\n(?=\[[^\n]*\]$)/);
  return { value: JSON.parse(value), receipt };
}

const ways: Record<string, (given: Given) => Promise<Done>> = {
  async "an endpoint over HTTP"({ answers, inputSchema, options }) {
    await using llm = startLlm(
      answers.map((text) => ({ text })),
      null,
    );
    configure({ baseUrl: llm.baseUrl, model: "m" }, inputSchema);
    await using host = await openHost(folder, options);
    const done = await execute(host);
    expect(llm.problems).toEqual([]);
    return { ...done, questions: llm.requests.map(({ body }) => body.messages[1]!.content) };
  },
  async "the host's model"({ answers, inputSchema, options }) {
    configure(undefined, inputSchema);
    const questions: string[] = [];
    const left = [...answers];
    const prepare = (client: Client) => {
      options?.prepare?.(client);
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        const [{ content } = {}] = params.messages;
        questions.push((content as { text: string }).text);
        const text = (left.length > 1 ? left.shift() : left[0]) ?? "";
        return { role: "assistant", model: "lent", content: { type: "text", text } };
      });
    };
    await using host = await openHost(folder, { prepare, capabilities: { ...options?.capabilities, sampling: {} } });
    return { ...(await execute(host)), questions };
  },
};

describe.each(Object.entries(ways))("a task with %s", (_name, way) => {
  const drinks = '{"choice": "drinks"}';
  const called = { success: true, tool_used: "my-drinks.get_drinks", result: "did get_drinks" };

  test("needs one question for five categories with one server and one tool without arguments each", async () => {
    const { value, receipt, questions } = await way({ answers: [drinks] });
    expect(value).toEqual(called);
    expect(questions).toHaveLength(1);
    for (const category of categories) expect(questions[0]).toContain(category);
    expect(receipt).toStartWith("[my-drinks.get_drinks · 1 call of ");
    expect(got("drinks")).toEqual([{ name: "get_drinks", args: {} }]);
  });

  test("repeats the question with the options after an unknown choice", async () => {
    const { value, questions } = await way({ answers: ['{"choice": "food"}', drinks] });
    expect(value).toEqual(called);
    expect(questions).toHaveLength(2);
    expect(questions[1]).toContain('"food" is not one of the options. The choice must be one of ["');
  });

  test("calls nothing after two unknown choices", async () => {
    const { value, questions } = await way({ answers: ['{"choice": "food"}'] });
    expect(value).toMatchObject({ success: false, error: { type: "MODEL_ANSWER_INVALID" } });
    expect(questions).toHaveLength(2);
    expect(categories.flatMap(got)).toEqual([]);
  });

  test.each([
    ["in a fence, with words around it", 'Let me see.\n```json\n{"choice": "drinks"}\n```\nThere.'],
    ["as a JavaScript object", "{choice: 'drinks',}"],
    ["after thinking", '<think>{"choice": "cars"}? No.</think>{"choice": "drinks"}'],
    ["as the name alone", "drinks"],
  ])("accepts an answer %s", async (_, answer) => {
    const { value, questions } = await way({ answers: [answer] });
    expect(value).toEqual(called);
    expect(questions).toHaveLength(1);
  });

  test("repeats the question after incomplete JSON", async () => {
    const { value, questions } = await way({ answers: ['{"choi', drinks] });
    expect(value).toEqual(called);
    expect(questions).toHaveLength(2);
  });

  test("returns the schema of missing arguments, and calls nothing", async () => {
    const { value } = await way({ answers: [drinks, "{}"], inputSchema: needsId });
    expect(value).toMatchObject({
      success: false,
      tool_used: "my-drinks.get_drinks",
      error: { type: "INVALID_ARGUMENTS" },
      needs_input: { missing: ["id"], known: {}, schema: { required: ["id"] } },
    });
    expect(got("drinks")).toEqual([]);
  });

  test.each([
    [
      "accepts",
      { action: "accept" as const, content: { id: "7" } },
      called,
      [{ name: "get_drinks", args: { id: "7" } }],
    ],
    ["declines", { action: "decline" as const }, { success: false, error: { type: "CANCELLED" } }, []],
    ["cancels", { action: "cancel" as const }, { success: false, needs_input: { missing: ["id"] } }, []],
  ])("asks the person for missing arguments, who %s", async (_, answer, expected, calls) => {
    const prepare = (client: Client) => client.setRequestHandler(ElicitRequestSchema, () => answer);
    const options = { prepare, capabilities: { elicitation: { form: {} } } };
    const { value } = await way({ answers: [drinks, "{}"], inputSchema: needsId, options });
    expect(value).toMatchObject(expected);
    expect(got("drinks")).toEqual(calls);
  });
});

describe("a task with an endpoint", () => {
  const ok: Reply = { text: '{"choice": "drinks"}' };

  test.each<[string, Reply[], object, number]>([
    ["succeeds after one 429", [{ status: 429, headers: { "retry-after": "0" } }, ok], { success: true }, 2],
    [
      "fails after 429 with Retry-After of an hour",
      [{ status: 429, headers: { "retry-after": "3600" } }],
      { error: { type: "MODEL_UNAVAILABLE" } },
      1,
    ],
    ["fails without an answer in time", [{ hangs: true }], { error: { type: "MODEL_UNAVAILABLE" } }, 1],
    ["fails after a refusal", [{ refusal: "I will not" }], { error: { type: "MODEL_REFUSED" } }, 1],
    ["fails after 401", [{ status: 401 }], { error: { type: "AUTH_REQUIRED" } }, 1],
  ])("%s", async (_, replies, expected, requests) => {
    await using llm = startLlm(replies, null);
    configure({ baseUrl: llm.baseUrl, model: "m", timeoutMs: 2_000 });
    await using host = await openHost(folder);
    expect((await execute(host)).value).toMatchObject(expected);
    expect(llm.requests).toHaveLength(requests);
  });
});

describe("a task with the host's model", () => {
  const failing = (error: Error) => (client: Client) =>
    client.setRequestHandler(CreateMessageRequestSchema, () => {
      throw error;
    });

  test.each<[string, Error, string]>([
    ["fails if the person refuses", new McpError(-1, "User rejected sampling request"), "MODEL_REFUSED"],
    ["fails if the model is busy", new McpError(-32_603, "429"), "MODEL_UNAVAILABLE"],
  ])("%s", async (_, error, type) => {
    configure(undefined);
    await using host = await openHost(folder, { capabilities: { sampling: {} }, prepare: failing(error) });
    expect((await execute(host)).value).toMatchObject({ success: false, error: { type } });
  });

  test("cancels its question if the host cancels the call", async () => {
    configure(undefined);
    const [asked, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const prepare = (client: Client) =>
      client.setRequestHandler(CreateMessageRequestSchema, async (_, { signal }) => {
        asked.resolve();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        ended.resolve();
        throw new Error("cancelled");
      });
    await using host = await openHost(folder, { capabilities: { sampling: {} }, prepare });
    const over = new AbortController();
    const params = { name: "execute_task", arguments: { task: "drinks" } };
    const calling = host.request("tools/call", params, { signal: over.signal }).catch(() => "gave up");
    await asked.promise;
    over.abort();
    expect(await calling).toBe("gave up");
    await ended.promise;
    expect(categories.flatMap(got)).toEqual([]);
  });
});
