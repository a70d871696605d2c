/** The table of all tools and the figures in a real browser: search, states, undo, several at once, thousands of tools, and looks. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { storedCall } from "../store/contract/call-log.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { inStore } from "../support/stored.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene, type SceneServer } from "./scene.ts";

setDefaultTimeout(60_000);

const shop: SceneServer = {
  entry: { command: "shop-mcp" },
  tools: [
    { name: "list_orders", description: "Lists the orders." },
    { name: "refund", description: "Pays back." },
  ],
};

describe.skipIf(chromiumPath === undefined)(`tools in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({ shop });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("5");
    await opened.page.locator(".tool-row").first().waitFor();
    return opened;
  }

  test("a state is changed with one press, says what it would have meant, and is undone", async () => {
    const call = { ...storedCall("c1", Date.now() - 1_000), config: scene.config, server: "shop", tool: "refund" };
    await inStore(scene.env, (store) => store.callLog.add([{ ...call, agent: "codex" }]));
    const before = readFileSync(scene.config, "utf8");
    await using opened = await open();
    const { page } = opened;
    await page.getByLabel("State of shop.refund").selectOption("deny");
    await page.getByText("Saved in the config: shop.refund is denied").waitFor();
    await page.getByText("1 of 1 call in the last 7 days would have been denied: codex 1").waitFor();
    expect(JSON.parse(readFileSync(scene.config, "utf8")).mcpServers.shop.deny).toEqual(["refund"]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText('Undone: "shop.refund is denied"').waitFor();
    expect(readFileSync(scene.config, "utf8")).toBe(before);
    expect(opened.said).toEqual([]);
  });

  test("behind a door, the state says why it is fixed and what to change instead, and only its calls are shown", async () => {
    const call = { ...storedCall("c1", Date.now() - 1_000), config: scene.config, server: "shop", tool: "refund" };
    await inStore(scene.env, (store) => store.callLog.add([call]));
    const config = JSON.parse(readFileSync(scene.config, "utf8"));
    const doors = { qa: { servers: ["shop"], tools: { confirm: { "shop.refund": "always" } } } };
    scene.folder.write(".config/claudikins/claudikins.json", { ...config, doors });
    await using opened = await open();
    const { page } = opened;
    await page.locator(".tool-row", { hasText: "refund" }).locator(".cell-calls").getByText("1").waitFor();
    await page.getByRole("button", { name: "Doors", exact: true }).click();
    await page.getByText("shop.refund", { exact: true }).waitFor();
    await page.getByRole("button", { name: "2 tools" }).click();
    await page.locator(".tool-row .state-choice.ask").waitFor();
    expect((await page.locator(".cell-calls").allInnerTexts()).join("").trim()).toBe("");
    await page.locator(".tool-row .cell-tool", { hasText: "refund" }).click();
    await page.getByText('Choose "Without a door" above to change it for everybody').waitFor();
    await page.getByText("It was not called yet.").waitFor();
    expect(await page.getByRole("radio", { name: "deny" }).isDisabled()).toBe(true);
    expect(opened.said).toEqual([]);
  });

  test("a denial that would end a call that waits asks before", async () => {
    await scene.ask({ config: scene.config, server: "shop", tool: "refund" });
    const before = readFileSync(scene.config, "utf8");
    await using opened = await open();
    const { page } = opened;
    const asks = page.getByText("1 call that waits for approval would end with an error").first();
    await page.getByLabel("State of shop.refund").selectOption("deny");
    await page.getByText("Not changed yet: shop.refund").waitFor();
    await asks.waitFor();
    expect(readFileSync(scene.config, "utf8")).toBe(before);
    await page.getByRole("button", { name: "Close this message" }).click();
    await page.getByLabel("State of shop.refund").selectOption("deny");
    await page.getByRole("button", { name: "Deny anyway" }).click();
    await page.getByText("Saved in the config: shop.refund is denied").waitFor();
    expect(JSON.parse(readFileSync(scene.config, "utf8")).mcpServers.shop.deny).toEqual(["refund"]);
  });

  test("long names are shortened in their middle, on one line, and `list_2` comes before `list_10`", async () => {
    const [server, long] = [`server_${"x".repeat(60)}_end`, `tool_${"y".repeat(60)}_other`];
    const tools = ["list_10", "list_2", long].map((name) => ({ name, description: name }));
    await scene[Symbol.asyncDispose]();
    scene = await Scene.open({ [server]: { ...shop, tools } });
    await using opened = await open();
    const { page } = opened;
    const names = await page.locator(".tool-row .tool-name").evaluateAll((all) => all.map((each) => each.textContent));
    expect(names).toEqual(["list_2", "list_10", long].map((name) => `${server}.${name}`));
    const row = page.getByRole("button", { name: `${server}.${long}`, exact: true });
    const box = (await row.boundingBox())!;
    expect(box.height).toBeLessThan(40);
    for (const end of ["xxxx_end", "yy_other"]) {
      const shown = (await row.getByText(end, { exact: true }).boundingBox())!;
      expect(shown.x + shown.width).toBeLessThanOrEqual(box.x + box.width + 1);
    }
    expect(opened.said).toEqual([]);
  });

  test("without a server, there are no filters, and a button leads to the form for one", async () => {
    await scene[Symbol.asyncDispose]();
    scene = await Scene.open();
    await using opened = await openPage(browser, scene.url, { reducedMotion: "reduce" });
    const { page } = opened;
    await page.locator("main .panel").first().waitFor();
    await page.keyboard.press("5");
    await page.getByText("There are no tools").waitFor();
    expect(await page.locator(".filters").count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    await page.locator("main").getByRole("button", { name: "Add a server" }).click();
    await page.getByRole("button", { name: "Try it and add it" }).waitFor();
  });

  test("several tools are set together, by the keyboard alone", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByLabel("Choose all tools of the list").focus();
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: "ask", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Set 2 tools to ask" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("Saved in the config: 2 tools set to ask").waitFor();
    const { shop } = JSON.parse(readFileSync(scene.config, "utf8")).mcpServers;
    expect(shop.confirm).toEqual({ list_orders: "always", refund: "always" });
  });

  test("the tools that may destroy something are found by their effect, and denied together", async () => {
    await scene[Symbol.asyncDispose]();
    const tools = [
      { name: "read", annotations: { readOnlyHint: true } },
      { name: "drop", annotations: { destructiveHint: true } },
      { name: "write", annotations: { destructiveHint: false } },
      { name: "silent" },
    ];
    scene = await Scene.open({ shop: { entry: { command: "x" }, tools }, crm: { entry: { command: "y" }, tools } });
    await using opened = await open();
    const { page } = opened;
    await page.getByLabel("Effect").selectOption("May destroy");
    await page.getByText("2 of 8 tools").waitFor();
    expect(await page.locator(".tool-row .tool-name").allInnerTexts()).toEqual(["shop.drop", "crm.drop"]);
    expect(await page.locator(".mark.destroys").count()).toBe(2);
    await page.getByLabel("Choose all tools of the list").check();
    await page.getByRole("button", { name: "deny", exact: true }).click();
    await page.getByRole("button", { name: "Set 2 tools to deny" }).click();
    await page.getByText("Saved in the config: 2 tools set to deny").waitFor();
    const { mcpServers } = JSON.parse(readFileSync(scene.config, "utf8"));
    expect([mcpServers.shop.deny, mcpServers.crm.deny]).toEqual([["drop"], ["drop"]]);
  });

  test("the search has the order of agents, and a press on a tool shows its signature", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.keyboard.press("/");
    await page.keyboard.type("lists all orders");
    await page.getByText("An agent finds", { exact: true }).waitFor();
    await page.locator(".tool-row .cell-tool").first().click();
    await page.getByRole("region", { name: "shop.list_orders" }).getByText("shop.list_orders(").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".tool-detail").waitFor({ state: "detached" });
  });

  test("5,000 tools are drawn as far as they are seen", async () => {
    await scene[Symbol.asyncDispose]();
    const many = (server: number) => Array.from({ length: 500 }, (_, at) => ({ name: `do_${server}_${at}` }));
    const entries = Array.from({ length: 10 }, (_, at): [string, SceneServer] => {
      return [`server${at}`, { entry: { command: "x" }, tools: many(at) }];
    });
    scene = await Scene.open(Object.fromEntries(entries));
    await using opened = await open();
    const { page } = opened;
    await page.getByText("5,000 tools", { exact: true }).waitFor();
    expect(await page.locator(".tool-row").count()).toBeLessThan(100);
    await page.locator(".cell-tool").first().focus();
    await page.keyboard.press("End");
    await page.locator('[aria-posinset="5000"] .cell-tool:focus').waitFor();
  });

  test.each([390, 1280])(
    "in %i pixels, the forms of doors and rules fit, however long the name of a server is",
    async (width) => {
      await scene[Symbol.asyncDispose]();
      scene = await Scene.open({ shop, [`long-${"name-".repeat(40)}`]: shop });
      await using opened = await open({ viewport: { width, height: 900 } });
      const { page } = opened;
      for (const [tab, forms] of [
        ["Rules", ["Add a rule", "Label a tool", "Edit a tool"]],
        ["Doors", ["Add a door"]],
      ] as const) {
        await page.locator(".tabs").getByRole("button", { name: tab }).click();
        for (const form of forms) await page.getByText(form, { exact: true }).click();
        expect([tab, await page.evaluate(scrollWidth)]).toEqual([tab, width]);
        expect(await axeFindings(page)).toEqual([]);
      }
      await page.getByLabel("Name of the door").fill("qa");
      await page.getByRole("button", { name: "Add the door" }).click();
      const tools = page.getByRole("button", { name: "4 tools" });
      await tools.waitFor();
      // It is a link in the line, not a box like a field.
      expect((await tools.boundingBox())!.width).toBeLessThan(80);
    },
  );

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels, both views fit, are legible, and axe finds nothing",
    async (scheme, width) => {
      const name = `<b>${"long-name-".repeat(12)}\u202e</b>`;
      await scene[Symbol.asyncDispose]();
      scene = await Scene.open({ shop, hostile: { ...shop, tools: [{ name, description: name }] } });
      const call = { ...storedCall("c1", Date.now() - 1_000), server: "hostile", tool: name, agent: name, door: name };
      await inStore(scene.env, (store) => store.callLog.add([{ ...call, config: scene.config }]));
      const use = { calls: 1, failures: 1, durationMs: 5, resultChars: 9, takenChars: 8, argumentChars: 4 };
      await scene.count((counts) => counts.addUse("hostile", name, use));
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      const look = async (what: string) => {
        const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
        expect([what, ...found]).toEqual([what, width, [], []]);
        expect(await page.locator("main b").count()).toBe(0);
      };
      await look("tools");
      await page.getByText("\\u202e").first().click();
      await page.locator(".tool-detail .arguments").waitFor();
      await look("detail");
      await page.keyboard.press("6");
      for (const tab of ["Tools", "Agents", "Doors"]) {
        await page.locator("main").getByRole("button", { name: tab, exact: true }).click();
        await page.locator(".figure-table", { hasText: "\\u202e" }).waitFor();
        await look(tab);
      }
      expect(opened.said).toEqual([]);
    },
  );
});
