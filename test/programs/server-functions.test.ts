/** Resources and prompts of real servers, as code reaches them. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { builtInDemo, everything, fixture, sequentialThinking } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({
    demo: builtInDemo(),
    everything: everything(),
    thinking: sequentialThinking(),
    named: folder.offering("named", { resources: {}, read_resource: {} }),
    odd: fixture("odd"),
    older: fixture("skills", "serve", "older"),
    newer: fixture("skills", "reject", "newer"),
  });
  app = await folder.open();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function run(source: string): Promise<unknown> {
  const outcome = await execute({ source }, app);
  return outcome.ok ? outcome.value : `${outcome.error.code}: ${outcome.error.message} | ${outcome.error.hint}`;
}

test("list returns the resources as an array that also has itself as a property", async () => {
  const code = `const list = await demo.resources.list(); const { resources } = await demo.list_resources();
    return [list.map(({ uri }) => uri), resources.length, Object.keys(list).length]`;
  expect(await run(code)).toEqual([["demo://policy/returns", "demo://schema/orders"], 2, 2]);
});

test("read returns the result of the protocol with its text", async () => {
  const code = `const result = await demo.resources.read("demo://policy/returns");
    const same = await demo.read_resource({ uri: "demo://policy/returns" });
    return [result.contents[0].mimeType, result.text === result.contents[0].text, same.text === result.text, result.text.slice(0, 9)]`;
  expect(await run(code)).toEqual(["text/markdown", true, true, "# Returns"]);
});

test("templates are listed, and a resource of a real server is read", async () => {
  const code = `const templates = await everything.resources.templates();
    const { resourceTemplates } = templates;
    const [first] = await everything.resources.list();
    return [templates.length > 0, resourceTemplates === templates, (await everything.resources.read(first.uri)).contents.length]`;
  expect(await run(code)).toEqual([true, true, 1]);
});

test("prompts are listed, and get fills in arguments", async () => {
  const code = `const { prompts } = await demo.prompts.list();
    const { messages, text } = await demo.prompts.get("weekly_review", { week: "2025-W10" });
    return [prompts.map(({ name }) => name), messages[0].role, text.includes("2025-W10"), (await demo.get_prompt({ name: "weekly_review", arguments: { week: "2025-W11" } })).text.includes("2025-W11")]`;
  expect(await run(code)).toEqual([["weekly_review"], "user", true, true]);
});

test.each(["older", "newer"])("the skills of a server that is %s are listed and read", async (name) => {
  const code = `const { skills } = await ${name}.skills.list();
    const { text } = await ${name}.skills.read(skills[1].resources[1].uri);
    return [skills.map(({ uri, frontmatter }) => [uri, frontmatter.name]), text]`;
  expect(await run(code)).toEqual([
    [
      [`skill://${name}/SKILL.md`, name],
      ["skill://team/shared/SKILL.md", "shared"],
    ],
    `Guide of ${name}.`,
  ]);
});

test("a server without resources, prompts and skills has empty lists, and reading fails", async () => {
  const code = "return [await thinking.resources.list(), await thinking.prompts.list(), await thinking.skills.list()]";
  expect(await run(code)).toEqual([[], [], []]);
  expect(await run(`await thinking.resources.read("x://y")`)).toStartWith(
    'PROTOCOL_ERROR: Server "thinking" has no resources',
  );
});

test("failures name the server, and the resource or prompt", async () => {
  expect(await run(`await demo.resources.read("demo://nope")`)).toMatch(
    /^PROTOCOL_ERROR: demo: the resource demo:\/\/nope: Unknown resource "demo:\/\/nope"/,
  );
  expect(await run(`await demo.resources.read()`)).toStartWith(
    'INVALID_ARGUMENTS: demo.resources.read takes a string, got nothing | demo.resources.read("<uri>")',
  );
  expect(await run(`await demo.prompts.get("nope")`)).toStartWith("PROTOCOL_ERROR: demo: the prompt nope:");
});

test("a tool hides a member of the same name, and members are not listed as tools", async () => {
  expect(
    await run("return [typeof named.resources, typeof named.read_resource.raw, typeof named.prompts.get]"),
  ).toEqual(["function", "function", "function"]);
  expect(
    await run(`return [Object.keys(demo).includes("resources"), "resources" in demo, typeof demo.constructor]`),
  ).toEqual([false, true, "undefined"]);
});

test("reads are counted, and fail the program even if they are not awaited", async () => {
  const outcome = await execute({ source: `demo.resources.read("demo://nope"); return 1` }, app);
  expect(outcome).toMatchObject({ ok: false, receipt: { calls: 1, failures: 1 } });
  expect(Object.keys(outcome.receipt.tools)).toEqual(["demo.resources.read"]);
});
