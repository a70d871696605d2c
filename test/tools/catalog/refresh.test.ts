/** Tools that come and go while a server runs: the registry, searches and code follow, without a restart and without a storm. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { callSearchTools } from "../../../src/serve/tools/search-tools.ts";
import { toolValue } from "../../../src/servers/result.ts";
import { search } from "../../../src/tools/search/search.ts";
import { networkFixture } from "../../support/network.ts";
import { processesWith } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

/** The value of the code, or its error. */
async function run(source: string, app: App): Promise<unknown> {
  const outcome = await execute({ source }, app);
  if (outcome.ok) return outcome.value;
  const { code, message, hint } = outcome.error;
  return { code, message, hint };
}

const changing = (...modes: string[]) => fixture("protocol", "stdio", folder.path, ...modes);
const toolsOf = (app: App) => app.catalog.find("shop")?.tools.map(({ name }) => name) ?? [];
const never = new AbortController().signal;

describe("a server that says that its tools changed", () => {
  test.each(["stdio", "http"])("over %s: the next search and the next code see them", async (way) => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    folder.configure({ shop: server ? { url: `http://127.0.0.1:${server.port}/` } : changing() });
    await using app = await folder.open();
    const heard = Promise.withResolvers<string>();
    app.pool.onListChanged((name, what) => heard.resolve(`${name} ${what}`));
    expect(await run(`return shop["add-tool"]({ name: "weigh_parcel" })`, app)).toBe("added");
    expect(await heard.promise).toBe("shop tools");
    const { content } = await callSearchTools({ query: "weigh a parcel" }, app, never);
    expect(content).toMatchObject([{ text: expect.stringContaining("shop.weigh_parcel") }]);
    expect(await run("return shop.weigh_parcel()", app)).toBe("this is weigh_parcel");
    const file = join(folder.registry, "other", "shop", "weigh_parcel.ts");
    expect(existsSync(file)).toBe(true);
    // Another process reads it from there.
    await using other = await folder.open();
    expect(toolsOf(other)).toContain("weigh_parcel");
    if (way === "http") return;
    await run(`return shop["remove-tool"]({ name: "weigh_parcel" })`, app);
    expect(await run("return shop.weigh_parcel()", app)).toMatchInlineSnapshot(`
      {
        "code": "TOOL_NOT_FOUND",
        "hint": undefined,
        "message": "shop has no tool "weigh_parcel". Its tools: add_tool, ask, ask_later, cancel, capabilities, exit, needs_page, notify, progress, remove_tool, seen, touch_resource, vanish, wait",
      }
    `);
    expect(search("weigh a parcel", 5, app.catalog).tools.map(({ id }) => id)).not.toContain("shop.weigh_parcel");
    expect(existsSync(file)).toBe(false);
  });

  test("and removes the tool that the program calls next: the call fails and suggests similar names", async () => {
    folder.configure({ shop: changing() });
    await using app = await folder.open();
    await run(`return shop["add-tool"]({ name: "add_tool_2" })`, app);
    const code = `await shop["remove-tool"]({ name: "add_tool_2" }); return shop.add_tool_2();`;
    expect(await run(code, app)).toMatchInlineSnapshot(`
      {
        "code": "TOOL_NOT_FOUND",
        "hint": "Did you mean add_tool?",
        "message": "shop has no tool "add_tool_2"",
      }
    `);
  });

  test("and removes the tool that is being called: the call fails with TOOL_NOT_FOUND", async () => {
    folder.configure({ shop: changing() });
    await using app = await folder.open();
    expect(await run("return shop.vanish()", app)).toMatchObject({
      code: "TOOL_NOT_FOUND",
      message: 'shop has no tool "vanish"',
    });
  });

  test("and lists its tools slowly: a program that names it waits", async () => {
    folder.configure({ shop: changing("slow") });
    await using app = await folder.open();
    await app.catalog.tools("shop");
    await app.catalog.list("shop");
    await app.pool.callTool("shop", "add-tool", { name: "weigh_parcel" });
    expect(toolsOf(app)).not.toContain("weigh_parcel");
    expect(await run("return shop.weigh_parcel()", app)).toBe("this is weigh_parcel");
  });

  test("a thousand times is listed only a few times", async () => {
    folder.configure({ shop: changing() });
    await using app = await folder.open();
    await run(`return shop.notify({ method: "notifications/tools/list_changed", times: 1000 })`, app);
    await app.catalog.tools("shop", { freshAs: "stored" });
    expect(Number(await run("return (await shop.seen()).lists", app))).toBeLessThanOrEqual(6);
  });

  test("after every list is listed a few times, and then rarely; calls still work", async () => {
    // With locked definitions, each call would wait for a list.
    folder.configure({ shop: { ...changing("endless"), definitions: "trust" } });
    await using app = await folder.open();
    await app.catalog.tools("shop");
    // Not through the sandbox: the call must be finished long before the next list is due.
    const lists = async () => {
      const value = toolValue(await app.pool.callTool("shop", "seen", {}), "seen");
      return (JSON.parse("json" in value ? value.json : "") as { lists: number }).lists;
    };
    while ((await lists()) < 6);
    for (let count = 0; count < 30; count++) expect(await lists()).toBe(6);
  });

  test("while it is being listed: the later list is kept", async () => {
    folder.configure({ shop: changing("slow") });
    await using app = await folder.open();
    // The first request is answered last.
    const first = app.catalog.list("shop");
    const adding = app.pool.callTool("shop", "add-tool", { name: "later" });
    await Promise.all([first, adding, app.catalog.list("shop")]);
    await app.catalog.tools("shop", { freshAs: "stored" });
    expect(toolsOf(app)).toContain("later");
  });

  test("before its first answer can still be called", async () => {
    folder.configure({ shop: changing("early") });
    await using app = await folder.open();
    expect(await run(`return shop.wait({ ms: 0 })`, app)).toBe("waited");
    await app.catalog.tools("shop", { freshAs: "stored" });
    expect(toolsOf(app)).toContain("wait");
  });

  test("and exits is not started again for the list", async () => {
    folder.configure({ shop: changing() });
    await using app = await folder.open();
    await app.catalog.tools("shop");
    await app.pool.callTool("shop", "exit", {}).catch(() => {});
    await expect(app.pool.listTools("shop", { startsNothing: true })).rejects.toMatchObject({ code: "CANCELLED" });
    expect(processesWith(folder.path)).toEqual([]);
  });
});
