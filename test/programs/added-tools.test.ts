/** Tools that a server adds while a program runs: an unknown name is certain only after the list was read again. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { callOnce } from "../../src/programs/call.ts";
import { execute } from "../../src/programs/execute.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
const offer = (...names: string[]) =>
  folder.write("tools.json", { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) });
const run = async (source: string) => {
  const outcome = await execute({ source }, app);
  return outcome.ok ? outcome.value : { ...outcome.error, reason: outcome.reason };
};

beforeEach(async () => {
  folder = project();
  const file = offer("first");
  folder.configure({ s: { ...fixture("changing", "stdio", file), definitions: "trust" } });
  app = await folder.open();
  expect(await run("return await s.first({})")).toBe("called first");
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test.each([
  "await s.announce({}); return await s.second({})",
  "await s.announce({}); return await callTool('s', 'second', {})",
  "return await s.second({})",
  "return await callTool('s', 'second', {})",
  "const { second } = s; await s.announce({}); return (await second({})) || 1",
])("a new tool of a server that announces changes is called: %s", async (source) => {
  offer("first", "second");
  expect(await run(source)).toBe("called second");
});

test.each([
  "return await callTool('s', ['sec', 'ond'].join(''), {})",
  "return await callTool('s', 'second', {})",
  "return await s.second({})",
])("a new tool is called in a process that knows the tools only from before: %s", async (source) => {
  offer("first", "second");
  await app[Symbol.asyncDispose]();
  app = await folder.open();
  expect(await run(source)).toBe("called second");
});

test("a call from a command line finds a new tool, too", async () => {
  offer("first", "second");
  const { signal } = new AbortController();
  const value = await callOnce({ server: "s", tool: "second", args: {} }, app, signal);
  expect(value).toMatchObject({ text: "called second" });
});

test("a tool that is not in the list after all is not found, and the error has what is there now", async () => {
  offer("first", "second");
  expect(await run("await s.first({}); return await s.third({})")).toMatchObject({
    reason: "threw",
    code: "TOOL_NOT_FOUND",
    hint: expect.stringContaining("second"),
  });
});

test("another spelling of a known name is refused before anything runs", async () => {
  expect(await run("await s.first({}); return await s.First({})")).toMatchObject({
    reason: "check",
    message: 's has no tool "First". Did you mean first?',
  });
});

test("a program that asks for a tool first finds out that it is not there", async () => {
  const source =
    "return [s.second ? await s.second({}) : 'none', typeof s.third, s.fourth?.({}) ?? 'no call', 'fifth' in s]";
  expect(await run(source)).toEqual(["none", "undefined", "no call", false]);
});
