/** `claudikins run`: a task in words on the demo server, with a scripted model. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claudikinsCommand } from "../support/command.ts";
import { type LlmRequest, type Script, startLlm } from "../support/llm.ts";
import { ownFolder } from "../support/own-folder.ts";
import { atTerminal } from "../support/terminal.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const key = "test-key-1234567";
const [command, ...args] = [...claudikinsCommand, "demo"];
const demo = { command, args, category: "business" };

const folder = ownFolder();

/** A model that chooses this tool with these arguments. */
const picking =
  (tool: string, args: object): Script =>
  ({ body }: LlmRequest) =>
    body.response_format?.json_schema?.name.endsWith("_choice") ? { choice: tool } : args;

const run = (words: string[], options: CliOptions = {}) =>
  cli(["run", ...words], { cwd: folder.path, ...options, env: { A_KEY: key, ...options.env } });

async function withModel<T>(
  script: Script,
  work: (requests: LlmRequest[]) => Promise<T>,
  more: object = {},
): Promise<T> {
  await using llm = startLlm(script);
  const entry = { baseUrl: llm.baseUrl, model: "small", apiKey: "${A_KEY}", ...more };
  folder.write("claudikins.json", { mcpServers: { demo }, llm: entry });
  const result = await work(llm.requests);
  expect(llm.problems).toEqual([]);
  return result;
}

/** The text, without what differs between runs. */
const plain = (text: string) =>
  text
    .replace(/127\.0\.0\.1:\d+/g, "HOST")
    .replace(/\d[\d.,]* m?s/g, "N ms")
    .replace(/[\d,]+ tokens/g, "N tokens");

const order = picking("get_order", { order_id: "ord_00042" });

describe("run", () => {
  test("makes one call, prints its value on stdout and the receipt on stderr", async () => {
    await withModel(order, async (requests) => {
      const { exitCode, stdout, stderr } = await run(["what", "about order ord_00042?"]);
      expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { id: "ord_00042" }]);
      expect(plain(stderr)).toBe("[demo.get_order · 2 calls of HOST/small, N tokens · N ms]\n");
      // There is one category and one server, so the model is asked only for the tool and its arguments.
      expect(requests).toHaveLength(2);
      for (const { body } of requests) {
        expect(body.model).toBe("small");
        expect(body.messages[1]?.content).toContain("what about order ord_00042?");
      }
    });
  });

  test("reads a task from standard input, and prints one document with --json", async () => {
    await withModel(order, async () => {
      const { exitCode, stdout, stderr } = await run(["-", "--json"], { stdin: "order ord_00042\n" });
      expect([exitCode, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toMatchObject({
        success: true,
        tool_used: "demo.get_order",
        arguments: { order_id: "ord_00042" },
        result: { id: "ord_00042" },
        receipt: { modelCalls: 2, tokens: { prompt: 200, completion: 14, isEstimate: false } },
      });
    });
  });

  test("shows with --dry-run the chosen path and the command that makes the call", async () => {
    await withModel(order, async () => {
      const { exitCode, stdout, stderr } = await run(["--dry-run", "order ord_00042"]);
      expect([exitCode, stdout]).toEqual([0, `claudikins call demo.get_order '{"order_id":"ord_00042"}'\n`]);
      expect(plain(stderr)).toMatch(
        /^category {3}business \(the only one\)\nserver {5}demo \(the only one\)\ntool {7}get_order \(of \d+\)\narguments {2}order_id\n\[/,
      );
    });
  });

  test("uses another model of the endpoint with --model", async () => {
    await withModel(order, async (requests) => {
      expect(await run(["--model", "larger/one", "order ord_00042"])).toMatchObject({ exitCode: 0 });
      expect(requests[0]?.body.model).toBe("larger/one");
    });
  });
});

describe("run fails", () => {
  const lines = (stderr: string) => plain(stderr).split("\n");

  test("with code 2 if the task lacks arguments, and prints their schema with --json", async () => {
    await withModel(picking("get_order", {}), async () => {
      const { exitCode, stdout, stderr } = await run(["look at an order"]);
      expect([exitCode, stdout]).toEqual([2, ""]);
      expect(lines(stderr)[0]).toBe("error: demo.get_order needs order_id, which the task does not give");
      const json = JSON.parse((await run(["look at an order", "--json"])).stderr);
      expect(json).toMatchObject({
        error: { code: "INVALID_ARGUMENTS" },
        outcome: { success: false, needs_input: { missing: ["order_id"], known: {} } },
      });
    });
  });

  test.each([
    [
      "if the key is refused",
      [{ status: 401 }],
      3,
      "error: The model HOST/small does not accept the key (401): no: 401",
    ],
    ["if the model refuses", [{ refusal: "no" }], 1, "error: The model HOST/small refused to answer"],
    [
      "if the model does not exist",
      [{ status: 404 }],
      4,
      "error: The model HOST/small cannot be used: there is no model small, or",
    ],
    [
      "if the model's answer makes no sense",
      [{ text: "perhaps" }],
      1,
      "error: HOST/small chose a tool that does not exist, twice",
    ],
  ])("%s", async (_, script, code, message) => {
    await withModel(script, async () => {
      const { exitCode, stdout, stderr } = await run(["order ord_00042"]);
      expect([exitCode, stdout]).toEqual([code, ""]);
      expect(lines(stderr)[0]).toStartWith(message);
    });
  });

  test("if the tool fails", async () => {
    await withModel(picking("get_order", { order_id: "ord_99999" }), async () => {
      const { exitCode, stderr } = await run(["order ord_99999"]);
      expect(exitCode).toBe(5);
      expect(stderr).toContain("[demo.get_order · 2 calls");
    });
  });

  test("if the whole task exceeds --timeout", async () => {
    await withModel([{ hangs: true }], async () => {
      const { exitCode, stderr } = await run(["--timeout", "300ms", "order ord_00042"]);
      expect([exitCode, lines(stderr)[0]]).toEqual([4, "error: The task did not finish within 300ms"]);
    });
  });

  test("if it is interrupted", async () => {
    const interrupted = new AbortController();
    await withModel(
      () => {
        interrupted.abort();
        return { hangs: true };
      },
      async () => {
        expect(await run(["order"], { interrupted: interrupted.signal })).toMatchObject({ exitCode: 130, stdout: "" });
      },
    );
  });

  test.each([[[""]], [["-"]]])("if the task is empty: %j", async (words) => {
    expect(await run(words)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("The task is empty") });
  });
});

describe("without a configured model", () => {
  test("run says in one screen how to configure one", async () => {
    const { exitCode, stdout, stderr } = await run(["order"], { env: { GEMINI_API_KEY: "x" } });
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n").length).toBeLessThan(24);
    expect(stderr).toMatchSnapshot();
  });

  test("--model may name a preset", async () => {
    const { exitCode, stderr } = await run(["--model", "cerebras/other", "order"]);
    expect([exitCode, stderr.split("\n")[0]]).toEqual([
      2,
      "error: The model cerebras/other needs CEREBRAS_API_KEY in the environment",
    ]);
    expect(await run(["--model", "acme", "order"])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("No model is configured, and acme is not a preset"),
    });
  });

  test("other commands work, even if the variable of the key is missing", async () => {
    folder.write("claudikins.json", { mcpServers: { demo }, llm: { preset: "gemini" } });
    expect(await cli(["exec", "-e", "return 1"], { cwd: folder.path })).toMatchObject({ exitCode: 0, stdout: "1\n" });
    expect(await run(["order"])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("GEMINI_API_KEY") });
  });
});

test("at a terminal, run asks for missing arguments and for confirmation", async () => {
  await withModel(picking("get_order", {}), async () => {
    const config = JSON.parse(readFileSync(join(folder.path, "claudikins.json"), "utf8"));
    config.mcpServers.demo.confirm = "always";
    folder.write("claudikins.json", config);
    const env = { HOME: folder.path, A_KEY: key };
    await using terminal = atTerminal([...claudikinsCommand, "run", "look at an order"], { cwd: folder.path, env });
    await terminal.see("demo.get_order needs order_id");
    await terminal.see("order_id: ");
    terminal.type("ord_00042\r");
    await terminal.see("Call it?");
    terminal.type("y\r");
    await terminal.see("ord_00042");
    await terminal.see("[demo.get_order");
    expect(await terminal.exited).toBe(0);
  });
});

test("the key is not in any output, at any log level, nor in a trace or a file", async () => {
  await withModel(
    ({ headers }) => ({ status: 400, body: { error: { message: `you sent ${headers["authorization"]}` } } }),
    async () => {
      for (const flags of [[], ["--json"], ["--verbose"]]) {
        const { stdout, stderr } = await run([...flags, "order"], { env: { CLAUDIKINS_LOG: "debug" } });
        expect(stderr).toContain("you sent Bearer");
        expect(stdout + stderr).not.toContain(key);
      }
    },
  );
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(files.length).toBeGreaterThan(1);
  const having = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8").includes(key));
  expect(having.map(({ name }) => name)).toEqual([]);
});
