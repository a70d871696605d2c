/** `model.ask` in programs: typed by a schema, corrected once, counted, with labels, recorded and replayed. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { executionHolder } from "../../src/store/labels.ts";
import { cli } from "../cli/in-memory.ts";
import { callsIn, killed } from "../programs/stored/killed.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { type Llm, type Script, startLlm } from "../support/llm.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let llm: Llm | undefined;
beforeEach(() => {
  folder = project();
});
afterEach(async () => {
  await llm?.[Symbol.asyncDispose]();
  llm = undefined;
  folder[Symbol.dispose]();
});

const counts = () => join(folder.path, "counts");

function configure(script: Script, more: object = {}): Llm {
  llm = startLlm(script, null);
  const counting = { ...fixture("counting", counts()), labels: { read_wait: ["private"], read: ["untrusted"] } };
  const model = { baseUrl: llm.baseUrl, model: "small" };
  folder.write("claudikins.json", { mcpServers: { counting }, llm: model, askModel: true, ...more });
  return llm;
}

const exec = (code: string, ...flags: string[]) =>
  cli(["exec", "-e", code, "--no-daemon", "--json", ...flags], { cwd: folder.path });

async function value(code: string): Promise<unknown> {
  const { stdout, stderr, exitCode } = await exec(code);
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(stdout).value;
}

const failure = async (code: string) => JSON.parse((await exec(code)).stderr);

const schema =
  '{ type: "object", properties: { kind: { enum: ["bug", "wish"] }, urgent: { type: "boolean" } }, required: ["kind", "urgent"] }';

test("an answer is a value of the schema, and what it is about is sent as data", async () => {
  const { requests, problems } = configure(() => ({ kind: "bug", urgent: true }));
  const code = `const { kind, urgent } = await model.ask("Classify", { schema: ${schema}, data: { title: "It crashes" } }); return [kind, urgent];`;
  expect(await value(code)).toEqual(["bug", true]);
  const [{ body }] = requests as [(typeof requests)[0]];
  expect(body.response_format?.json_schema?.schema).toMatchObject({ required: ["kind", "urgent"] });
  expect(body.messages.at(-1)?.content).toBe('Classify\n\nData:\n{"title":"It crashes"}');
  expect(problems).toEqual([]);
});

test.each([
  ["a text without a schema", 'model.ask("Say it")', { answer: "42" }, "42"],
  ["a list", 'model.ask("List", { schema: { type: "array", items: { type: "number" } } })', { answer: [1, 2] }, [1, 2]],
  [
    "references to definitions",
    'model.ask("One", { schema: { $ref: "#/$defs/one", $defs: { one: { enum: ["a"] } } } })',
    { answer: "a" },
    "a",
  ],
  ["named arguments", 'model.ask({ prompt: "Say it" })', { answer: "x" }, "x"],
  ["the name at run time", 'callTool("model", "ask", { prompt: "Say it" })', { answer: "x" }, "x"],
])("%s", async (_, call, answer, expected) => {
  configure(() => answer);
  expect(await value(`return await ${call};`)).toEqual(expected as never);
});

test("a wrong answer is corrected once, and a second one is an error that says what is wrong", async () => {
  const { requests } = configure([
    { text: "I think so" },
    { text: '{"kind":"bug","urgent":true}' },
    { text: '{"kind":"no"}' },
  ]);
  expect(await value(`return await model.ask("Classify", { schema: ${schema} });`)).toEqual({
    kind: "bug",
    urgent: true,
  });
  expect(requests[1]?.body.messages.at(-1)?.content).toContain(
    'Your answer was "I think so"\nIt is not valid: it is not a JSON object',
  );
  const { error } = await failure(`return await model.ask("Classify", { schema: ${schema} });`);
  expect(error.message).toMatch(
    /^ToolError: MODEL_ANSWER_INVALID: .*small gave an answer that does not fit, twice: .*urgent/s,
  );
  expect(error.message).toContain("use a larger model");
  expect(requests).toHaveLength(4);
});

test("an error says what the model's endpoint said, and can be caught by its code", async () => {
  configure([{ refusal: "no" }]);
  const caught = 'try { await model.ask("x"); } catch (error) { return [error.code, error.data.code]; }';
  expect(await value(caught)).toEqual(["TOOL_FAILED", "MODEL_REFUSED"]);
  const wrong = 'try { await model.ask("x", { schem: {} }); } catch (error) { return [error.code, error.hint]; }';
  expect(await value(wrong)).toEqual(["INVALID_ARGUMENTS", expect.stringContaining("FromSchema<S>")]);
});

test.each([
  ["is not allowed", { askModel: false }, "Programs may not ask a model here", '"askModel": true'],
  ["has no model", { llm: undefined }, "MODEL_UNAVAILABLE: No model is configured", 'Set "llm"'],
])("a config that %s gives an error with the next step", async (_, more, message, hint) => {
  const { requests } = configure(() => ({}), more);
  const { error } = await failure('return await model.ask("Say it");');
  expect(error.message).toContain(message);
  expect(`${error.message} ${error.hint}`).toContain(hint);
  expect(requests).toEqual([]);
});

test("a program may ask as often as the config says, with the programs that it calls", async () => {
  const { requests } = configure(() => ({ answer: "x" }), { askModel: { calls: 2 } });
  folder.write("inner.ts", 'return await model.ask("Inner");');
  const saved = await cli(["programs", "save", "inner.ts", "--name", "inner"], { cwd: folder.path });
  expect(saved.stdout).toContain("It may call model.ask.");
  const code = 'await programs.inner({}); await model.ask("Second"); return await model.ask("Third");';
  const { error } = await failure(code);
  expect(error.message).toContain("QUOTA_REACHED: A program may ask the model 2 times");
  expect(requests).toHaveLength(2);
  expect(await value('return await model.ask("Another program");')).toBe("x");
});

test("rules decide about the call, and the call log has it", async () => {
  const { requests } = configure(() => ({ answer: "x" }), { policy: { deny: ["model.*"] } });
  expect((await failure('return await model.ask("Say it");')).error.code).toBe("POLICY_DENIED");
  expect(requests).toEqual([]);
  configure(() => ({ answer: "x" }));
  await value('return await model.ask("Say it");');
  const { stdout } = await cli(["calls", "--json"], { cwd: folder.path });
  expect(JSON.parse(stdout).calls[0]).toMatchObject({ server: "model", tool: "ask" });
});

test("private data does not leave to the model unasked once strangers were read, and an answer has the labels of what was sent", async () => {
  const [command, ...args] = [...claudikinsCommand, "demo"];
  const demo = { command, args, labels: { list_customers: ["private"], list_tickets: ["untrusted"] } };
  const { requests } = configure(() => ({ answer: "a summary" }), { mcpServers: { demo } });
  const read = "const secret = (await demo.list_customers({})).customers.slice(0, 3);";
  const risky = `await demo.list_tickets({}); ${read} return await model.ask("Sum up", { data: secret });`;
  const { error } = await failure(risky);
  expect(error.message).toContain("model.ask");
  expect(requests).toEqual([]);
  await using app = await folder.open();
  const executions = await app.executions();
  const source = `${read} return await model.ask("Sum up", { data: secret });`;
  const execution = executions.start({ source, isForAgent: true }, app, { isBackground: true });
  await execution.stored();
  expect(await execution.outcome).toMatchObject({ ok: true, value: "a summary" });
  const labels = await app.store.labels.of({ holders: [executionHolder(execution.id)] });
  expect(labels).toContainEqual({ label: "untrusted", source: "model.ask" });
  expect(labels).toContainEqual({ label: "private", source: "model.ask" });
  // The words of the answer are in no text that was read, and count as private.
  expect(app.pool.reads.labels).toEqual(new Set(["untrusted", "private"]));
});

test("a recording replays the answers of the model without it", async () => {
  const { requests } = configure(() => ({ kind: "bug", urgent: false }));
  folder.write(
    "triage.ts",
    `const { kind } = await model.ask("Classify " + input.title, { schema: ${schema} }); return kind;`,
  );
  const run = (...argv: string[]) => cli(["programs", ...argv], { cwd: folder.path });
  expect((await run("save", "triage.ts", "--name", "triage", "title=It crashes")).exitCode).toBe(0);
  expect((await run("record", "triage", "title=It crashes", "--no-daemon")).exitCode).toBe(0);
  expect(requests).toHaveLength(1);
  await llm?.[Symbol.asyncDispose]();
  llm = undefined;
  const { exitCode, stdout, stderr } = await run("test", "triage");
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  expect(stdout).toContain("1 passed");
});

test("a process that is killed while the model answers leaves a program that asks again, and only for that answer", async () => {
  const { requests } = configure(({ body }) => {
    const prompt = body.messages.at(-1)!.content;
    return prompt === "Second" && !requests.slice(0, -1).some(isSecond) ? { hangs: true } : { answer: prompt };
  });
  const isSecond = ({ body }: (typeof requests)[0]) => body.messages.at(-1)?.content === "Second";
  const env = { PATH: process.env["PATH"], HOME: folder.path, CI: "true" };
  const code =
    'const first = await model.ask("First"); await counting.act({ name: first }); return [first, await model.ask("Second")];';
  const id = await killed(code, { cwd: folder.path, env }, () => eventually(() => requests.length === 2));
  await using app = await folder.open();
  const outcome = await (await (await app.executions()).follow(id, app)).outcome;
  expect(outcome).toMatchObject({ ok: true, value: ["First", "Second"] });
  expect(requests.map(({ body }) => body.messages.at(-1)?.content)).toEqual(["First", "Second", "Second"]);
  expect(callsIn(counts())).toEqual(["act First"]);
});

test("a search finds it only if it is on, with a signature that the schema types", async () => {
  configure(() => ({}));
  const search = async () => (await cli(["search", "classify a text with a model"], { cwd: folder.path })).stdout;
  expect(await search()).toContain(
    "model.ask(prompt: string, options?: { schema?: const S, data?: unknown }): Promise<FromSchema<S>>",
  );
  configure(() => ({}), { askModel: false });
  expect(await search()).not.toContain("model.ask");
});
