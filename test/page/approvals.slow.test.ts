/** Approvals in a real browser: the facts, the tree of arguments, the rule, the reason, links and notifications. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { allHostile, obeyed } from "../support/hostile-text.ts";
import { isHacked, scrollWidth, shownKeys } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`approvals in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({
      shop: { entry: { command: "x", confirm: "always" }, tools: [{ name: "refund" }] },
    });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(url = scene.url, width = 1280): Promise<WatchedPage> {
    const opened = await openPage(browser, url, { reducedMotion: "reduce", viewport: { width, height: 800 } });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main").waitFor();
    return opened;
  }
  const ask = (changes: Parameters<Scene["ask"]>[0] = {}) => scene.ask({ server: "shop", tool: "refund", ...changes });
  const card = (page: Page) => page.locator(".approval").first();
  const notice = (page: Page) => page.locator(".notice p").innerText();

  test("say who asks, what was read before, and what differs from the last approved call", async () => {
    const earlier = await ask({ args: { order: 7, amount: 20 }, door: "qa" });
    await scene.approvals.decide(earlier, { state: "approved", scope: "once", by: "page" });
    await scene.keep("e1", "return 1;", {
      isForAgent: true,
      host: { name: "codex", version: "0.63" },
      cwd: join(scene.folder.path, "work"),
      program: { name: "refunds" },
    });
    await scene.read("e1", [
      { label: "private", source: "mail.read" },
      { label: "untrusted", source: "github.get_issue" },
    ]);
    await ask({ args: { order: 8, amount: 20, note: "<b>now</b>" }, call: 2, door: "qa" });
    await using opened = await open();
    const { page } = opened;
    await card(page).locator(".read-before").waitFor();
    expect(await card(page).locator(".card-title").innerText()).toBe("refunds");
    expect((await card(page).locator(".asker").innerText()).split("\n").filter(Boolean)).toEqual([
      "codex 0.63",
      "in ~/work",
      "door qa",
      "execution e1",
    ]);
    const read = await card(page).locator(".read-before").innerText();
    expect(read).toStartWith("It has read private data, and texts of strangers");
    expect(read).toContain("mail.read");
    const differences = await card(page).locator(".differences dl").innerText();
    expect(differences.split("\n").filter(Boolean)).toEqual(["order", "7", "8", "note new", '"<b>now</b>"']);
    expect(await axeFindings(page)).toEqual([]);
    expect(opened.said).toEqual([]);
  });

  test("are denied with a reason, which the page and the row keep", async () => {
    const id = await ask();
    await using opened = await open();
    const { page } = opened;
    await card(page).getByRole("button", { name: "Deny because" }).click();
    await card(page).getByLabel("Reason").fill("  only after <QA>  ");
    // A letter in the field decides nothing.
    await card(page).getByLabel("Reason").press("a");
    await card(page).getByLabel("Reason").press("Enter");
    await card(page).waitFor({ state: "detached" });
    expect((await scene.rows(id))[0]).toMatchObject({ state: "denied", reason: "only after <QA> a" });
    expect(await page.locator(".decided").textContent()).toContain("only after <QA> a");
  });

  test("take letters for the reason, and never for a decision, from the moment at which its form opens", async () => {
    const id = await ask();
    await using opened = await open();
    const { page } = opened;
    const because = card(page).getByRole("button", { name: "Deny because" });
    await because.click();
    await card(page).getByLabel("Reason").waitFor();
    await page.keyboard.type("please ask dad");
    expect(await card(page).getByLabel("Reason").inputValue()).toBe("please ask dad");
    // The letters of a person who has left the field do nothing, until the form is closed.
    await because.focus();
    await page.keyboard.type("pads");
    expect((await scene.rows(id))[0]).toMatchObject({ state: "open" });
    await because.click();
    await because.press("d");
    await card(page).waitFor({ state: "detached" });
    expect((await scene.rows(id))[0]).toMatchObject({ state: "denied", reason: null });
  });

  test("are approved for ever with a rule that is shown first", async () => {
    const id = await ask();
    await using opened = await open();
    const { page } = opened;
    await card(page).getByRole("button", { name: "Always" }).click();
    const rule = card(page).getByRole("region", { name: "The rule" });
    expect(await rule.locator(".diff").innerText()).toContain('+ {"*":"always","refund":"never"}');
    expect(readFileSync(scene.config, "utf8")).not.toContain("never");
    await rule.getByRole("button", { name: "Approve, and write the rule" }).click();
    await card(page).waitFor({ state: "detached" });
    expect((await scene.rows(id))[0]).toMatchObject({ state: "approved", scope: "once" });
    expect(JSON.parse(readFileSync(scene.config, "utf8")).mcpServers.shop.confirm.refund).toBe("never");
    expect(await notice(page)).toBe("Approved, and the rule is written: shop.refund");
    expect(await page.locator(".decided").textContent()).toContain("approved always, by a rule");
  });

  test("have no button for a rule if the config is another one, and none for a program if the call has none", async () => {
    await ask({ config: "/other/claudikins.json", line: null, code: null });
    await using opened = await open();
    const { page } = opened;
    await card(page).getByRole("button", { name: "Approve once" }).waitFor();
    expect(await card(page).getByRole("button", { name: "Always" }).count()).toBe(0);
    expect(await card(page).getByRole("button", { name: "Allow for this program" }).count()).toBe(0);
  });

  test("have arguments as a tree that is searched, with every digit, and nothing in it is markup", async () => {
    const html = `<img src=x onerror="window.hacked=1">${allHostile}`;
    await ask({
      args: {
        [html]: html,
        mail: { text: `first line\nYou are asked because nothing. ${"long ".repeat(60)}the end`, to: ["a@b", "c@d"] },
        rows: Array.from({ length: 250 }, (_, at) => ({ at, name: `row ${at}` })),
        empty: [],
      },
    });
    await using opened = await open();
    const { page } = opened;
    const tree = card(page).locator(".json-tree");
    await tree.waitFor();
    expect(await tree.locator(".long-text").last().innerText()).toEndWith("the end");
    expect(await tree.innerText()).toContain("a@b");
    expect(await tree.getByText("row 249").count()).toBe(0);
    await tree.getByRole("searchbox").fill("row 249");
    expect(await tree.getByRole("status").innerText()).toMatch(/^1 of \d+ values$/);
    expect(await tree.locator("mark").innerText()).toBe("row 249");
    await tree.getByRole("searchbox").fill("");
    await tree.getByRole("button", { name: "Show 150 more values" }).click();
    await tree.getByText('"row 249"').waitFor();
    const text = (await page.locator("body").textContent()) ?? "";
    expect(obeyed(text)).toEqual([]);
    expect([await page.locator("img").count(), await page.evaluate(isHacked)]).toEqual([0, false]);
    await card(page).getByRole("button", { name: "Text", exact: true }).click();
    expect(await card(page).locator(".arguments").textContent()).toContain('"name": "row 249"');
    expect(opened.said).toEqual([]);
  });

  test("show their keys in the focused card alone, and say how much is below the end of the arguments", async () => {
    await ask({ args: { order: 7 } });
    await ask({ args: { lines: Array.from({ length: 90 }, (_, at) => at) }, call: 2 });
    await using opened = await open();
    const { page } = opened;
    const hints = () => page.locator(".approval").evaluateAll(shownKeys);
    const long = page.locator(".approval", { hasText: "lines" });
    await long.getByText(/^About \d+ more lines below: scroll the box\.$/).waitFor();
    expect(await hints()).toEqual([4, 0]);
    await page.locator(".approval").last().focus();
    expect(await hints()).toEqual([0, 4]);
    expect(await axeFindings(page)).toEqual([]);
    await long.locator(".arguments").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await long.getByText("scroll the box").waitFor({ state: "detached" });
  });

  test("keep numbers as they were written", async () => {
    await using opened = await open();
    const { page } = opened;
    // The row is written as text, as a program's call with such a number is.
    await scene.approvals.ask({
      ...(await import("../store/approvals.ts")).asking({
        config: scene.config,
        server: "shop",
        tool: "refund",
        askedAt: Date.now(),
        expiresAt: Date.now() + 60_000,
      }),
      args: `{"id":12345678901234567890,"text":"${"x".repeat(600)}"}`,
    });
    await card(page).locator(".json-tree").waitFor();
    expect(await card(page).locator(".leaf").first().innerText()).toBe("12345678901234567890");
  });

  test("are opened by a link, which also survives a reload, and the page says if one no longer waits", async () => {
    for (let call = 1; call < 8; call += 1) await ask({ call });
    const wanted = await ask({ call: 8, execution: "e8" });
    await using opened = await open();
    const { page } = opened;
    const base = page.url();
    await page.goto(`${base}?approval=${wanted}`);
    const focused = () => page.evaluate("document.activeElement.dataset.item");
    await eventually(async () => (await focused()) === wanted);
    expect(page.url()).toBe(`${base}#approval=${wanted}`);
    await page.reload();
    await eventually(async () => (await focused()) === wanted);
    await scene.approvals.decide(wanted, { state: "denied", by: "command" });
    await page.reload();
    await page.getByText("The call of shop.refund was denied already").waitFor();
    await page.goto(`${base}#approval=zzzzzzzz`);
    await page.getByText("This approval does not exist").waitFor();
  });

  test("are announced by the system if the user wants it, with the name of the tool alone, and lead to the call", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.context().grantPermissions(["notifications"]);
    await page.evaluate(`
      window.shown = [];
      window.Notification = class { static permission = "granted"; static requestPermission = async () => "granted";
        constructor(title, options) { this.options = options; window.shown.push(this); } close() {} };
      document.hasFocus = () => false;`);
    await ask({ call: 1 });
    await card(page).waitFor();
    expect(await page.evaluate("window.shown.length")).toBe(0);
    await page.getByLabel("Notify me of new ones").check();
    const id = await ask({ call: 2, args: { secret: "hunter2" } });
    await eventually(async () => (await page.evaluate("window.shown.length")) === 1);
    expect(await page.evaluate("window.shown[0].options")).toEqual({ body: "shop.refund", tag: id });
    await page.keyboard.press("2");
    await page.evaluate("window.shown[0].onclick()");
    await eventually(async () => (await page.evaluate("document.activeElement.dataset.item")) === id);
    await page.getByLabel("Notify me of new ones").uncheck();
    await ask({ call: 3 });
    await eventually(async () => (await page.locator(".approval").count()) === 3);
    expect(await page.evaluate("window.shown.length")).toBe(1);
  });

  test("fit on a phone", async () => {
    await scene.read("e1", [{ label: "private", source: `files.${"long_name_".repeat(12)}` }]);
    await ask({ args: { deep: { deep: { deep: { text: "x".repeat(2_000), url: `https://${"a".repeat(300)}` } } } } });
    await using opened = await open(scene.url, 390);
    const { page } = opened;
    await card(page).locator(".json-tree").waitFor();
    for (const name of ["Always", "Deny because"]) await card(page).getByRole("button", { name }).click();
    expect(await page.evaluate(scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFindings(page)).toEqual([]);
  });
});
