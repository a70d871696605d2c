/** The executable with a model: tasks from the shell and from a host, through a proxy, and without the key in any output. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable } from "../support/claudikins.ts";
import { type Llm, type LlmRequest, startLlm } from "../support/llm.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";

setDefaultTimeout(120_000);

const key = "test-key-1234567";
const [nowhere, tail] = ["http://models.invalid/v1", key.slice(-9)];

const folder = ownFolder();

const about = ({ body }: LlmRequest) =>
  body.response_format?.json_schema?.name === "tool_choice" ? { choice: "get_order" } : { order_id: "ord_00042" };

function configure(baseUrl: string): void {
  const demo = { command: executable(), args: ["demo"], category: "business" };
  const llm = { baseUrl, model: "small", apiKey: "${A_KEY}", headers: { "X-Second": "${A_SECOND}" } };
  folder.write("claudikins.json", { mcpServers: { demo }, llm, executeTask: true });
}

const surroundings = (more: Record<string, string> = {}) => ({
  cwd: folder.path,
  env: { HOME: folder.path, XDG_DATA_HOME: join(folder.path, "data"), A_KEY: key, A_SECOND: `second-${tail}`, ...more },
});

const run = (words: string[], more?: Record<string, string>) =>
  runProgram([executable(), "run", ...words], surroundings(more));

test("run carries out a task from the shell", async () => {
  await using llm = startLlm(about);
  configure(llm.baseUrl);
  const { exitCode, stdout, stderr } = await run(["order ord_00042"]);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { id: "ord_00042" }]);
  expect(stderr).toContain("[demo.get_order · 2 calls of ");
  expect(llm.problems).toEqual([]);
});

test("a model is reached through HTTP_PROXY, except if it is in NO_PROXY", async () => {
  // A proxy receives the same request, for another host.
  await using llm = startLlm(about);
  const HTTP_PROXY = new URL(llm.baseUrl).origin;
  configure(nowhere);
  expect(await run(["order ord_00042"], { HTTP_PROXY })).toMatchObject({ exitCode: 0 });
  expect(new Set(llm.requests.map(({ headers }) => headers["host"]))).toEqual(new Set(["models.invalid"]));
  configure(llm.baseUrl);
  const direct = { HTTP_PROXY: "http://127.0.0.1:9", NO_PROXY: "127.0.0.1" };
  expect(await run(["order ord_00042"], direct)).toMatchObject({ exitCode: 0 });
});

/** A model that repeats everything it receives. */
const leaking = (): Llm =>
  startLlm(({ headers }) => ({
    status: 400,
    headers: { "x-key": key },
    body: { error: { message: `you sent ${JSON.stringify(headers)}`, code: key, param: `second-${tail}` } },
  }));

const leaks = (text: string) => [key, tail].filter((secret) => text.includes(secret));

test("the key and a secret header are not in the shell's output, log or files", async () => {
  await using llm = leaking();
  configure(llm.baseUrl);
  for (const words of [["order"], ["--json", "order"], ["--verbose", "order"], ["--dry-run", "order"]]) {
    const { exitCode, stdout, stderr } = await run(words, { CLAUDIKINS_LOG: "debug" });
    expect([words, exitCode]).toEqual([words, 4]);
    expect(stderr).toContain("you sent ");
    expect([words, leaks(stdout + stderr)]).toEqual([words, []]);
  }
  expect(llm.requests.length).toBeGreaterThan(3);
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const having = files.filter(({ parentPath, name }) => leaks(readFileSync(join(parentPath, name), "utf8")).length > 0);
  expect(files.length).toBeGreaterThan(1);
  expect(having.map(({ name }) => name)).toEqual([]);
});

test("the key and a secret header are not in what serve answers or logs", async () => {
  await using llm = leaking();
  configure(llm.baseUrl);
  const { cwd, env } = surroundings({ CLAUDIKINS_LOG: "debug" });
  const client = new Client({ name: "test", version: "1" });
  const transport = new StdioClientTransport({
    command: executable(),
    args: ["serve"],
    stderr: "pipe",
    cwd,
    env: testEnvironment(env),
  });
  let log = "";
  transport.stderr?.on("data", (chunk) => {
    log += chunk;
  });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const answer = await client.callTool({ name: "execute_task", arguments: { task: "order" } });
  await client.close();
  expect(answer).toMatchObject({ isError: true });
  expect(JSON.stringify(answer)).toContain("you sent ");
  expect(log).toContain("/small failed after ");
  expect(leaks(JSON.stringify([tools, client.getInstructions(), answer]) + log)).toEqual([]);
});
