/** The results of well-known servers' tools: the catalog describes them, and signatures and generated files show them. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { servers } from "../../registry/index.ts";
import { results as demoResults } from "../../registry/testing/demo/results.ts";
import type { CatalogResult } from "../../registry/types.ts";
import { plans } from "../../scripts/results/plans.ts";
import { resultsOf as run } from "../../scripts/results/run.ts";
import { transpile } from "../../src/sandbox/code/transpile.ts";
import type { RegistryServer, RegistryTool } from "../../src/tools/model.ts";
import { emitServer } from "../../src/tools/registry/emit.ts";
import { isKnownResult } from "../../src/tools/registry/store.ts";
import { resultsOf } from "../../src/tools/server-catalog.ts";
import { signature } from "../../src/tools/signature.ts";
import { root } from "../support/claudikins.ts";

describe("the catalog", () => {
  const described = servers.flatMap(({ name, results }) => (results ? [[name, results] as const] : []));

  test.each(described)("types of %s are TypeScript, and formats are one line", async (_, { tools }) => {
    for (const result of Object.values(tools) as CatalogResult[]) {
      const { type, text } = result;
      expect(type ?? text).toBeString();
      if (type !== undefined) expect(await transpile(`let value: ${type};`)).toBeObject();
      expect([result, isKnownResult(result)]).toEqual([result, true]);
    }
  });

  test("results belong to the package that was run", () => {
    expect(resultsOf({ command: "npx", args: ["-y", "mcp-server-sqlite-npx@0.9", "a.db"] })?.tools).toHaveProperty(
      "list_tables",
    );
    expect(resultsOf({ command: "uvx", args: ["mcp-server-sqlite", "--db-path", "a.db"] })).toBeUndefined();
    expect(resultsOf({ command: "npx", args: ["-y", "unknown-server"] })).toBeUndefined();
    expect(resultsOf({ command: "/opt/claudikins", args: ["demo"] })?.tools).toHaveProperty("get_order");
    expect(resultsOf({ command: "/opt/claudikins", args: ["serve", "demo"] })).toBeUndefined();
  });
});

test("the demo server returns what the catalog says", async () => {
  const plan = plans.find(({ server }) => server === "testing/demo")!;
  expect(await run(plan, plan.starts!)).toEqual(demoResults);
});

test.each([
  { type: 'unknown; import "./evil.ts"' },
  { type: "unknown; evil()" },
  { type: "unknown>; evil(); type T = Set<unknown" },
  { type: "{ a: string" },
  { type: "unknown = `${evil}`" },
  { type: 1 },
  { text: "ends the comment */ evil()" },
  { text: "two\nlines" },
  "unknown",
  null,
])("an index with the result %j is damaged", (known) => {
  expect(isKnownResult(known)).toBe(false);
});

const installed = plans.filter(({ server }) =>
  ["files/filesystem", "knowledge/memory", "reasoning/sequential-thinking", "testing/everything"].includes(server),
);

test.each(installed.map((plan) => [plan.server, plan] as const))(
  "%s returns what the catalog says",
  async (_, plan) => {
    const known = servers.find(({ category, name }) => `${category}/${name}` === plan.server)?.results;
    const program = join(root, "node_modules", plan.package.replace(/@[^@]+$/, ""), "dist/index.js");
    const found = await run(plan, { command: "node", args: [program] });
    expect(found.tools).toEqual(known?.tools ?? {});
    if (known) expect(found).toEqual(known);
  },
);

test("a server with a tool that no call tries is refused", async () => {
  const plan = plans.find(({ server }) => server === "testing/demo")!;
  const calls = plan.calls.filter(({ tool }) => tool !== "get_order");
  await expect(run({ ...plan, calls }, plan.starts!)).rejects.toThrow("testing/demo: no call of get_order is planned");
});

describe("a tool", () => {
  const tool = (more: Partial<RegistryTool>): RegistryTool => ({
    name: "list",
    jsName: "list",
    description: "Lists.",
    inputSchema: { type: "object" },
    ...more,
  });
  const shown = (more: Partial<RegistryTool>) => signature({ name: "files", jsName: "files" }, tool(more));
  const known = { type: "string", text: "one entry per line" };

  test("shows the type and the format that the catalog knows", () => {
    expect(shown({ known })).toBe("files.list(): Promise<string> /* one entry per line */");
    expect(shown({ known: { type: "{ name: string }[]" } })).toBe("files.list(): Promise<{ name: string }[]>");
  });

  test("prefers its declared type, and then the observed one", () => {
    const outputSchema = { type: "object", properties: { content: { type: "string" } }, required: ["content"] };
    expect(shown({ known, outputSchema })).toBe("files.list(): Promise<{ content: string }> /* one entry per line */");
    expect(shown({ known, observed: { type: "number" } })).toBe(
      "files.list(): Promise<number> /* observed */ /* one entry per line */",
    );
  });

  test("has the type in its generated file", () => {
    const server: RegistryServer = {
      name: "files",
      jsName: "files",
      category: "files",
      description: "",
      folder: "files/files",
      fingerprint: "",
      tools: [tool({ known })],
    };
    const text = emitServer(server)
      .map(({ text }) => text)
      .join("\n");
    expect(text).toContain("/** one entry per line */\nexport type ListResult = string;");
  });
});
