/** The call log on the page: who called what, with filters, in a real browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { StoredCall } from "../../src/store/call-log.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { inStore } from "../support/stored.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`the call log in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    const shop = { entry: { command: "shop-mcp" }, tools: [{ name: "refund" }] };
    scene = await Scene.open({ shop, crm: { ...shop, entry: { command: "crm-mcp" } } });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function log(...calls: Partial<StoredCall>[]): Promise<void> {
    const now = Date.now();
    const all = calls.map((each, place) => ({
      ...storedCall(`c${String(place).padStart(5, "0")}`, now - 60_000 + place),
      config: scene.config,
      ...each,
    }));
    await inStore(scene.env, (store) => store.callLog.add(all));
  }

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("2");
    await opened.page.getByRole("button", { name: "Calls", exact: true }).click();
    return opened;
  }

  const rows = (page: Page) => page.locator(".call-table tbody tr");
  const tools = async (page: Page) => page.locator(".call-table tbody th").allInnerTexts();
  const becomes = async (read: () => Promise<unknown>, wanted: unknown) => {
    for (const deadline = performance.now() + 15_000; performance.now() < deadline; await Bun.sleep(30)) {
      if (Bun.deepEquals(await read(), wanted)) return;
    }
    expect(await read()).toEqual(wanted);
  };

  const some: Partial<StoredCall>[] = [
    { server: "shop", tool: "refund", agent: "codex 1", outcome: "denied", code: "POLICY_DENIED", approval: "denied" },
    { server: "crm", tool: "find", agent: null, startedBy: "exec", at: Date.now() - 3 * 86_400_000 },
    {
      server: "shop",
      tool: "list",
      person: "0123456789abcdef",
      personName: "Ann",
      outcome: "failed",
      code: "CALL_TIMEOUT",
    },
  ];

  test("says what was called, how it ended, for whom, by whom, how long it took and when, newest first", async () => {
    await log(...some);
    await inStore(scene.env, (store) =>
      store.callLog.add([{ ...storedCall("other", Date.now()), config: "/elsewhere" }]),
    );
    await using opened = await open();
    const { page } = opened;
    await becomes(() => tools(page), ["shop.list", "shop.refund", "crm.find"]);
    expect(await rows(page).first().innerText()).toMatch(/^shop\.list\s+failed\s+CALL_TIMEOUT\s+Ann\s/);
    expect(await rows(page).nth(1).innerText()).toMatch(/^shop\.refund\s+denied\s+codex 1/);
    expect(await rows(page).nth(2).innerText()).toMatch(/3 days ago|72 h ago/);
  });

  test("is filtered by tool, person, outcome, time and server", async () => {
    await log(...some);
    await using opened = await open();
    const { page } = opened;
    const all = ["shop.list", "shop.refund", "crm.find"];
    await becomes(() => tools(page), all);
    const narrowed = async (change: () => Promise<unknown>, wanted: string[]) => {
      await change();
      await becomes(() => tools(page), wanted);
      await page.getByRole("button", { name: "Clear" }).click();
      await becomes(() => tools(page), all);
    };
    await narrowed(() => page.getByLabel("Tool", { exact: true }).fill("shop.refund"), ["shop.refund"]);
    await narrowed(() => page.getByLabel("Person or token").fill("Ann"), ["shop.list"]);
    await narrowed(() => page.getByLabel("Outcome").selectOption("failed"), ["shop.list"]);
    await narrowed(() => page.getByLabel("Outcome").selectOption("denied"), ["shop.refund"]);
    await narrowed(() => page.getByLabel("Outcome").selectOption("ok"), ["crm.find"]);
    await narrowed(() => page.getByLabel("Time").selectOption("24"), ["shop.list", "shop.refund"]);
    const threeDaysAgo = new Date(Date.now() - 3 * 86_400_000);
    const day = [threeDaysAgo.getFullYear(), threeDaysAgo.getMonth() + 1, threeDaysAgo.getDate()]
      .map((part) => String(part).padStart(2, "0"))
      .join("-");
    await narrowed(() => page.getByLabel("Day").fill(day), ["crm.find"]);
    await narrowed(() => page.getByLabel("Server", { exact: true }).selectOption("crm"), ["crm.find"]);
    // The filters stay while the page is open.
    await page.getByLabel("Outcome").selectOption("denied");
    await page.keyboard.press("1");
    await page.keyboard.press("2");
    await becomes(() => tools(page), ["shop.refund"]);
    expect(await page.getByLabel("Outcome").inputValue()).toBe("denied");
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByLabel("Tool", { exact: true }).fill("no.such");
    await page.getByText("No call fits these filters.").waitFor();
  });

  test("is narrowed to one tool by a press on the tool in the figures, and Back leads to the figures", async () => {
    await log(...some);
    const use = { calls: 4, failures: 1, durationMs: 5, resultChars: 9, takenChars: 8, argumentChars: 4 };
    await scene.count((counts) => counts.addUse("shop", "refund", use));
    await using opened = await open();
    const { page } = opened;
    await page.keyboard.press("6");
    await page.getByRole("button", { name: "shop.refund" }).click();
    await becomes(() => tools(page), ["shop.refund"]);
    expect(await page.getByLabel("Tool", { exact: true }).inputValue()).toBe("shop.refund");
    await page.goBack();
    await page.getByRole("heading", { name: "Figures" }).waitFor();
  });

  test("and the figures without any agent count the executions from a shell, and the chart has the calls", async () => {
    const use = { calls: 4, failures: 1, durationMs: 5, resultChars: 0, takenChars: 0, argumentChars: 0 };
    await scene.count((counts) => {
      counts.addUse("shop", "refund", use);
      counts.addSums({ shellExecutions: 27 });
    });
    await using opened = await open();
    const { page } = opened;
    await page.keyboard.press("6");
    const figure = page.locator(".figures > div", { hasText: "Executions" });
    await figure.getByText("0 of agents, 27 from a shell").waitFor();
    expect(await figure.locator("strong").innerText()).toBe("27");
    expect(await page.locator(".chart [aria-pressed=true]").innerText()).toBe("Calls");
  });

  test("is read in pages, and leads to the execution of a call", async () => {
    const id = await scene.record({ comment: "Refunds an order", agent: "codex 1" });
    await log(...Array.from({ length: 250 }, (_, place) => ({ tool: `t${place}`, execution: id, call: place })));
    await using opened = await open();
    const { page } = opened;
    for (const count of [100, 200, 250]) {
      await becomes(() => rows(page).count(), count);
      if (count < 250) await page.getByRole("button", { name: "Show more" }).click();
    }
    expect(await page.getByRole("button", { name: "Show more" }).count()).toBe(0);
    expect(new Set(await tools(page)).size).toBe(250);
    await rows(page).first().getByRole("button").click();
    await page.getByRole("region", { name: "Refunds an order" }).waitFor();
    expect(opened.said).toEqual([]);
  });

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels fits, has enough contrast, and axe finds nothing",
    async (scheme, width) => {
      const name = `<b>${"long-name-".repeat(12)}\u202e</b>`;
      await log(...some, { server: name, tool: name, agent: name, personName: name });
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      await becomes(() => rows(page).count(), 4);
      expect(await rows(page).first().innerText()).toContain("\\u202e");
      const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
      expect(found).toEqual([width, [], []]);
    },
  );
});
