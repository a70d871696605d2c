/** The answers of search_tools: enough for a correct call, in few tokens, and the next step if nothing matches. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { instructionsFor } from "../../src/serve/surface/instructions.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { generate } from "../../src/tools/generate.ts";
import { writeIndex } from "../../src/tools/registry/store.ts";
import { root } from "../support/claudikins.ts";
import { everything, filesystem, memory, sequentialThinking } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    demo: { command: process.execPath, args: [`${root}/src/main.ts`, "demo"], description: "A small shop" },
    everything: everything(),
    files: filesystem(folder.path),
    memory: memory(`${folder.path}/memory.json`),
    thinking: sequentialThinking(),
    needy: { command: "x", env: { TOKEN: `\${NO_SUCH_TOKEN}` } },
  });
  app = await folder.open();
  await generate(app);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function ask(args: object, of = app): Promise<{ text: string; isError: boolean }> {
  const { content, isError = false } = await callSearchTools({ ...args }, of, new AbortController().signal);
  expect(content.map(({ type }) => type)).toEqual(["text"]);
  return { text: (content as { text: string }[])[0]!.text, isError };
}

const missing =
  "Down: needy needs NO_SUCH_TOKEN. Retrying will not help. Tell the user: Set NO_SUCH_TOKEN before starting claudikins.";

const withoutMissing = (text: string) =>
  text
    .split("\n")
    .filter((line) => line !== missing)
    .join("\n");

describe("an answer", () => {
  test("has signature, description, an example call for tools with arguments, and the servers that are missing", async () => {
    const { text, isError } = await ask({ query: "refund an order", limit: 2 });
    expect(isError).toBe(false);
    expect(text.split("\n")[0]).toBe(missing);
    expect(withoutMissing(text)).toMatchInlineSnapshot(`
      "demo.refund_order(args: { order_id: string; amount_cents?: number; reason: string }): Promise<unknown>
        Gives a customer the money for an order back, all of it or a part; it cannot be undone. Only for orders that are paid, shipped or delivered.
        e.g. { order_id: "ord_00042", reason: "…" }
        order_id from demo.list_orders({ status?, customer_id?, from?, to?, … })
      Less likely: demo.update_order_status({ order_id, status: "pending" | "paid" | "shipped" | "delivered" | "cancelled" | "refunded", note? })"
    `);
  });

  test("to several needs has a section for each, and each tool in full once", async () => {
    const { text } = await ask({
      queries: ["refund an order", "give the money for an order back", "zzqqvv"],
      limit: 1,
    });
    expect(withoutMissing(text)).toMatchInlineSnapshot(`
      "# refund an order
      demo.refund_order(args: { order_id: string; amount_cents?: number; reason: string }): Promise<unknown>
        Gives a customer the money for an order back, all of it or a part; it cannot be undone. Only for orders that are paid, shipped or delivered.
        e.g. { order_id: "ord_00042", reason: "…" }
        order_id from demo.list_orders({ status?, customer_id?, from?, to?, … })
      # give the money for an order back
      demo.refund_order: above
      # zzqqvv
      No tool matches."
    `);
    const { needs, tools } = JSON.parse(
      (await ask({ queries: ["refund", "refund an order"], limit: 1, detail: "full" })).text,
    );
    expect(tools).toHaveLength(1);
    expect(needs).toEqual([
      { query: "refund", tools: ["demo.refund_order"] },
      { query: "refund an order", tools: ["demo.refund_order"] },
    ]);
  });

  test("to a filter for one server without a query has all of its tools", async () => {
    const { text } = await ask({ server: "thinking" });
    expect(withoutMissing(text)).toStartWith("thinking.sequentialthinking(args");
    const of = async (args: object) => {
      const { tools } = JSON.parse((await ask({ ...args, detail: "full" })).text);
      return [...new Set((tools as { id: string }[]).map(({ id }) => id.split(".")[0]))].sort();
    };
    expect(await of({ server: "memory" })).toEqual(["memory"]);
    expect(await of({ server: "memory, thinking" })).toEqual(["memory", "thinking"]);
    expect(await of({ server: ["memory", "thinking"] })).toEqual(["memory", "thinking"]);
    expect(await of({ server: "Memory", query: "read" })).toEqual(["memory"]);
    expect(await of({ query: "memory: read a file" })).toEqual(["memory"]);
    expect(await of({ query: "server:memory read a file" })).toEqual(["memory"]);
    expect((await ask({ server: "memry" })).text).toContain("Did you mean memory?");
  });

  test("to a filter for a large server without a query has one line for each tool", async () => {
    const { text } = await ask({ server: "demo" });
    const lines = withoutMissing(text).split("\n");
    expect(lines.pop()).toContain('detail: "signatures"');
    expect(lines.length).toBeGreaterThan(15);
    for (const line of lines) expect(line).toMatch(/^demo\.[\w-]+: /);
  });

  test("has no tools that match far worse than the best one", async () => {
    const { tools } = JSON.parse((await ask({ query: "refund an order", limit: 50, detail: "full" })).text);
    expect(tools.length).toBeLessThan(15);
  });

  test.each([
    [{}, '"query"'],
    [{ query: " " }, '"query"'],
    [{ queries: [] }, '"query"'],
    [{ queries: ["a", 1] }, '"query"'],
    [{ queries: Array.from({ length: 21 }, (_, n) => `need ${n}`) }, "at most 20"],
    [{ query: "a", limit: 0 }, '"limit"'],
    [{ query: "a", server: 5 }, '"server"'],
    [{ query: "a", server: ["memory", null] }, '"server"'],
    [{ query: "a", detail: "much" }, '"detail"'],
  ])("%j is refused with what is wrong", async (args, message) => {
    expect(await ask(args)).toEqual({ text: expect.stringContaining(message), isError: true });
  });

  test('detail "names" has one line for each tool', async () => {
    expect(
      withoutMissing((await ask({ query: "refund an order", limit: 2, detail: "names" })).text),
    ).toMatchInlineSnapshot(`
      "demo.refund_order: Gives a customer the money for an order back, all of it or a part; it cannot be…
      demo.update_order_status: Moves an order on: pending to paid or cancelled, paid to shipped or cancelled,…"
    `);
  });

  test("shows less likely tools as calls, each once, unless signatures are asked for", async () => {
    const request = { queries: ["refund an order", "give the money for an order back", "look up an order"], limit: 3 };
    const text = withoutMissing((await ask(request)).text);
    const calls = text.split("\n").flatMap((line) => /^Less likely: (.*)/.exec(line)?.[1]?.split("; ") ?? []);
    expect(calls).toContainEqual(
      expect.stringMatching(/^demo\.update_order_status\(\{ order_id, status: "pending" \| .+, note\? \}\)$/),
    );
    expect(new Set(calls).size).toBe(calls.length);
    for (const call of calls) expect(text).not.toContain(`${call.split("(")[0]}(args`);
    const whole = withoutMissing((await ask({ ...request, detail: "signatures" })).text);
    expect(whole).not.toContain("Less likely");
    expect(whole).toContain("demo.update_order_status(args: ");
  });

  test("has fewer tools if it would be too long, and the number of the others", async () => {
    const { limits } = app.config;
    const outputChars = limits.outputChars;
    limits.outputChars = 1_500;
    try {
      for (const request of [{ limit: 20 }, { limit: 50, detail: "signatures" }]) {
        const { text } = await ask({ query: "list files orders", ...request });
        const lines = withoutMissing(text).split("\n");
        expect(lines.at(-1)).toMatch(/^\d+ more did not fit/);
        expect(text.length).toBeLessThan(2_500);
      }
      const { tools, notShown } = JSON.parse(
        (await ask({ query: "list files orders", limit: 20, detail: "full" })).text,
      );
      expect(tools.length).toBeGreaterThan(0);
      expect(tools.length + notShown).toBeGreaterThan(5);
      expect(tools.length + notShown).toBeLessThanOrEqual(20);
    } finally {
      limits.outputChars = outputChars;
    }
  });

  test("says what a call of a well-known tool needs", async () => {
    const { text } = await ask({ query: "write a file", server: "files", limit: 1 });
    expect(text).toContain("Promise<{ content: string }> /* the folder must exist;");
    const source = `await files.write_file({ path: ${JSON.stringify(`${folder.path}/none/a.txt`)}, content: "x" })`;
    expect(await execute({ source }, app)).toMatchObject({ ok: false });
  });

  test('detail "full" has the description, the schema and the result of each tool, and nothing twice', async () => {
    await execute({ source: `await demo.get_order({ order_id: "ord_00042" })` }, app);
    const { text } = await ask({ query: "demo.get_order", limit: 1, detail: "full" });
    const { tools, ...rest } = JSON.parse(text);
    expect(rest).toEqual({ notSearched: { needy: missing } });
    expect(tools).toEqual([
      {
        id: "demo.get_order",
        description: expect.stringMatching(/^Looks up one order by its id\. .+delivered\.$/),
        inputSchema: {
          type: "object",
          properties: { order_id: { type: "string", description: "The order's id, such as ord_00042." } },
          required: ["order_id"],
          additionalProperties: false,
        },
        result: expect.stringMatching(/^Promise<\{ .+ \}> \/\* observed \*\/$/),
        example: 'await demo.get_order({ order_id: "ord_00042" })',
        effects: "It only reads.",
      },
    ]);
    expect(text).not.toContain("args:");
    const typed = await ask({ query: "demo.sales_report", limit: 1, detail: "full" });
    expect(JSON.parse(typed.text).tools[0]).toMatchObject({ outputSchema: { type: "object" } });
    const none = JSON.parse((await ask({ query: "zzqqvv", detail: "full" })).text);
    expect(none).toMatchObject({
      tools: [],
      near: [],
      servers: expect.arrayContaining([
        {
          server: "memory",
          tools: 9,
          description: "Remembers facts between conversations in a graph of entities and relations",
        },
      ]),
    });
  });

  test.each([
    [{ detail: "short" }, '"detail" must be one of names, signatures, full'],
    [{ limit: 0 }, '"limit" must be a whole number from 1 to 50'],
  ])("is a refusal of %j", async (args, text) => {
    expect(await ask({ query: "order", ...args })).toEqual({ text, isError: true });
  });
});

test("servers that cannot be used are named once in a session, and again if the query names them", async () => {
  const mentioned = new Set<string>();
  const lines = async (query: string) => {
    const { content } = await callSearchTools({ query }, app, new AbortController().signal, { mentioned });
    return (content as { text: string }[])[0]!.text
      .split("\n")
      .filter((line) => /^(?:Down|Still down|Not )/.test(line));
  };
  expect(await lines("refund an order")).toEqual([missing]);
  expect(await lines("refund an order")).toEqual([]);
  expect(await lines("list files")).toEqual([]);
  expect(await lines("what can needy do with orders")).toEqual([missing]);
  expect(await lines("zzqqvv")).toEqual(["Still down: needy"]);
});

test("the instructions say why a server cannot be used, and how to fix it", async () => {
  expect(await instructionsFor(app)).toContain("- needy (down): needs NO_SUCH_TOKEN. Set ");
});

describe("without a match", () => {
  test("the answer lists the servers with their number of tools", async () => {
    expect(withoutMissing((await ask({ query: "zzqqvv" })).text)).toMatchInlineSnapshot(`
      "No tool of 56 matches. Try other words for what it should do, or "server" alone for all tools of one server.
      Servers with tools: demo (19): A small shop; files (14): Reads, writes, moves and searches files within folders that…; everything (13): Shows every feature of the protocol once: for testing clien…; memory (9): Remembers facts between conversations in a graph of entitie…; thinking (1): Keeps a chain of thoughts in numbered steps that can be rev…"
    `);
  });

  test("the answer suggests similar names", async () => {
    expect((await ask({ query: "list_ordrs server:memory" })).text).toContain("Similar names: ");
  });

  test("a filter for a server that cannot be asked says why", async () => {
    const { text, isError } = await ask({ query: "anything server:needy" });
    expect(isError).toBe(true);
    expect(text).toBe(missing);
  });

  test("some of many servers are named, and the others are counted", async () => {
    using many = project();
    const names = Array.from({ length: 40 }, (_, at) => `s${at}`);
    many.configure(
      Object.fromEntries(names.map((name) => [name, { command: "x", env: { TOKEN: `\${NO_SUCH_TOKEN}` } }])),
    );
    const server = app.catalog.find("memory")!;
    writeIndex(
      many.registry,
      names.map((name) => ({ ...server, name })),
    );
    await using other = await many.open();
    const { text } = await ask({ query: "zzqqvv" }, other);
    const found = await ask({ query: "s0.read_graph", limit: 1 }, other);
    expect(found.text).toContain(
      "\n  also: s1.read_graph, s2.read_graph, s3.read_graph, s4.read_graph, s5.read_graph and more",
    );
    expect(text).toMatch(/Servers with tools: s0 \(9\); .+; 10 more$/m);
  });
});

describe("tokens (o200k)", () => {
  const queries = [
    ..."refund an order|list orders|write a file|read many files|add observations|search the graph|sum of two numbers|which products are low".split(
      "|",
    ),
    ..."sales by month|reply to a ticket|think step by step|long running operation|annotated message|delete relations|move a file|find a customer".split(
      "|",
    ),
  ];
  const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

  test("are less than 600 for the median answer with five signatures and observed types", async () => {
    const code = `
      await demo.list_orders({ limit: 2 });
      await demo.list_customers({});
      await demo.list_tickets();
      await demo.get_order({ order_id: "ord_00042" });
      await demo.get_customer({ customer_id: "cus_0007" });
      await memory.read_graph();`;
    expect(await execute({ source: code }, app)).toMatchObject({ ok: true });
    const texts = await Promise.all(
      queries.map(async (query) => withoutMissing((await ask({ query, limit: 5 })).text)),
    );
    expect(texts.join("\n")).toContain("/* observed */");
    for (const text of texts) expect(text.match(/^\S.*: Promise</gm)?.length).toBeWithin(1, 6);
    const counts = texts.map((text) => encode(text).length);
    expect(median(counts)).toBeLessThan(600);
    const names = await Promise.all(
      queries.map(async (query) => withoutMissing((await ask({ query, detail: "names" })).text)),
    );
    expect(median(names.map((text) => encode(text).length))).toBeLessThan(150);
  });
});
