/** MCP Apps and unknown extensions pass direct mode: pages, and the metadata of tools, results and resources. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { getToolUiResourceUri, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/app-bridge";
import { root } from "../../support/claudikins.ts";
import { openHost, scripted } from "../../support/host.ts";
import { httpServe } from "../../support/http-serve.ts";
import { modernAnswer, openModernHost } from "../../support/modern-host.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { runProgram } from "../../support/process.ts";
import { filesystem, fixture } from "../../support/servers.ts";

setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const flags = ["--mode", "direct"];
const configure = (servers: Record<string, string[]>) =>
  folder.write("claudikins.json", {
    mcpServers: Object.fromEntries(
      Object.entries(servers).map(([name, [older = "serve", ...kind]]) => [
        name,
        fixture("apps", older, name, ...kind, folder.path),
      ]),
    ),
  });

/** What an agent shows for a tool: the page that the definition names, and the one that the result names. */
async function shownBy(host: Client, name: string) {
  const { tools } = await host.listTools();
  const tool = tools.find((each) => each.name === name)!;
  const result = await host.callTool({ name });
  const pages = [getToolUiResourceUri(tool), getToolUiResourceUri(result)];
  const [page, ...others] = new Set(pages);
  expect(others).toEqual([]);
  const { contents, _meta } = await host.readResource({ uri: page! });
  return { tool, result, page, contents, meta: _meta };
}

describe.each([
  ["2025-11-25", true],
  ["2026-07-28", false],
])("a host of revision %s", (_, isOlder) => {
  test.each(["serve", "reject"])("shows the app of a server that %ss older clients, unchanged", async (older) => {
    configure({ one: [older] });
    await using host = await openModernHost(folder, { isOlder, flags });
    const page = "ui://one/page.html";
    const shown = await shownBy(host, "show_one");
    expect(shown).toMatchObject({
      tool: { _meta: { ui: { resourceUri: page, visibility: ["model", "app"] }, "ui/resourceUri": page, "x/y": 1 } },
      result: { _meta: { ui: { resourceUri: page }, "x/z": [2] } },
      page,
      meta: { "x/r": true },
    });
    const csp = { connectDomains: ["https://one.example.com"] };
    expect(shown.contents).toEqual([
      { uri: page, mimeType: RESOURCE_MIME_TYPE, text: "<p>one</p>", _meta: { ui: { csp } } },
    ]);
    expect((await host.listResources()).resources).toEqual([
      { uri: page, name: "Page", mimeType: RESOURCE_MIME_TYPE, _meta: { ui: { prefersBorder: true } } },
    ]);
  });

  test.each(["stdio", "http"])("tells servers over %s which apps it shows", async (way) => {
    configure({ one: ["serve"], two: ["reject"] });
    const ui = { mimeTypes: [RESOURCE_MIME_TYPE] };
    const capabilities = { extensions: { "io.modelcontextprotocol/ui": ui, "example.com/other": {} } };
    const said = async (mode: string, theirs: object) => {
      await using door = way === "http" ? await httpServe(folder, ["--mode", mode]) : undefined;
      const reached = door ? { url: door.url } : { flags: ["--mode", mode] };
      await using host = await openModernHost(folder, { isOlder, ...reached, capabilities: theirs });
      const code = "return [await one.supports(), await two.supports()]";
      const names = mode === "direct" ? ["one__supports", "two__supports"] : ["execute_code"];
      const results = await Promise.all(names.map((name) => host.callTool({ name, arguments: { code } })));
      return results.map(({ content }) => JSON.parse((content as { text: string }[])[0]!.text.split("\n\n[")[0]!));
    };
    expect(await said("direct", capabilities)).toEqual([ui, ui]);
    expect(await said("direct", {})).toEqual([null, null]);
    expect(await said("code", capabilities)).toEqual([[null, null]]);
  });

  test.each([true, false])(
    "shows each server's own app at the same address, with resources listed first: %p",
    async (first) => {
      configure({ one: ["serve", "shared"], "two ü": ["reject", "shared"] });
      await using host = await openModernHost(folder, { isOlder, flags });
      if (first) await host.listResources();
      const one = await shownBy(host, "show_one");
      expect([one.page, one.contents]).toMatchObject(["ui://claudikins/one/view/page.html", [{ text: "<p>one</p>" }]]);
      expect(one.tool._meta).toMatchObject({ "ui/resourceUri": one.page });
      const { tools } = await host.listTools();
      const two = await shownBy(host, tools.map(({ name }) => name).find((name) => name.startsWith("show_two"))!);
      expect([two.page, two.contents]).toMatchObject([
        "ui://claudikins/two%20%C3%BC/view/page.html",
        [{ uri: two.page, text: "<p>two ü</p>" }],
      ]);
      expect((await host.listResources()).resources.map(({ uri }) => uri)).toEqual([one.page, two.page] as string[]);
    },
  );
});

test("definitions of a well-known server get no fields of ours", async () => {
  folder.write("claudikins.json", { mcpServers: { files: filesystem(folder.path) } });
  await using host = await openHost(folder, { flags });
  const { tools } = await host.request("tools/list");
  const keys = new Set((tools as object[]).flatMap((tool) => Object.keys(tool)));
  expect([...keys].sort()).toEqual(["annotations", "description", "inputSchema", "name", "outputSchema", "title"]);
});

test("a page that only a result names is read from the server of the result", async () => {
  const server = (name: string) =>
    scripted(folder, name, {
      capabilities: { tools: {}, resources: {} },
      answers: {
        "tools/list": { tools: [{ name: `make_${name}`, inputSchema: { type: "object" } }] },
        "tools/call": { content: [], _meta: { ui: { resourceUri: "ui://made" } } },
        "resources/list": { resources: [] },
        "resources/templates/list": { resourceTemplates: [] },
        "resources/read": { contents: [{ uri: "ui://made", text: name }] },
      },
    });
  folder.write("claudikins.json", { mcpServers: { one: server("one"), two: server("two") } });
  await using host = await openHost(folder, { flags });
  for (const name of ["two", "one"]) {
    const { _meta } = await host.call(`make_${name}`);
    const { resourceUri: uri } = (_meta as { ui: { resourceUri: string } }).ui;
    expect(await host.request("resources/read", { uri })).toEqual({ contents: [{ uri, text: name }] });
  }
});

test("a host of 2026-07-28 gets unknown fields and metadata of definitions, results and contents unchanged", async () => {
  const odd = { "x-vendor": { kept: [1, null] }, _meta: { "example.com/a": { b: 1 } } };
  const tool = { name: "odd", inputSchema: { type: "object", "x-form": { rows: 2 } }, ...odd };
  folder.write("claudikins.json", {
    mcpServers: {
      one: scripted(folder, "one", {
        capabilities: { tools: {}, resources: {}, prompts: {}, extensions: { "example.com/ext": { on: true } } },
        answers: {
          "tools/list": { tools: [tool] },
          "tools/call": { content: [{ type: "hologram", ...odd }], ...odd },
          "resources/list": { resources: [{ uri: "ui://a", name: "a", ...odd }] },
          "resources/templates/list": { resourceTemplates: [] },
          "resources/read": { contents: [{ uri: "ui://a", text: "a", ...odd }], ...odd },
          "prompts/list": { prompts: [{ name: "p", ...odd }] },
          "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "p", ...odd } }], ...odd },
        },
      }),
    },
  });
  await using door = await httpServe(folder, flags);
  const ask = async (method: string, params = {}) => (await modernAnswer(door.url, method, params)).result;
  expect(await ask("tools/list")).toMatchObject({ tools: [tool] });
  expect(await ask("tools/call", { name: "odd" })).toMatchObject({ content: [{ type: "hologram", ...odd }], ...odd });
  expect(await ask("resources/list")).toMatchObject({ resources: [{ uri: "ui://a", name: "a", ...odd }] });
  expect(await ask("resources/read", { uri: "ui://a" })).toMatchObject({ contents: [{ text: "a", ...odd }], ...odd });
  expect(await ask("prompts/list")).toMatchObject({ prompts: [{ name: "p", ...odd }] });
  expect(await ask("prompts/get", { name: "p" })).toMatchObject({
    messages: [{ content: { type: "text", text: "p", ...odd } }],
    ...odd,
  });
  // An extension that we do not pass on is not announced.
  const { capabilities } = (await ask("server/discover")) as { capabilities: { extensions: object } };
  expect(Object.keys(capabilities.extensions)).toEqual([
    "io.modelcontextprotocol/skills",
    "io.modelcontextprotocol/tasks",
  ]);
});

test("the Inspector finds the app of each server", async () => {
  configure({ one: ["serve", "shared"], two: ["serve", "shared"] });
  await using door = await httpServe(folder, flags);
  const inspector = join(root, "node_modules", ".bin", "mcp-inspector");
  for (const name of ["one", "two"]) {
    const args = ["--method", "tools/call", "--tool-name", `show_${name}`, "--app-info"];
    const { stdout, stderr } = await runProgram([
      "node",
      inspector,
      ...["--cli", door.url, "--transport", "http"],
      ...args,
    ]);
    if (stdout === "") throw new Error(stderr);
    expect(JSON.parse(stdout)).toEqual({
      hasApp: true,
      toolName: `show_${name}`,
      resourceUri: `ui://claudikins/${name}/view/page.html`,
      visibility: ["model", "app"],
      csp: { connectDomains: [`https://${name}.example.com`] },
      resourceMimeType: RESOURCE_MIME_TYPE,
    });
  }
});
