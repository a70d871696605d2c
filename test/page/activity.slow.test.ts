/** Activity in a real browser: filters, the keyboard, thousands of rows, the chosen execution, and what can be done with it. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { newId } from "../../src/programs/trace/id.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import { recordsKept, writeRecords } from "../../src/programs/trace/store.ts";
import { callOf, recordOf } from "../programs/trace/records.ts";
import { storedCall } from "../store/contract/call-log.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { inStore } from "../support/stored.ts";
import { isHacked, scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const code = "// Counts the paid orders\nreturn (await shop.list_orders()).length;\n";
const shop = { entry: { command: "shop-mcp" }, tools: [{ name: "list_orders" }] };

describe.skipIf(chromiumPath === undefined)(`Activity in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({ shop, crm: { entry: { command: "crm-mcp" }, tools: [{ name: "find_customer" }] } });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("2");
    return opened;
  }

  const rows = (page: Page) => page.locator(".activity-row");
  const titles = async (page: Page) => {
    const texts = await page.locator(".activity-row .cell-title").allInnerTexts();
    return texts.map((text) => text.replaceAll("\n", " "));
  };
  const becomes = async (read: () => Promise<unknown>, wanted: unknown) => {
    for (const deadline = performance.now() + 15_000; performance.now() < deadline; await Bun.sleep(30)) {
      if (Bun.deepEquals(await read(), wanted)) return;
    }
    expect(await read()).toEqual(wanted);
  };

  /** One execution that asks, one with a comment, a denied one, and one of another agent. */
  async function someWork(): Promise<void> {
    const now = Date.now();
    const crm = [callOf({ server: "crm", tool: "find_customer" })];
    await scene.record({
      ...{ at: now - 3_600_000 * 30, agent: "codex 1.2", folder: "/home/ann/reports", timeline: crm, door: "qa" },
      ...{ durationMs: 90_000, startedBy: "serve" },
    });
    await scene.record({
      ...{
        at: now - 7_000,
        ok: false,
        reason: "threw",
        failedWith: "POLICY_DENIED",
        failures: 1,
        denied: 1,
        startedBy: "serve",
      },
      ...{
        agent: "claude-code 2",
        folder: "/home/ann/shop",
        timeline: [callOf({ outcome: "failed", code: "POLICY_DENIED" })],
      },
    });
    await scene.record({
      ...{ at: now - 5_000, hasContents: true, comment: "Counts the paid orders", agent: "claude-code 2" },
      ...{ code: { chars: code.length, lines: 2, text: code }, startedBy: "serve" },
    });
    await scene.keep("asks", "// Refunds an order\nreturn 1", { startedAt: now - 2_000 });
    await scene.ask({ execution: "asks" });
  }

  const all = ["Refunds an order", "Counts the paid orders", "1 call: orders 1 call denied", "1 call: customer"];

  test("says of each execution what it is, its state, its servers, who asked, how long it took and when it began", async () => {
    await someWork();
    await using opened = await open();
    const { page } = opened;
    await becomes(() => titles(page), all);
    const words = (await rows(page).allInnerTexts()).map((text) => text.split(/\s*\n\s*/));
    expect(words[0]!.slice(0, 2)).toEqual(["waits for you", "Refunds an order"]);
    expect(words[1]).toEqual(["done", "Counts the paid orders", "shop", "claude-code 2", "500 ms", "just now"]);
    expect(words[2]).toEqual([
      "denied",
      "1 call: orders",
      "1 call denied",
      "shop",
      ...["claude-code 2 · /home/", "ann/shop"],
      "500 ms",
      "just now",
    ]);
    expect(words[3]).toEqual([
      "done",
      "1 call: customer",
      "crm",
      ...["codex 1.2 · /home/ann/reports ·", "door qa"],
      "90 s",
      "30 h ago",
    ]);
    const time = rows(page).last().locator("time");
    await time.hover();
    const exact = await time.getAttribute("title");
    expect(exact).toContain(String(new Date().getFullYear()));
    // All bars have one scale: 90 s is longer than 500 ms.
    const [short, long] = await page.locator(".track .bar").evaluateAll((bars) => {
      return [bars[1]!.getBoundingClientRect().width, bars[3]!.getBoundingClientRect().width];
    });
    expect(long! / short!).toBeCloseTo(Math.log(9_000) / Math.log(50), 1);
    expect(opened.said).toEqual([]);
  });

  test("is filtered by text, state, time, server, agent, door and tool, and the filters are cleared together", async () => {
    await someWork();
    await using opened = await open();
    const { page } = opened;
    await becomes(() => titles(page), all);
    await page.keyboard.press("/");
    await page.keyboard.type("ORDERS");
    await becomes(() => titles(page), all.slice(1, 3));
    await page.getByRole("button", { name: "Clear" }).click();
    await becomes(() => titles(page), all);
    const choose = async (name: string, choice: string, wanted: string[]) => {
      await page.getByLabel(name, { exact: true }).selectOption(choice);
      await becomes(() => titles(page), wanted);
      await page.getByRole("button", { name: "Clear" }).click();
      await becomes(() => titles(page), all);
    };
    await choose("State", "waiting", [all[0]!]);
    await choose("State", "denied", [all[2]!]);
    await choose("Time", "24", all.slice(0, 3));
    await choose("Server", "crm", [all[3]!]);
    await choose("Agent", "claude-code 2", all.slice(1, 3));
    await choose("Door", "qa", [all[3]!]);
    const began = new Date(Date.now() - 3_600_000 * 30);
    const day = [began.getFullYear(), began.getMonth() + 1, began.getDate()].map((part) =>
      String(part).padStart(2, "0"),
    );
    await page.getByLabel("Day").fill(day.join("-"));
    await becomes(() => titles(page), [all[3]!]);
    // A span takes the place of the day.
    await page.getByLabel("Time", { exact: true }).selectOption("24");
    expect(await page.getByLabel("Day").inputValue()).toBe("");
    await becomes(() => titles(page), all.slice(0, 3));
    await page.getByRole("button", { name: "Clear" }).click();
    await becomes(() => titles(page), all);
    await page.getByLabel("State").selectOption("cancelled");
    await page.getByText("Nothing fits these filters.").waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await rows(page).last().click();
    await page.getByRole("button", { name: "all its executions of crm.find_customer" }).click();
    await becomes(() => titles(page), [all[3]!]);
    expect(await page.locator(".chip").innerText()).toContain("find_customer");
  });

  test("is narrowed to one person, if executions of people are listed", async () => {
    await scene.record({ comment: "Of nobody" });
    await using opened = await open();
    const { page } = opened;
    await becomes(() => titles(page), ["Of nobody"]);
    expect(await page.getByLabel("Person").count()).toBe(0);
    await scene.record({ comment: "Of Ann", person: { id: "p1", name: "Ann" } });
    await scene.record({ comment: "Of Bob", person: { id: "p2", name: "Bob" } });
    await becomes(() => titles(page), ["Of Bob", "Of Ann", "Of nobody"]);
    expect(await page.getByLabel("Person").locator("option").allInnerTexts()).toEqual(["Any person", "Ann", "Bob"]);
    await page.getByLabel("Person").selectOption("Ann");
    await becomes(() => titles(page), ["Of Ann"]);
  });

  test("has the executions of one session of an agent, which each of them leads to", async () => {
    const session = "0f3a9c1b2d4e5f60";
    await scene.record({ comment: "First", session, agent: "codex 1", startedBy: "serve" });
    await scene.record({ comment: "Of another session", session: "1111222233334444", agent: "codex 1" });
    await scene.record({ comment: "Second", session, agent: "codex 1", startedBy: "serve" });
    await using opened = await open();
    const { page } = opened;
    await rows(page).first().click();
    await page
      .locator(".detail")
      .getByRole("button", { name: session.slice(0, 8) })
      .click();
    await becomes(() => titles(page), ["Second", "First"]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test("is grouped by session with headings, or has the longest first", async () => {
    const now = Date.now();
    const [one, other] = ["0f3a9c1b2d4e5f60", "1111222233334444"];
    const runs: [string, number, Partial<ExecutionRecord>][] = [
      ["First", 40, { session: one, durationMs: 20, agent: "codex 1", folder: "/home/ann/shop", startedBy: "serve" }],
      ["Of another session", 30, { session: other, durationMs: 9_000, agent: "codex 1", startedBy: "serve" }],
      ["Second", 20, { session: one, durationMs: 400, agent: "codex 1", folder: "/home/ann/shop", startedBy: "serve" }],
      ["From a shell", 10, { durationMs: 3_000, startedBy: "exec", folder: "/home/ann/shop" }],
    ];
    for (const [comment, agoS, facts] of runs) await scene.record({ comment, at: now - agoS * 1_000, ...facts });
    await scene.keep("asks", "// Refunds an order\nreturn 1", { startedAt: now - 2_000 });
    await scene.ask({ execution: "asks" });
    await using opened = await open();
    const { page } = opened;
    const lines = async () => {
      const texts = await page.locator(".activity-heading, .activity-row .cell-title").allInnerTexts();
      return texts.map((text) => text.replaceAll("\n", " "));
    };
    await page.getByLabel("Order").selectOption("session");
    const grouped = [
      ...["Running or waiting", "Refunds an order", "exec · /home/ann/shop", "From a shell"],
      ...[
        "codex 1 · /home/ann/shop session 0f3a9c1b",
        "Second",
        "First",
        "codex 1 session 11112222",
        "Of another session",
      ],
    ];
    await becomes(lines, grouped);
    // Arrows go from row to row, and what happens next finds its group.
    await rows(page).first().focus();
    for (let at = 0; at < 2; at++) await page.keyboard.press("ArrowDown");
    expect(await page.evaluate("document.activeElement.innerText")).toContain("Second");
    await scene.record({ comment: "Third", session: other, agent: "codex 1", startedBy: "serve" });
    await becomes(lines, [
      ...["Running or waiting", "Refunds an order", "codex 1 session 11112222", "Third", "Of another session"],
      ...["exec · /home/ann/shop", "From a shell", "codex 1 · /home/ann/shop session 0f3a9c1b", "Second", "First"],
    ]);
    expect(await axeFindings(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 800 });
    expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel("Order").selectOption("longest");
    const longest = ["Of another session", "From a shell", "Second", "First"];
    await becomes(
      async () => (await titles(page)).filter((title) => title !== "Third"),
      ["Refunds an order", ...longest],
    );
    expect(opened.said).toEqual([]);
  });

  test("pages follow each other in every order", async () => {
    const now = Date.now();
    const records = Array.from({ length: 350 }, (_, place) => {
      const at = now - (350 - place) * 1_000;
      const session = `${place % 7}`.repeat(16);
      return recordOf({
        id: newId(at),
        at,
        config: scene.config,
        comment: `Run ${place}`,
        session,
        durationMs: (place * 37) % 350,
      });
    });
    await inStore(scene.env, (store) => writeRecords(store, records));
    await using opened = await open();
    const { page } = opened;
    for (const order of ["session", "longest"]) {
      await page.getByLabel("Order").selectOption(order);
      await rows(page).first().waitFor();
      await page.getByText("100+").waitFor();
      const scrolled = async () => {
        await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
        return [await page.locator(".total").innerText(), (await titles(page)).at(-1)];
      };
      await becomes(scrolled, ["350 executions", "Run 0"]);
      await page.evaluate("window.scrollTo(0, 0)");
    }
    expect(opened.said).toEqual([]);
  });

  test("shows the chosen execution with its calls; the keyboard is enough, and Escape leads back to its row", async () => {
    await someWork();
    await using opened = await open();
    const { page } = opened;
    await becomes(() => titles(page), all);
    await rows(page).first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const detail = page.getByRole("region", { name: "1 call: orders" });
    await detail.getByText("failed POLICY_DENIED · line 1").waitFor();
    const text = await detail.innerText();
    expect(text).toMatch(/State\s+denied\s+By\s+claude-code 2\s+Folder\s+\/home\/ann\/shop/);
    expect(text).toContain("POLICY_DENIED");
    expect(text).toContain("The code of the execution");
    expect(await page.evaluate("document.activeElement.id")).toBe("execution");
    await page.keyboard.press("Escape");
    await detail.waitFor({ state: "detached" });
    await becomes(() => page.evaluate("document.activeElement.className"), "activity-row");
  });

  test("shows the calls that an execution has made before the one that waits, which its card leads to", async () => {
    const startedAt = Date.now() - 60_000;
    await scene.keep("e1", "// Cleans up\nreturn 1;", { startedAt });
    await scene.read("e1", [{ label: "private", source: "crm.find_customer" }]);
    const made = { config: scene.config, execution: "e1", durationMs: 40 };
    const calls = [
      storedCall("c1", startedAt + 10, { ...made, server: "crm", tool: "find_customer", call: 1 }),
      storedCall("c2", startedAt + 90, {
        ...made,
        server: "shop",
        tool: "list_orders",
        call: 2,
        outcome: "tool_error",
      }),
      storedCall("c3", startedAt + 90, { ...made, execution: "e2", server: "shop", tool: "of another execution" }),
    ];
    await inStore(scene.env, (store) => store.callLog.add(calls));
    await scene.ask({ execution: "e1", server: "shop", tool: "list_orders" });
    await using opened = await open();
    const { page } = opened;
    await page.keyboard.press("1");
    await page.getByRole("button", { name: "Show its calls so far" }).click();
    const list = page.locator(".call-list .call");
    await list.first().waitFor();
    const withoutButton = (text: string) => text.replace(/all its executions\s+of \S+/, "");
    expect((await list.allInnerTexts()).map((text) => withoutButton(text).split(/\n+/))).toEqual([
      ["crm.find_customer", "ok", "40 ms"],
      ["shop.list_orders", "failed", "40 ms"],
    ]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test("shows the arguments and the answer of each call whose contents were recorded, never as markup", async () => {
    const excerpt = (text: string) => ({ text, isWhole: true });
    const html = '<img src=x onerror="window.hacked=1">';
    await scene.record({
      hasContents: true,
      timeline: [
        callOf({ arguments: excerpt('{"month":"2026-10"}'), result: excerpt(JSON.stringify({ note: html })) }),
        callOf({ outcome: "failed", arguments: excerpt("{}"), message: "No such month" }),
        callOf({ tool: "unrecorded" }),
      ],
    });
    await using opened = await open();
    const { page } = opened;
    await rows(page).click();
    const texts = page.locator(".call-texts");
    await texts.first().getByText("Arguments and answer").click();
    expect(await texts.first().locator("pre").allInnerTexts()).toEqual([
      '{\n  "month": "2026-10"\n}',
      JSON.stringify({ note: html }, null, 2),
    ]);
    await texts.nth(1).getByText("Arguments and error").click();
    expect(await texts.nth(1).locator("pre").allInnerTexts()).toEqual(["{}", "No such month"]);
    expect([await texts.count(), await page.evaluate(isHacked)]).toEqual([2, false]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test("shows the code with the calls at their lines, and leads from one to the other", async () => {
    const text = `// Counts\n${"\n".repeat(40)}const a = "<b>";\nreturn 1;\n`;
    await scene.record({
      ...{ hasContents: true, code: { chars: text.length, lines: 43, text }, ok: false, reason: "threw" },
      error: { name: "Error", message: "No", line: 43 },
      timeline: [callOf({ line: 42 }), callOf({ line: 42 }), callOf({ tool: "refund", line: 43 })],
    });
    await using opened = await open();
    const { page } = opened;
    await rows(page).click();
    const lines = page.locator("ol.code > li");
    await lines.first().waitFor();
    expect([await lines.count(), await lines.nth(41).innerText()]).toEqual([43, 'const a = "<b>";\n2 calls']);
    expect(await page.locator("ol.code > .failing").innerText()).toContain("return 1;");
    await page.getByRole("button", { name: "Line 43: 1 call" }).click();
    await becomes(
      () => page.evaluate("document.activeElement.textContent"),
      await page
        .locator(".call")
        .last()
        .evaluate((call) => call.textContent),
    );
    await page.locator(".call").first().getByRole("button", { name: "line 42" }).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("line-42");
    expect([await axeFindings(page), opened.said]).toEqual([[], []]);
  });

  test("copies the code as a command for a shell, and only if the code is kept", async () => {
    const record = { hasContents: true, comment: "It's quoted", code: { chars: 13, lines: 1, text: "return 'it'; " } };
    await scene.record(record);
    await using opened = await open({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = opened;
    await rows(page).click();
    await page.getByRole("button", { name: "Copy as exec" }).click();
    await page.getByText("Copied the command").waitFor();
    const copied = (await page.evaluate("navigator.clipboard.readText()")) as string;
    expect(copied).toBe(`claudikins exec -e 'return '\\''it'\\''; '`);
  });

  test("follows what happens: a new execution appears above, and the focus stays on its row", async () => {
    await someWork();
    await using opened = await open();
    const { page } = opened;
    await becomes(() => titles(page), all);
    await rows(page).nth(1).focus();
    await scene.record({ comment: "Something new" });
    await becomes(async () => (await titles(page)).length, 5);
    expect((await titles(page))[1]).toBe("Something new");
    expect(await page.evaluate("document.activeElement.textContent")).toContain("Counts the paid orders");
  });

  test("draws a few of 10,000 rows at any place, loads them in pages, and arrows reach the last one", async () => {
    const now = Date.now();
    const records = Array.from({ length: recordsKept.count }, (_, place) => {
      const at = now - (recordsKept.count - place) * 1_000;
      return recordOf({ id: newId(at), at, config: scene.config, comment: `Run ${place}` });
    });
    await inStore(scene.env, (store) => writeRecords(store, records));
    await using opened = await open();
    const { page } = opened;
    await rows(page).first().waitFor();
    expect((await titles(page))[0]).toBe("Run 9999");
    await page.getByText("100+").waitFor();
    await page.evaluate("window.scrollTo(0, document.body.scrollHeight)");
    await page.getByText(/[2-9]00\+/).waitFor();
    expect(await rows(page).count()).toBeLessThan(80);
    await rows(page).last().focus();
    await page.keyboard.press("End");
    const place = await page.evaluate(
      "Number(document.activeElement.closest('li').ariaPosInSet ?? document.activeElement.closest('li').getAttribute('aria-posinset'))",
    );
    expect(place).toBeGreaterThan(150);
    await page.keyboard.press("/");
    await page.keyboard.type("run 42");
    await page.getByText("100+").waitFor();
    await page.keyboard.type("17");
    await becomes(() => titles(page), ["Run 4217"]);
    expect(opened.said).toEqual([]);
  });

  test("a list that is read again drops the rows far below the window, which a scroll loads again", async () => {
    const now = Date.now();
    const records = Array.from({ length: 600 }, (_, at) => {
      return recordOf({ at: now - 3_600_000 + at, config: scene.config, comment: `Run ${at}` });
    });
    await inStore(scene.env, (store) => writeRecords(store, records));
    await using opened = await open();
    const { page } = opened;
    await rows(page).first().focus();
    const total = () => page.locator(".total").innerText();
    while ((await total()) !== "600 executions") await page.keyboard.press("End");
    await page.keyboard.press("Home");
    await page.getByText("Run 599").waitFor();
    await scene.record({ comment: "A new one" });
    await page.getByText("A new one").waitFor();
    const [, kept] = /^(2\d\d)\+ executions$/.exec(await total()) ?? [];
    expect(Number(kept)).toBeGreaterThan(200);
    while ((await total()) !== "601 executions") await page.keyboard.press("End");
    await page.keyboard.press("End");
    await page.getByText("Run 0", { exact: true }).waitFor();
    expect(opened.said).toEqual([]);
  });

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels fits, has enough contrast, and axe finds nothing",
    async (scheme, width) => {
      await someWork();
      await scene.record({
        comment: "A very long comment ".repeat(20),
        agent: "an-agent-".repeat(20),
        folder: `/${"f".repeat(200)}`,
      });
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      await becomes(async () => (await titles(page)).length, 5);
      const check = async (what: string) => {
        const found = await axeFindings(page);
        expect([what, await page.evaluate(scrollWidth), await page.evaluate(tooFaint), found]).toEqual([
          what,
          width,
          [],
          [],
        ]);
      };
      await check("the list");
      await rows(page).nth(1).click();
      await page.locator(".call").first().waitFor();
      await check("the detail");
    },
  );
});
