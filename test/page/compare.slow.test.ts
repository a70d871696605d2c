/** Two executions side by side in a real browser: which one is chosen, what is marked, the place in the history, and how it looks. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { callOf } from "../programs/trace/records.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { isHacked, scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const html = '<img src=x onerror="window.hacked=1">';
const whole = (text: string) => ({ text, isWhole: true });
const code = (text: string) => ({ chars: text.length, lines: text.split("\n").length, text });

describe.skipIf(chromiumPath === undefined)(`a comparison in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({ shop: { entry: { command: "shop-mcp" }, tools: [{ name: "list_orders" }] } });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  /** An execution that worked, an unrelated one, and a second run of the first one, which failed. */
  async function twoRuns(): Promise<{ first: string; other: string; second: string }> {
    const now = Date.now();
    const orders = { argumentChars: 12, arguments: whole('{"month":10}'), result: whole("[]") };
    const same = Array.from({ length: 3 }, () => callOf({ tool: "count" }));
    const first = await scene.record({
      ...{ at: now - 3_600_000, hasContents: true, comment: "Counts the orders", value: whole('{"n":1}') },
      ...{
        code: code("const month = 10;\n\treturn 1;\n"),
        logs: { lines: 1, chars: 2, entries: [{ level: "log", text: "a" }] },
      },
      timeline: [callOf(orders), ...same, callOf({ tool: "refund", resultChars: 30 })],
    });
    const other = await scene.record({ at: now - 1_800_000, comment: "Something else" });
    const second = await scene.record({
      ...{
        at: now - 5_000,
        hasContents: true,
        comment: "Counts the orders",
        repeats: first,
        ok: false,
        reason: "threw",
      },
      ...{ error: { name: "ToolError", message: `No such month ${html}` }, failures: 1 },
      ...{
        code: code("const month = 11;\n\treturn 1;\n"),
        logs: { lines: 1, chars: 2, entries: [{ level: "log", text: html }] },
      },
      timeline: [
        callOf({
          ...orders,
          arguments: whole('{"month":11}'),
          outcome: "failed",
          code: "TOOL_FAILED",
          endMs: 5_000,
          result: undefined,
          message: html,
        }),
        ...same,
        callOf({ tool: html }),
      ],
    });
    return { first, other, second };
  }

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("2");
    return opened;
  }

  const chosen = (page: Page) => page.locator(".detail").getByRole("heading", { level: 2 });
  const compare = (page: Page) => page.getByRole("region", { name: "Two executions side by side" });
  const words = (text: string) => text.split(/\s*\n\s*/);

  test("leads from a second run to the first one, and shows both with what differs", async () => {
    const { first } = await twoRuns();
    await using opened = await open();
    const { page } = opened;
    await page.locator(".activity-row").first().click();
    await page.getByRole("button", { name: "Compare with …" }).click();
    const both = compare(page);
    await both.locator(".compared-calls > li").first().waitFor();
    expect(await page.evaluate("document.activeElement.id")).toBe("compare");
    expect(await both.getByLabel("Compared with").inputValue()).toBe(first);
    const groups = await both.locator("optgroup").evaluateAll((all) => all.map((each) => each.getAttribute("label")));
    expect(groups).toEqual(["It was run again from", "Others"]);
    const facts = await both.locator(".compare-sides tbody tr").allInnerTexts();
    expect(
      facts.map((fact) =>
        fact
          .split(/\t|\n/)
          .map((each) => each.trim())
          .filter(Boolean),
      ),
    ).toEqual([
      ["State", "done", "failed"],
      ["Failure", "none", `ToolError: No such month ${html}`],
      ["Began", expect.stringMatching(/:\d\d:\d\d/), expect.stringMatching(/:\d\d:\d\d/)],
      ["By", "exec", "exec"],
      ["Took", "500 ms", "500 ms"],
      ["Calls", "5", "5"],
      ["Failed calls", "0", "1"],
      ["Read", "10,000 characters", "10,000 characters"],
      ["Returned", "200 characters", "200 characters"],
    ]);
    const marked = await both.locator(".compare-sides mark").allInnerTexts();
    expect(marked).toEqual(["done", "failed", "none", `ToolError: No such month ${html}`, "0", "1"]);
    const rows = both.locator(".compared-calls > li");
    expect((await rows.allInnerTexts()).map((row) => words(row).slice(0, 6))).toEqual([
      [
        ...[
          "changed",
          "arguments, outcome, duration",
          "shop.list_orders",
          "ok · asked 12, answered 10,000 characters · 100 ms · line 1",
        ],
        ...["shop.list_orders", "failed TOOL_FAILED · asked 12, answered 10,000 characters · 5 s · line 1"],
      ],
      ...Array.from({ length: 3 }, () => [
        ...["the same", "shop.count", "ok · asked 20, answered 10,000 characters · 100 ms · line 1"],
        ...["shop.count", "ok · asked 20, answered 10,000 characters · 100 ms · line 1"],
      ]),
      ["only earlier", "shop.refund", "ok · asked 20, answered 30 characters · 100 ms · line 1", "not called"],
      ["only later", "not called", `shop.${html}`, "ok · asked 20, answered 10,000 characters · 100 ms · line 1"],
    ]);
    expect(await rows.first().locator("mark").allInnerTexts()).toEqual([
      ...["ok", "asked 12", "100 ms"],
      ...["failed TOOL_FAILED", "asked 12", "5 s"],
    ]);
    await rows.first().getByText("Arguments and answers").click();
    expect(await rows.first().locator("pre").allInnerTexts()).toEqual([
      '{\n  "month": 10\n}',
      "[]",
      '{\n  "month": 11\n}',
      html,
    ]);
    const diffs = await both.locator(".diff").allInnerTexts();
    expect(diffs.map((text) => text.trimEnd().split("\n"))).toEqual([
      ["- const month = 10;", "+ const month = 11;", "  \treturn 1;"],
      ["- {", '-   "n": 1', "- }"],
      ["- log: a", `+ log: ${html}`],
    ]);
    await both.getByRole("button", { name: "Only differences" }).click();
    expect(await rows.count()).toBe(3);
    expect([await page.evaluate(isHacked), opened.said]).toEqual([false, []]);
  });

  test("is a place of the history: another choice, a reload, Back and Escape", async () => {
    const { other, first } = await twoRuns();
    await using opened = await open();
    const { page } = opened;
    await page.locator(".activity-row").first().click();
    // The detail of a second run leads to the first one, too.
    await page.locator(".detail").getByRole("button", { name: "from the execution of 1 h ago" }).click();
    await page.getByRole("button", { name: first.slice(-6) }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "Compare with …" }).click();
    const both = compare(page);
    await both.getByText("No such month").first().waitFor();
    await both.getByLabel("Compared with").selectOption(other);
    await both.getByText("Not stored of the earlier one.").first().waitFor();
    await page.reload();
    await both.getByText("Not stored of the earlier one.").first().waitFor();
    expect(await both.getByLabel("Compared with").inputValue()).toBe(other);
    await page.goBack();
    await both.getByText("const month = 11;").waitFor();
    await both.getByRole("button", { name: "Counts the orders" }).first().click();
    await page.getByRole("button", { name: first.slice(-6) }).waitFor();
    await page.goBack();
    await both.getByText("const month = 11;").waitFor();
    await page.keyboard.press("Escape");
    await chosen(page).waitFor();
    expect(await chosen(page).innerText()).toBe("Counts the orders");
    expect(opened.said).toEqual([]);
  });

  test("asks for a choice if no execution is the likely one, and says if there is no other", async () => {
    await scene.record({ comment: "Alone" });
    await using opened = await open();
    const { page } = opened;
    await page.locator(".activity-row").first().click();
    await page.getByRole("button", { name: "Compare with …" }).click();
    await compare(page).getByText("There is no other recorded execution.").waitFor();
    await scene.record({ comment: "Another one" });
    await page.reload();
    const choice = compare(page).getByLabel("Compared with");
    await choice.waitFor();
    expect(await choice.locator("option").first().innerText()).toBe("Choose an execution");
    await choice.selectOption({ index: 1 });
    await compare(page).getByText("so only sizes are compared").waitFor();
    expect(opened.said).toEqual([]);
  });

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels fits, has enough contrast, and axe finds nothing",
    async (scheme, width) => {
      await twoRuns();
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      await page.locator(".activity-row").first().click();
      await page.getByRole("button", { name: "Compare with …" }).click();
      await page.locator(".diff").first().waitFor();
      await page.getByText("Arguments and answers").first().click();
      if (process.env["SHOTS"])
        await page.screenshot({ path: `${process.env["SHOTS"]}/${scheme}-${width}.png`, fullPage: true });
      const found = await axeFindings(page);
      expect([await page.evaluate(scrollWidth), await page.evaluate(tooFaint), found]).toEqual([width, [], []]);
    },
  );
});
