/** Tasks in words: denied tools are not offered to the model, and not called even if the model names them. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { llmOf } from "../../src/config/llm.ts";
import { callExecuteTask } from "../../src/serve/tools/execute-task.ts";
import { cli } from "../cli/in-memory.ts";
import { type Llm, startLlm } from "../support/llm.ts";
import { Person, Recorded } from "./recorded.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
beforeAll(() => recorded.project);
afterAll(() => recorded[Symbol.asyncDispose]());

const inputSchema = { type: "object", properties: { id: { type: "number" } }, required: ["id"] };
const tools = [
  { name: "remove-it", description: "Removes it.", annotations: { destructiveHint: true }, inputSchema },
  { name: "read-it", description: "Reads it.", annotations: { readOnlyHint: true }, inputSchema },
  { name: "list-them", description: "Lists them.", annotations: { readOnlyHint: true }, inputSchema },
];

/** A model that always chooses the tool that removes something. */
const insisting = () =>
  startLlm(
    ({ body }) => (body.response_format?.json_schema?.name.endsWith("_choice") ? { choice: "remove-it" } : { id: 7 }),
    null,
  );

const told = ({ requests }: Llm) =>
  JSON.stringify(requests.map(({ body }) => body.messages.map(({ content }) => content)));
const offered = /Removes it/;

interface Failed {
  type?: string;
  message?: string;
}

type Way = (llm: Llm, dryRun?: boolean) => Promise<{ success: boolean; error?: Failed }>;

const ways: Record<string, Way> = {
  async execute_task({ baseUrl }, dryRun = false) {
    const { app } = recorded;
    app.config.llm = llmOf({ baseUrl, model: "m" }, {});
    const given = { task: "remove it, 7", dry_run: dryRun };
    const { content } = await callExecuteTask(given, app, new AbortController().signal);
    const [block] = content as { text: string }[];
    return JSON.parse(block!.text.split("\n\n[")[0]!);
  },
  async "claudikins run"({ baseUrl }, dryRun = false) {
    const { path } = recorded.project;
    const config = JSON.parse(readFileSync(join(path, "claudikins.json"), "utf8"));
    recorded.project.write("claudikins.json", { ...config, llm: { baseUrl, model: "m" } });
    const words = ["run", "--json", ...(dryRun ? ["--dry-run"] : []), "remove it, 7"];
    const { stdout, stderr } = await cli(words, { cwd: path });
    return stdout === "" ? JSON.parse(stderr).outcome : JSON.parse(stdout);
  },
};

describe.each(Object.entries(ways))("a tool in a task by %s", (_name, way) => {
  test("is called without a policy", async () => {
    await using llm = insisting();
    await recorded.open({}, undefined, tools);
    expect(await way(llm)).toMatchObject({ success: true });
    expect(recorded.got()).toEqual([{ name: "remove-it", args: { id: 7 } }]);
    expect(await way(llm, true)).toMatchObject({ success: true, dry_run: true });
    expect(recorded.got()).toEqual([]);
    expect(told(llm)).toMatch(offered);
  });

  test.each<[string, object, object | undefined]>([
    ["by a name", { deny: ["remove-it"] }, undefined],
    ["for all", {}, { deny: ["*.remove-*"] }],
    ["since others are allowed", { allow: ["read-*", "list-*"] }, undefined],
    ["with all of the server", { deny: ["*"] }, undefined],
  ])("is neither offered nor called if it is denied %s", async (_, keys, policy) => {
    await using llm = insisting();
    await recorded.open(keys, policy, tools);
    for (const dryRun of [false, true]) expect(await way(llm, dryRun)).toMatchObject({ success: false });
    expect(recorded.got()).toEqual([]);
    // The prompt does not contain the tool: "remove" is only in the task.
    expect(told(llm)).not.toMatch(offered);
  });

  test("is not called if it needs confirmation and nobody can be asked", async () => {
    await using llm = insisting();
    await recorded.open({ confirm: "destructive" }, undefined, tools);
    expect(await way(llm)).toMatchObject({
      success: false,
      error: {
        type: "POLICY_DENIED",
        message: "rec.remove-it needs a person's confirmation, and nobody can be asked here",
      },
    });
    expect(recorded.got()).toEqual([]);
  });
});

/** test/cli/task.test.ts covers the questions of `run` at a terminal. */
test.each([
  ["once", true],
  ["no", false],
])("a tool in a task is confirmed by the person of a host, who says %s", async (said, success) => {
  await using llm = insisting();
  const app = await recorded.open({ confirm: "destructive" }, undefined, tools);
  const person = new Person(said);
  app.pool.setHost({ responder: person.host });
  expect(await ways["execute_task"]!(llm)).toMatchObject({ success });
  expect(person.asked).toHaveLength(1);
  expect(recorded.got()).toHaveLength(success ? 1 : 0);
});
