/** Skills of the workspace are listed, found and described like tools, in their current version. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { search } from "../../../src/tools/search/search.ts";
import { type Project, project } from "../generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
let app: App;
beforeEach(async () => {
  folder = project();
  folder.configure({ shop: folder.offering("shop", { "list-orders": { description: "Lists orders." } }) });
  app = await folder.open();
});
afterEach(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function value(source: string): Promise<unknown> {
  const outcome = await execute({ source }, app);
  return outcome.ok ? outcome.value : outcome.error;
}

const save = `await fs.mkdir("./workspace/skills/stats", { recursive: true });
await fs.writeFile("./workspace/skills/revenue.ts", \`
/** Sums the revenue of orders by month. */
export function revenueByMonth(orders: { created_at: string; total_cents: number }[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const o of orders) sums[o.created_at.slice(0, 7)] = (sums[o.created_at.slice(0, 7)] ?? 0) + o.total_cents;
  return sums;
}
export const currency: string = "EUR";
\`);
await fs.writeFile("./workspace/skills/stats/index.ts", "export default (xs: number[]): number => xs.length;");
await fs.writeFile("./workspace/skills/notes.md", "no skill");`;

test("tools.list returns skills with their signatures, once there are some", async () => {
  expect(await value("return (await tools.list()).map(({ server }) => server)")).toEqual(["shop"]);
  await value(save);
  expect(await value("return (await tools.list()).at(-1)")).toEqual({
    server: "./skills",
    description: "functions saved in ./workspace/skills",
    tools: [
      'revenueByMonth(orders: { created_at: string; total_cents: number }[]): Record<string, number> // import { revenueByMonth } from "./skills/revenue"',
      'currency: string // import { currency } from "./skills/revenue"',
      'stats(xs: number[]): number // import stats from "./skills/stats"',
    ],
  });
  expect(await value('return (await tools.list("./skills"))[0]')).toEqual({
    id: "skills/revenue.revenueByMonth",
    description: "Sums the revenue of orders by month.",
    signature: "revenueByMonth(orders: { created_at: string; total_cents: number }[]): Record<string, number>",
    example: 'import { revenueByMonth } from "./skills/revenue"',
  });
  expect(await value('return (await tools.describe("skills/revenue.revenueByMonth")).description')).toBe(
    "Sums the revenue of orders by month.",
  );
});

test("search finds skills beside tools, and its result can be used", async () => {
  await app.catalog.tools("shop");
  expect(search("revenue by month", 5, app.catalog).tools).toEqual([]);
  await value(save);
  const [found] = search("revenue by month", 5, app.catalog).tools;
  expect(found).toMatchObject({ kind: "skill", id: "skills/revenue.revenueByMonth", server: "./skills/revenue" });
  expect(search("orders", 5, app.catalog).tools.map(({ kind }) => kind)).toContain("tool");
  const code = `${found?.example};\nreturn revenueByMonth([{ created_at: "2025-03-01T00:00:00Z", total_cents: 5 }])`;
  expect(await value(code)).toEqual({ "2025-03": 5 });
});

test("changes to a skill's files take effect at once", async () => {
  await value(save);
  await value('await fs.writeFile("./workspace/skills/revenue.ts", "export function revenueOfDay(day: string) {}")');
  expect(search("revenue", 5, app.catalog).tools.map(({ name }) => name)).toEqual(["revenueOfDay"]);
  await value('await fs.rm("./workspace/skills/revenue.ts")');
  expect(search("revenue", 5, app.catalog).tools).toEqual([]);
});

test("a changed skill is imported in its new version, even in the same worker", async () => {
  const write = (n: number) => `await fs.mkdir("workspace/skills", { recursive: true });
    await fs.writeFile("workspace/skills/n.ts", "export const n: number = ${n}");`;
  const read = 'const { n } = await import("./skills/n"); return n';
  expect(await value(write(1) + read)).toBe(1);
  expect(await value(read)).toBe(1);
  expect(await value(write(2) + read)).toBe(2);
});

test("links to files outside the folder are not skills", async () => {
  const { workspace } = app.config.folders;
  mkdirSync(join(workspace, "skills"), { recursive: true });
  folder.write("secret.ts", "/** A secret of the machine. */\nexport function secret() {}");
  symlinkSync(join(folder.path, "secret.ts"), join(workspace, "skills", "secret.ts"));
  symlinkSync(folder.path, join(workspace, "skills", "all"));
  writeFileSync(join(workspace, "skills", "mine.ts"), "export function mine() {}");
  expect(await value('return (await tools.list("./skills")).map(({ id }) => id)')).toEqual(["skills/mine.mine"]);
});
