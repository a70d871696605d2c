/** The page's messages in a real browser: how long they stay, what they leave free, and how a change is undone when they have gone. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { pressable } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`messages in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    const tools = Array.from({ length: 40 }, (_, at) => ({ name: `send_${at}` }));
    scene = await Scene.open({ mail: { entry: { command: "y" }, tools } });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  /** Opens the tools, and sets one to deny. */
  async function changed(
    width = 1280,
    before: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", viewport: { width, height: 800 } });
    const { page } = opened;
    page.setDefaultTimeout(15_000);
    await page.locator("main .panel").first().waitFor();
    await page.keyboard.press("5");
    await page.locator(".tool-row").first().waitFor();
    await before(page);
    await page.getByLabel("State of mail.send_0", { exact: true }).selectOption("deny");
    await notice(page).getByText("Saved in the config: mail.send_0 is denied").waitFor();
    return opened;
  }
  const notice = (page: Page) => page.locator(".notice");
  const view = (page: Page, name: string) => page.getByRole("navigation").getByRole("button", { name });

  for (const width of [1280, 390]) {
    test(`cover no button and no field that was free before, and break no button, ${width} pixels wide`, async () => {
      await using opened = await changed(width, (page) => page.evaluate(pressable));
      const { page } = opened;
      const { seen, covered } = (await page.evaluate(pressable)) as ReturnType<typeof pressable>;
      expect(seen).toBeGreaterThan(8);
      expect(covered).toEqual([]);
      const line = await page.evaluate("parseFloat(getComputedStyle(document.body).fontSize) * 3");
      const box = await notice(page).getByRole("button", { name: "Undo" }).boundingBox();
      expect(box!.height).toBeLessThan(Number(line));
      expect(await axeFindings(page)).toEqual([]);
    });
  }

  test("leave when the person goes to another view", async () => {
    await using opened = await changed();
    const { page } = opened;
    await Bun.sleep(600);
    await view(page, "Servers").click();
    await notice(page).waitFor({ state: "detached", timeout: 2_000 });
  });

  test("leave after some seconds, unless the pointer is on them, and U still undoes the change", async () => {
    const before = readFileSync(scene.config, "utf8");
    await using opened = await changed(1280, (page) => page.clock.install());
    const { page } = opened;
    await notice(page).hover();
    await page.clock.fastForward(20_000);
    expect(await notice(page).count()).toBe(1);
    await page.mouse.move(5, 500);
    await page.clock.fastForward(1_000);
    await page.clock.fastForward(1_000);
    await notice(page).waitFor({ state: "detached" });
    expect(readFileSync(scene.config, "utf8")).not.toBe(before);
    await page.keyboard.press("1");
    await page.keyboard.press("u");
    await notice(page).getByText('Undone: "mail.send_0 is denied"').waitFor();
    expect(readFileSync(scene.config, "utf8")).toBe(before);
    await page.clock.fastForward(9_000);
    await notice(page).waitFor({ state: "detached" });
    // It is undone once.
    await page.keyboard.press("u");
    expect(await notice(page).count()).toBe(0);
  });

  test("a change without an Undo ends the Undo of an earlier one, and U says so", async () => {
    await scene.ask({ server: "mail", tool: "send_1" });
    await using opened = await changed();
    const { page } = opened;
    const denied = readFileSync(scene.config, "utf8");
    expect(await page.getByRole("button", { name: "Undo" }).getAttribute("title")).toBe(
      "Takes back: mail.send_0 is denied",
    );
    await Bun.sleep(600);
    await view(page, "Now").click();
    await notice(page).waitFor({ state: "detached" });
    // A button that has just moved asks for another press.
    await Bun.sleep(1_500);
    await page.getByRole("button", { name: /^Deny/ }).first().click();
    await notice(page).getByText("Denied: mail.send_1").waitFor();
    await page.keyboard.press("u");
    await notice(page).getByText("The last change has no Undo").waitFor();
    expect(await notice(page).innerText()).toContain("Denied: mail.send_1");
    expect(readFileSync(scene.config, "utf8")).toBe(denied);
  });

  test("about a failure stay until it could be read", async () => {
    await using opened = await openPage(browser, scene.url, { reducedMotion: "reduce" });
    const { page } = opened;
    page.setDefaultTimeout(15_000);
    await page.clock.install();
    await view(page, "Servers").click();
    await page.locator(".row", { hasText: "mail" }).click();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.locator(".notice.failure").waitFor();
    await view(page, "Figures").click();
    await page.locator(".view.figures").waitFor();
    expect(await page.locator(".notice.failure").count()).toBe(1);
    await page.clock.fastForward(60_000);
    expect(await page.locator(".notice.failure").count()).toBe(1);
    await view(page, "Servers").click();
    await page.locator(".notice.failure").waitFor({ state: "detached" });
  });

  test("about a config that is not used have their hint on a line of its own", async () => {
    await using opened = await openPage(browser, scene.url, { reducedMotion: "reduce" });
    const { page } = opened;
    page.setDefaultTimeout(15_000);
    await page.locator("main .panel").first().waitFor();
    writeFileSync(scene.config, '{ "mcpServer": {}, "record": "everything" }');
    await page.reload();
    const banner = page.locator("main > .warning");
    await banner.getByText("The changed config is not used").waitFor();
    const text = await banner.innerText();
    expect(text).not.toContain("u000a");
    expect(text).toMatch(/\n.*Hint: /);
  });
});
