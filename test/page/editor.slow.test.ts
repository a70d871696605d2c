/** Try it in a real browser on a real daemon: the editor with completion and mistakes, runs, their results, and programs that are kept. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { claudikinsCommand } from "../support/command.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { builtInDemo } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { hasDrawn, isFocused, scrollWidth, tooFaint } from "./in-browser.js";

setDefaultTimeout(120_000);

/** A red square. */
const image =
  "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

interface Opened extends WatchedPage {
  code: Locator;
}

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

  /** The user's config, with the demo server and the given settings. */
  function configure(settings: object): void {
    folder.write("config/claudikins/claudikins.json", { mcpServers: { demo: builtInDemo() }, ...settings });
  }

  async function open(options: BrowserContextOptions = {}): Promise<Opened> {
    const { stdout, stderr } = await claudikins("ui", "--json");
    if (stdout === "") throw new Error(stderr);
    const opened = await openPage(browser, JSON.parse(stdout).url, { reducedMotion: "reduce", ...options });
    const { page, requests } = opened;
    page.setDefaultTimeout(30_000);
    await page.locator("main .panel").first().waitFor();
    expect(requests.filter((each) => each.endsWith("editor.js"))).toEqual([]);
    await page.keyboard.press("7");
    const code = page.getByRole("textbox", { name: "Code" });
    await code.waitFor();
    return { ...opened, code };
  }

  /** Puts code in the place of what is there, as a paste does. */
  async function write(text: string, { page, code }: Opened): Promise<void> {
    await code.focus();
    await page.keyboard.press("ControlOrMeta+a");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
  }

  const result = (page: Page) => page.getByRole("region", { name: /^(?:Result|Dry run)$/ });

  test("a program is written with completion and run, by the keyboard alone, and nothing is loaded from elsewhere", async () => {
    await using opened = await open();
    const { page, code } = opened;
    const choose = async (name: string) => {
      await page.locator("li[aria-selected]", { hasText: name }).waitFor();
      // CodeMirror ignores keys that come at once, because they may have been meant for the text.
      await Bun.sleep(150);
      await page.keyboard.press("Enter");
    };
    await code.focus();
    await page.keyboard.type("const { orders } = await dem");
    await choose("demo");
    await page.keyboard.type(".list_ord");
    await page.getByText("Lists the shop's orders").waitFor();
    await choose("list_orders");
    await page.keyboard.type("stat");
    await choose("status");
    await page.keyboard.type('"pai');
    await choose('"paid"');
    expect(await code.innerText()).toBe('const { orders } = await demo.list_orders({ status: "paid" })');
    // The page does not take a digit in the editor for a command.
    await page.keyboard.press("End");
    await page.keyboard.type(";\nreturn orders.slice(0, 1)");
    const observed = page.waitForResponse(async (answer) => {
      return answer.url().endsWith("api/editor/tools") && (await answer.text()).includes("total_cents");
    });
    await page.keyboard.press("Control+Enter");
    await result(page).getByText('"total_cents"').waitFor();
    // The first run shows the shape of the result.
    await observed;
    await page.keyboard.press("End");
    await page.keyboard.type("[0].");
    await page.keyboard.type("coun");
    await choose("country");
    await page.keyboard.press("Control+Enter");
    await result(page)
      .getByText(/^"[A-Z]{2}"$/)
      .waitFor();
    // Tab belongs to the editor until Escape is pressed.
    await page.keyboard.press("Tab");
    expect(await code.evaluate(isFocused)).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Tab");
    expect(await code.evaluate(isFocused)).toBe(false);
    const { origin } = new URL(page.url());
    expect(opened.requests.filter((each) => !each.startsWith(origin))).toEqual([]);
    expect(opened.said).toEqual([]);
  });

  test("mistakes are shown while the code is written, and a press leads to their line", async () => {
    await using opened = await open();
    const { page, code } = opened;
    await write(
      `// Orders\nconst found = await demo.list_orders({ status: "sold" });\nawait demo.refnd_order();`,
      opened,
    );
    const mistakes = page.locator(".mistakes p");
    await mistakes.filter({ hasText: 'demo has no tool "refnd_order". Did you mean refund_order?' }).waitFor();
    await mistakes.filter({ hasText: '"status" must be one of "pending", "paid"' }).waitFor();
    await page.getByRole("button", { name: "Line 3" }).click();
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+End");
    await page.keyboard.press("Delete");
    await page.getByRole("button", { name: "Line 3" }).waitFor({ state: "detached" });
    expect(await mistakes.count()).toBe(1);
    // Refused code leads to its line as well.
    await code.press("Control+Enter");
    await result(page)
      .getByText(/"status" must be one of/)
      .waitFor();
    await result(page).getByRole("button", { name: "Go to line 2" }).click();
    await page.keyboard.press("Shift+End");
    await page.keyboard.type("1;");
    expect(await code.innerText()).toContain("demo.list_orders({ status: 1;");
    expect(opened.said).toEqual([]);
  });

  test("shows images, texts, logs and calls, stops what runs, and makes a dry run that calls nothing", async () => {
    await using opened = await open();
    const { page } = opened;
    await write(
      `display({ type: "image", mimeType: "image/png", data: "${image}" });
display({ type: "image", mimeType: "image/svg+xml", data: "PHN2Zy8+" });
display("First\\nSecond");
console.warn("careful");
const { orders } = await demo.list_orders({ limit: 2 });
throw new Error("none of " + orders.length);`,
      opened,
    );
    await page.keyboard.press("Control+Enter");
    await result(page).getByText("Error: none of 2").waitFor();
    await result(page).getByText("First\nSecond").waitFor();
    expect(await result(page).locator("img").evaluateAll(hasDrawn)).toEqual([true]);
    await result(page).getByText("A file: image/svg+xml, 6 bytes").waitFor();
    await result(page).getByRole("list", { name: "Logs" }).getByText("careful").waitFor();
    await result(page).locator(".call-list").getByText("demo.list_orders").first().waitFor();
    await write(`await sleep("1h");`, opened);
    await page.keyboard.press("Control+Enter");
    await result(page).getByRole("button", { name: "Stop" }).click();
    await result(page).getByText("cancelled", { exact: true }).waitFor();
    expect(await opened.code.evaluate(isFocused)).toBe(true);
    await write('await demo.update_order_status({ order_id: "ord_00001", status: "shipped" });', opened);
    await page.keyboard.press("Control+Shift+Enter");
    await page.getByRole("heading", { name: "Dry run" }).waitFor();
    await result(page).getByText("Would have called").waitFor();
    await result(page).getByText("would be called").waitFor();
    const history = page.getByRole("region", { name: "History" }).getByRole("button");
    expect(await history.count()).toBe(3);
    await history.last().click();
    await page.getByText("Opened its code in the editor").waitFor();
    await result(page).getByText("Error: none of 2").waitFor();
    expect(await opened.code.innerText()).toContain("First");
    await page.getByRole("button", { name: "Undo" }).click();
    await opened.code.filter({ hasText: "update_order_status" }).waitFor();
    expect(opened.said).toEqual([]);
  });

  test("any past execution is opened in the editor, and becomes a program with an input", async () => {
    configure({});
    const code = 'return (await demo.list_orders({ status: "paid", limit: 3 })).orders.length;';
    await claudikins("exec", "--detach", "-e", code);
    await using opened = await open();
    const { page } = opened;
    await page.keyboard.press("2");
    await page.locator(".activity-row").first().click();
    await page.getByRole("button", { name: "Open in the editor" }).click();
    await opened.code.waitFor();
    expect(await opened.code.innerText()).toBe(code);
    const keep = page.getByRole("button", { name: "Keep as program" });
    await keep.waitFor();
    // The run that is shown can no longer be kept while the next one is started: its dialog would close by itself.
    const started = Promise.withResolvers<void>();
    await page.route("**/api/editor/run", async (route) => {
      await started.promise;
      await route.continue();
    });
    await opened.code.press("Control+Enter");
    await keep.waitFor({ state: "hidden" });
    started.resolve();
    await keep.click();
    await page.getByLabel("Name", { exact: false }).first().fill("few-orders");
    await page.getByLabel("Name of input 1").fill("state");
    await page.getByLabel("Value of input 1").fill("paid");
    await page.getByRole("button", { name: "Show what will be saved" }).click();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // Its form, its schedules, its tests and its events are there.
    const program = page.getByRole("region", { name: "few-orders" });
    await program.getByLabel("state", { exact: false }).first().waitFor();
    await program.getByRole("heading", { name: "Tests" }).waitFor();
    expect(opened.said).toEqual([]);
  });

  test("a run that waits for approval leads to the question, and a door narrows what code can name", async () => {
    configure({ policy: { confirm: "always" }, doors: { few: { servers: [] } } });
    await using opened = await open();
    const { page } = opened;
    await write("return (await demo.list_orders({ limit: 1 })).orders.length;", opened);
    await page.keyboard.press("Control+Enter");
    await result(page).getByText("waits for your approval").waitFor();
    await result(page).getByRole("button", { name: "Decide" }).click();
    await page.getByText("claudikins ui").first().waitFor();
    await page.getByRole("button", { name: /^Approve once/ }).click();
    await page.keyboard.press("7");
    // The code and the run are still there.
    await result(page).getByText(/^1$/).waitFor();
    await page.getByLabel("Door").selectOption("few");
    await opened.code.press("Control+Enter");
    await result(page).getByText(/demo/).first().waitFor();
    await result(page).getByText("failed").waitFor();
    expect(opened.said).toEqual([]);
  });

  test("fits and is legible in both schemes at 390, 1280 and 2560 pixels, with a list open, and axe finds nothing", async () => {
    const name = `<b>${"long-name-".repeat(12)}\u202e</b>`;
    configure({ mcpServers: { demo: builtInDemo(), hostile: { command: "x", description: name } } });
    await using opened = await open();
    const { page } = opened;
    await write(`console.log("${"long".repeat(80)}");\nreturn demo.nothing;`, opened);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "History" }).getByRole("button").first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [390, 1280, 2560]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await page.setViewportSize({ width, height: 900 });
        await write(`await demo.refnd();\nawait host`, opened);
        await page.locator(".mistakes p").first().waitFor();
        await page.keyboard.press("Control+Space");
        await page.locator("li[role=option]").first().waitFor();
        const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
        expect([colorScheme, width, ...found]).toEqual([colorScheme, width, width, [], []]);
        await page.keyboard.press("Escape");
      }
    }
    expect(await page.locator("main b").count()).toBe(0);
  });
});
