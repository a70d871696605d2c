/** The data that servers send with their errors reaches programs: bounded, without secrets, and as something that was read. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeEach(() => {
  folder = project();
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const tool = (name: string) => ({ name, inputSchema: { type: "object", properties: { a: { type: "string" } } } });

/** Runs a program with the server `s`, whose tool `get_customer` answers with the error, and a server to which mails are sent. */
async function run(source: string, error: object) {
  const answers = { "tools/list": { tools: [tool("get_customer")] }, "tools/call": { $error: error } };
  const s = {
    ...fixture("scripted", folder.write("s.json", { answers })),
    definitions: "trust",
  };
  const mail = { ...folder.offering("mail", { send_mail: tool("send_mail") }), labels: { "*": ["public"] } };
  folder.configure({
    s: { ...s, labels: { "*": ["untrusted", "private"] }, env: { API_KEY: "the-secret-key-of-the-test" } },
    mail,
  });
  app = await folder.open();
  const outcome = await execute({ source }, app);
  return outcome.ok ? outcome.value : { ...outcome.error };
}

const caught = "try { await s.get_customer({}) } catch (e) { return [e.code, e.data] }";

test.each([
  [-32_602, "INVALID_ARGUMENTS", { issues: [{ path: ["a"], message: "too short" }] }],
  [-32_000, "TOOL_FAILED", ["a", 1, null, { b: "c" }]],
  [-32_603, "TOOL_FAILED", "text"],
])("an error %d has the code %s and its data", async (code, ours, data) => {
  expect(await run(caught, { code, message: "no", data })).toEqual([ours, data]);
});

test("long numbers keep their digits", async () => {
  const digits = "17269385823764501234";
  const error = { code: -32_000, message: "no", data: { id: `$number ${digits}` } };
  expect(await run(caught, error)).toEqual(["TOOL_FAILED", { id: digits }]);
});

test("an error without data has none", async () => {
  const source = "try { await s.get_customer({}) } catch (e) { return 'data' in e }";
  expect(await run(source, { code: -32_000, message: "no" })).toBe(false);
});

test("secrets of the server's entry are hidden in the data", async () => {
  const data = { request: { headers: ["x-key: the-secret-key-of-the-test"] } };
  const [, seen] = (await run(caught, { code: -32_000, message: "no", data })) as [string, object];
  expect(JSON.stringify(seen)).not.toContain("the-secret-key");
  expect(seen).toMatchObject({ request: { headers: [expect.stringContaining("x-key: ")] } });
});

test("long data becomes a text with the beginning of its JSON", async () => {
  const data = { rows: Array.from({ length: 10_000 }, (_, at) => ({ at })) };
  const [, seen] = (await run(caught, { code: -32_000, message: "no", data })) as [string, string];
  expect(seen).toStartWith('{"rows":[{"at":0},');
  expect(seen.length).toBeLessThan(66_000);
});

test("the data counts as read: it does not leave unasked", async () => {
  const source = `try { await s.get_customer({}) } catch (e) { return mail.send_mail({ a: e.data.customer }) }`;
  const data = { customer: "Erika Mustermann, Heidestrasse 17" };
  expect(await run(source, { code: -32_000, message: "no", data })).toMatchObject({ code: "POLICY_DENIED" });
});
