/** Try it in a real browser on a real daemon: the editor with completion and mistakes, runs, their results, and programs that are kept. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { claudikinsCommand } from "../support/command.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";

setDefaultTimeout(90_000);

describe.skipIf(chromiumPath === undefined)(`Try it in Chromium${browserNote}`, () => {
  let browser: Browser;
  let folder: TemporaryFolder;
  let env: Record<string, string>;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    folder = temporaryFolder();
    const runtime = join(folder.path, "runtime");
    mkdirSync(runtime, { mode: 0o700 });
    env = testEnvironment({
      HOME: join(folder.path, "home"),
      XDG_RUNTIME_DIR: runtime,
      XDG_DATA_HOME: join(folder.path, "data"),
      XDG_CONFIG_HOME: join(folder.path, "config"),
      CLAUDIKINS_DAEMON: "on",
    });
    mkdirSync(join(folder.path, "home"), { recursive: true });
  });
  afterEach(async () => {
    await claudikins("daemon", "stop", "--all", "--now");
    const left = await processesLeft(folder.path);
    for (const pid of left) process.kill(pid, "SIGKILL");
    folder[Symbol.dispose]();
    expect(left).toEqual([]);
  });

  const claudikins = (...args: string[]) =>
    runProgram([...claudikinsCommand, ...args], { cwd: join(folder.path, "home"), env });

  interface Opened extends WatchedPage {
    code: Locator;
  }

  /** The view of a home without a config, which has the demo server. */
  async function open(options: BrowserContextOptions = {}): Promise<Opened> {
    await claudikins("list");
    const { stdout, stderr } = await claudikins("ui", "--json");
    if (stdout === "") throw new Error(stderr);
    const opened = await openPage(browser, JSON.parse(stdout).url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(20_000);
    await opened.page.locator("main .panel").first().waitFor();
    expect(opened.requests.some((each) => each.endsWith("editor.js"))).toBe(false);
    await opened.page.keyboard.press("7");
    const code = opened.page.getByRole("textbox", { name: "Code" });
    await code.waitFor();
    return { ...opened, code };
  }

  test("a program is written with completion, and run, by the keyboard alone", async () => {
    await using opened = await open();
    const { page, code } = opened;
    await code.focus();
    await page.keyboard.type("const { orders } = await dem");
    await page.getByRole("option", { name: "demo" }).waitFor();
    await page.screenshot({ path: "/tmp/e1.png" });
    await page.keyboard.press("Enter");
    await page.keyboard.type(".list_or");
    await page.getByRole("option", { name: "list_orders" }).waitFor();
    await page.screenshot({ path: "/tmp/e2.png" });
    await page.keyboard.press("Tab");
    await page.getByRole("option", { name: "status" }).waitFor();
    await page.screenshot({ path: "/tmp/e3.png" });
    await page.keyboard.type("sta");
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: '"paid"' }).waitFor();
    await page.screenshot({ path: "/tmp/e4.png" });
    await page.keyboard.type('"pai');
    await page.keyboard.press("Enter");
    expect(await code.innerText()).toBe('const { orders } = await demo.list_orders({ status: "paid" })');
    await page.keyboard.press("End");
    await page.keyboard.type(";\nreturn orders[0].");
    await page.getByRole("option", { name: "total_cents" }).waitFor();
    await page.screenshot({ path: "/tmp/e5.png" });
    await page.keyboard.type("cou");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Control+Enter");
    await page.getByText("done").waitFor();
    await page.screenshot({ path: "/tmp/e6.png" });
    expect(opened.said).toEqual([]);
  });
});
