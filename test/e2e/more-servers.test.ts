/**
 * Real servers that are too large to be installed with the tests: @eslint/mcp, @wonderwhy-er/desktop-commander,
 * mcp-server-sqlite-npx, @playwright/mcp and chrome-devtools-mcp. `TEST_SERVERS` is a folder in which they were installed:
 *
 *     npm install @eslint/mcp @wonderwhy-er/desktop-commander mcp-server-sqlite-npx @playwright/mcp chrome-devtools-mcp
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chromiumPath } from "../support/browser.ts";
import type { Entry } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { compareWithDirect, type Step } from "./directly.ts";

// A browser starts slowly on a small machine.
setDefaultTimeout(300_000);

const installed = process.env["TEST_SERVERS"];

/** The entry of an installed package; undefined if it is not installed. */
function started(name: string, ...args: string[]): Entry | undefined {
  const folder = join(installed ?? "", "node_modules", name);
  if (installed === undefined || !existsSync(folder)) return undefined;
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { bin: string | object };
  const file = typeof bin === "string" ? bin : Object.values(bin)[0];
  return { command: "node", args: [join(folder, file), ...args], env: { HOME: process.env["HOME"] ?? "" } };
}

interface Case {
  entry: Entry | undefined;
  steps: Omit<Step, "server">[];
  same?: (json: string) => string;
}

/** A folder for both agents to work in. */
function prepared(): { folder: TemporaryFolder; root: string } {
  const folder = temporaryFolder();
  const root = join(folder.path, "root");
  mkdirSync(root);
  folder.write("root/eslint.config.mjs", 'export default [{ rules: { "no-unused-vars": "error" } }];\n');
  folder.write("root/bad.js", "const unused = 1;\n");
  folder.write("root/notes.txt", "alpha\nbeta\n");
  return { folder, root };
}

async function compare(server: string, { entry, steps, same }: Case, { folder, root }: ReturnType<typeof prepared>) {
  await compareWithDirect({
    folder,
    root,
    servers: { [server]: entry! },
    steps: steps.map((step) => ({ server, ...step })),
    ...(same ? { same } : {}),
  });
}

const missing = (name: string) => (started(name) ? "" : " (skipped: TEST_SERVERS has no such package)");

test.skipIf(!started("@eslint/mcp"))(`@eslint/mcp${missing("@eslint/mcp")}`, async () => {
  const at = prepared();
  using _ = at.folder;
  const steps = [
    { tool: "lint-files", args: { filePaths: [join(at.root, "bad.js")] } },
    { tool: "lint-files", args: { filePaths: [join(at.root, "none.js")] } },
  ];
  await compare("eslint", { entry: started("@eslint/mcp"), steps }, at);
});

test.skipIf(!started("mcp-server-sqlite-npx"))(`mcp-server-sqlite-npx${missing("mcp-server-sqlite-npx")}`, async () => {
  const at = prepared();
  using _ = at.folder;
  const steps = [
    { tool: "create_table", args: { query: "create table if not exists item (name text, price real)" } },
    { tool: "write_query", args: { query: "delete from item" } },
    { tool: "write_query", args: { query: "insert into item values ('ä', 1.5), ('b', null)" } },
    { tool: "read_query", args: { query: "select * from item" } },
    { tool: "list_tables" },
    { tool: "describe_table", args: { table_name: "item" } },
    { tool: "read_query", args: { query: "select nothing from nowhere" } },
  ];
  await compare("sqlite", { entry: started("mcp-server-sqlite-npx", join(at.root, "shop.db")), steps }, at);
});

test.skipIf(!started("@wonderwhy-er/desktop-commander"))(
  `@wonderwhy-er/desktop-commander${missing("@wonderwhy-er/desktop-commander")}`,
  async () => {
    const at = prepared();
    using _ = at.folder;
    const notes = join(at.root, "notes.txt");
    const steps = [
      { tool: "read_file", args: { path: notes } },
      { tool: "read_multiple_files", args: { paths: [notes, join(at.root, "none.txt")] } },
      { tool: "list_directory", args: { path: at.root } },
      { tool: "edit_block", args: { file_path: notes, old_string: "nowhere", new_string: "x" } },
      { tool: "start_process", args: { command: "echo hello", timeout_ms: 5_000 } },
      { tool: "read_file", args: { path: join(at.root, "none.txt") } },
    ];
    const same = (json: string) => json.replaceAll(/PID:? \d+/gi, "PID").replaceAll(/\d+(?:\.\d+)? ?m?s\b/g, "TIME");
    await compare("commander", { entry: started("@wonderwhy-er/desktop-commander"), steps, same }, at);
  },
);

const page = `<!doctype html><title>Shop</title><h1>Orders</h1><button onclick="this.textContent='Done'">Ship</button><script>console.log("ready")</script>`;
const noBrowser = chromiumPath === undefined ? " (skipped: there is no Chromium in /usr/bin)" : "";

test.skipIf(!started("@playwright/mcp") || noBrowser !== "")(
  `@playwright/mcp${missing("@playwright/mcp") || noBrowser}`,
  async () => {
    const at = prepared();
    using _ = at.folder;
    using site = Bun.serve({
      port: 0,
      fetch: () => new Response(page, { headers: { "Content-Type": "text/html" } }),
    });
    const flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", chromiumPath!];
    const steps = [
      { tool: "browser_navigate", args: { url: site.url.href } },
      { tool: "browser_snapshot" },
      { tool: "browser_evaluate", args: { function: "() => ({ title: document.title, n: [1, null] })" } },
      { tool: "browser_take_screenshot" },
      { tool: "browser_console_messages" },
      { tool: "browser_tabs", args: { action: "list" } },
      { tool: "browser_click", args: { element: "none", target: "e999" } },
      { tool: "browser_close" },
    ];
    const same = (json: string) =>
      json.replaceAll(/\d{4}-\d\d-\d\dT[\d-]+(?::\d\d)*(?:[.-]\d+)?Z/g, "TIME").replaceAll(/\d+ms/g, "TIME");
    await compare("playwright", { entry: started("@playwright/mcp", ...flags), steps, same }, at);
  },
);

test.skipIf(!started("chrome-devtools-mcp") || noBrowser !== "")(
  `chrome-devtools-mcp${missing("chrome-devtools-mcp") || noBrowser}`,
  async () => {
    const at = prepared();
    using _ = at.folder;
    using site = Bun.serve({
      port: 0,
      fetch: () => new Response(page, { headers: { "Content-Type": "text/html" } }),
    });
    const flags = ["--headless", "--isolated", "--executablePath", chromiumPath!, "--chromeArg=--no-sandbox"];
    const steps = [
      { tool: "list_pages" },
      { tool: "navigate_page", args: { pageId: 1, url: site.url.href } },
      { tool: "take_snapshot", args: { pageId: 1 } },
      { tool: "evaluate_script", args: { pageId: 1, function: "() => document.title" } },
      { tool: "list_console_messages", args: { pageId: 1 } },
      { tool: "take_screenshot", args: { pageId: 1 } },
      { tool: "click", args: { pageId: 1, uid: "999_9" } },
    ];
    await compare("devtools", { entry: started("chrome-devtools-mcp", ...flags), steps }, at);
  },
);

test.if(installed !== undefined)("TEST_SERVERS contains at least one of the servers", () => {
  expect(
    [
      "@eslint/mcp",
      "@wonderwhy-er/desktop-commander",
      "mcp-server-sqlite-npx",
      "@playwright/mcp",
      "chrome-devtools-mcp",
    ].some((name) => started(name)),
  ).toBe(true);
});
