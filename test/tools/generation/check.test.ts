/** Code is checked by the registry, which may be older than the server, so the server is asked before code is refused. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { execute } from "../../../src/programs/execute.ts";
import { type Project, project } from "./project.ts";

setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const one = { inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } };
const two = { inputSchema: { type: "object", properties: { b: { type: "string" } } } };

test("a new tool and changed arguments of a server are accepted, although the registry does not have them", async () => {
  folder.configure({ shop: folder.offering("shop", { one }) });
  await using first = await folder.open();
  await first.catalog.list("shop");
  folder.offering("shop", { one: two, two });
  await using app = await folder.open();
  const source = "return [await shop.two({}), await shop.one({ b: 'x' })].map(({ name }) => name)";
  expect(await execute({ source }, app)).toMatchObject({ ok: true, value: ["two", "one"] });
});

test("code that is wrong for the server's current tools is refused, and no tool is called", async () => {
  folder.configure({ shop: folder.offering("shop", { one }) });
  await using first = await folder.open();
  await first.catalog.list("shop");
  await using app = await folder.open();
  expect(await execute({ source: "await shop.one({ a: 'x' });\nawait shop.three({})" }, app)).toMatchObject({
    ok: false,
    reason: "check",
    error: { name: "CheckError", code: "TOOL_NOT_FOUND", line: 2, message: 'shop has no tool "three". Its tools: one' },
    receipt: { calls: 0 },
  });
});

test("the config can turn the check off", async () => {
  folder.write("claudikins.json", { mcpServers: { shop: folder.offering("shop", { one }) }, check: "off" });
  await using app = await folder.open();
  expect(await execute({ source: "return (await shop.one({})).name" }, app)).toMatchObject({
    ok: true,
    value: "one",
  });
});

test("computed arguments are compared with the schema before they are sent", async () => {
  folder.configure({ shop: folder.offering("shop", { one }) });
  await using app = await folder.open();
  expect(await execute({ source: "const args: any = { a: 5 };\nawait shop.one(args);" }, app)).toMatchObject({
    ok: false,
    reason: "threw",
    error: {
      name: "ToolError",
      code: "INVALID_ARGUMENTS",
      message: 'shop.one: "a" must be string, got 5',
      hint: "shop.one(args: { a: string }): Promise<unknown>",
      line: 2,
    },
  });
});

test("computed arguments are compared with the server's current schema if the registry's refuses them", async () => {
  folder.configure({ shop: folder.offering("shop", { one }) });
  await using first = await folder.open();
  await first.catalog.list("shop");
  folder.offering("shop", { one: two });
  await using app = await folder.open();
  const source = "const args: any = { b: 'x' };\nreturn (await shop.one(args)).arguments";
  expect(await execute({ source }, app)).toMatchObject({ ok: true, value: { b: "x" } });
});
