/** The place in a real browser: Back, Forward, a reload, and where another view begins. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { scrolled } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`the place in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({
      shop: { entry: { command: "x" }, tools: [{ name: "refund" }] },
      mail: { entry: { command: "y" }, tools: Array.from({ length: 60 }, (_, at) => ({ name: `send_${at}` })) },
    });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(width = 1280): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", viewport: { width, height: 800 } });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main").waitFor();
    return opened;
  }
  const view = (page: Page, name: string) => page.getByRole("navigation").getByRole("button", { name });
  const current = (page: Page) => page.locator("nav [aria-current]").innerText();
  const heading = (page: Page, id: string, name: string) => page.locator(`#${id}`).getByText(name).waitFor();

  test("is left by Back to where the user came from, which never leaves the page before its first place", async () => {
    const id = await scene.record();
    await using opened = await open();
    const { page, said } = opened;
    await page.locator(".latest .row").click();
    await page.locator(".detail").waitFor();
    await view(page, "Servers").click();
    await page.locator(".row", { hasText: "mail" }).click();
    await heading(page, "server", "mail");
    await page.locator(".row", { hasText: "shop" }).click();
    await heading(page, "server", "shop");
    await page.goBack();
    await heading(page, "server", "mail");
    await page.goBack();
    await page.goBack();
    await page
      .locator(".detail")
      .getByRole("button", { name: id.slice(-6) })
      .waitFor();
    await page.goBack();
    expect(await current(page)).toStartWith("Now");
    await page.goForward();
    await page.locator(".detail").waitFor();
    expect(said).toEqual([]);
  });

  test("keeps its messages: a failure until the user goes elsewhere, and a success for some seconds", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.clock.install();
    await view(page, "Servers").click();
    await page.locator(".row", { hasText: "mail" }).click();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.locator(".notice.failure").waitFor();
    await page.clock.fastForward(60_000);
    expect(await page.locator(".notice.failure").count()).toBe(1);
    await page.locator(".row", { hasText: "shop" }).click();
    await page.locator(".notice.failure").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Disable", exact: true }).click();
    await page.locator(".notice").waitFor();
    await page.clock.fastForward(5_000);
    expect(await page.locator(".notice").innerText()).toContain("Disabled shop");
    await page.clock.fastForward(5_000);
    await page.locator(".notice").waitFor({ state: "detached" });
  });

  test("is the same after a reload", async () => {
    await using opened = await open();
    const { page } = opened;
    await view(page, "Servers").click();
    await page.locator(".row", { hasText: "mail" }).click();
    await heading(page, "server", "mail");
    await page.reload();
    await heading(page, "server", "mail");
    await page.goBack();
    await page.goBack();
    expect(await current(page)).toStartWith("Now");
  });

  test("is seen from its top, however far another view was scrolled, and Back leads to the part that was seen", async () => {
    await scene.ask({ server: "shop", tool: "refund" });
    await using opened = await open(390);
    const { page } = opened;
    await view(page, "Servers").click();
    await page.locator(".row", { hasText: "mail" }).click();
    await page.getByText("send_59").scrollIntoViewIfNeeded();
    const place = await page.evaluate(scrolled);
    expect(place).toBeGreaterThan(1_000);
    await view(page, "Now").click();
    await page.getByRole("button", { name: "Approve once" }).waitFor();
    expect(await page.evaluate(scrolled)).toBe(0);
    await page.goBack();
    await page.getByText("send_59").waitFor();
    await page.waitForFunction(`window.scrollY === ${place}`);
    expect(await current(page)).toStartWith("Servers");
  });
});
