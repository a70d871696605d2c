/** execute_code tells the model the types of results that nobody has seen before. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { callExecuteCode } from "../../src/serve/tools/execute-code.ts";
import { root } from "../support/claudikins.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes take their time to start on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  folder.configure({ demo: { command: process.execPath, args: [`${root}/src/main.ts`, "demo"] } });
  app = await folder.open();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function texts(code: string): Promise<string[]> {
  const { content } = await callExecuteCode({ code }, app, new AbortController().signal);
  return (content as { text: string }[]).map(({ text }) => text);
}

test("the first execution that meets an unknown result type shows it, later ones do not", async () => {
  const code = `return (await demo.get_customer({ customer_id: "cus_0007" })).name.length`;
  const [, types] = await texts(code);
  expect(types).toMatch(/^Observed result types:\ndemo\.get_customer → \{ id: string; .*name: string;.* \}$/);
  expect(await texts(code)).toHaveLength(1);
});

test("a type that the server declares is not shown", async () => {
  const report = `{ from: "2025-12-01", to: "2025-12-31", group_by: "month" }`;
  expect(await texts(`return (await demo.sales_report(${report})).rows.length`)).toHaveLength(1);
});

test("a program without calls, and a call that fails, show no types", async () => {
  expect(await texts("return 1")).toHaveLength(1);
  expect(await texts(`try { await demo.get_order({ order_id: "ord_99999" }) } catch {} return 1`)).toHaveLength(1);
});
