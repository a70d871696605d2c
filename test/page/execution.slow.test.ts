/** The page of an execution in a real browser: correct bars, keys, both themes, every width, and no code from tools. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { pageOf } from "../../src/page/execution/page.ts";
import type { ExecutionRecord } from "../../src/programs/trace/record.ts";
import { cli } from "../cli/in-memory.ts";
import { callOf, recordOf } from "../programs/trace/records.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { animation, bars, breakIn, focused, ground, isHacked, scrollWidth, tooFaint, tops } from "./in-browser.js";

setDefaultTimeout(60_000);

const whole = (text: string) => ({ text, isWhole: true });

/** Two concurrent calls, one after them, and one that failed. */
const known = recordOf({
  durationMs: 1_000,
  calls: 4,
  failures: 1,
  hasContents: true,
  code: {
    chars: 90,
    lines: 4,
    text: 'const a = "1";\nawait Promise.all([shop.list(), files.read()]);\nawait shop.list();\nawait shop.list();',
  },
  timeline: [
    callOf({ tool: "list", line: 2, startMs: 0, endMs: 500, arguments: whole('{"a":1}'), result: whole("plain") }),
    callOf({ server: "files", tool: "read", line: 2, startMs: 250, endMs: 500 }),
    callOf({ tool: "list", line: 3, startMs: 500, endMs: 750 }),
    callOf({
      tool: "list",
      line: 4,
      startMs: 750,
      endMs: 1_000,
      outcome: "failed",
      code: "TOOL_FAILED",
      message: "no",
    }),
  ],
  logs: { lines: 1, chars: 6, entries: [{ level: "warn", text: "hello" }] },
  value: whole('{"total":1}'),
});

describe.skipIf(chromiumPath === undefined)(`the page in Chromium${browserNote}`, () => {
  let browser: Browser;
  let folder: TemporaryFolder;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder[Symbol.dispose]());

  async function open(record: ExecutionRecord, options?: BrowserContextOptions): Promise<WatchedPage> {
    const file = folder.write("trace.html", await pageOf(record));
    return openPage(browser, file, { reducedMotion: "reduce", ...options });
  }

  test("has a bar for each call at its time, without requests and console messages", async () => {
    await using opened = await open(known);
    const bars = await barsOf(opened.page);
    expect(bars).toEqual([
      { name: "shop.list", from: 0, to: 50 },
      { name: "files.read", from: 25, to: 50 },
      { name: "shop.list", from: 50, to: 75 },
      { name: "shop.list", from: 75, to: 100 },
    ]);
    expect(new Set(await opened.page.locator(".bar").evaluateAll(tops)).size).toBe(4);
    expect(await opened.page.locator(".call").nth(3).getAttribute("aria-label")).toBe(
      "4 of 4: shop.list, line 4, failed (TOOL_FAILED), took 250 ms, from 750 ms to 1 s",
    );
    expect(await opened.page.locator(".tick").allInnerTexts()).toEqual([
      "0 ms",
      "200 ms",
      "400 ms",
      "600 ms",
      "800 ms",
      "1 s",
    ]);
    expect(await opened.page.title()).toBe("4 calls in 1 s · claudikins execution");
    expect(opened.said).toEqual([]);
    expect(opened.requests).toEqual([`file://${folder.path}/trace.html`]);
  });

  test("shows a real execution with concurrent calls, written by the command", async () => {
    folder.write("claudikins.json", { mcpServers: { shop: fixture("echo") } });
    const code =
      "const delayMs = 300;\nawait Promise.all([1, 2, 3].map(() => shop.echo({ delayMs })));\nawait shop.echo({});";
    expect(await cli(["exec", "--record", "-e", code], { cwd: folder.path })).toMatchObject({ exitCode: 0 });
    expect(await cli(["trace", "last", "--html", "out.html"], { cwd: folder.path })).toMatchObject({ exitCode: 0 });
    await using opened = await openPage(browser, `${folder.path}/out.html`, { reducedMotion: "reduce" });
    const bars = await barsOf(opened.page);
    const [first, second, third, last] = bars;
    expect(bars).toHaveLength(4);
    expect(Math.max(first!.from, second!.from, third!.from)).toBeLessThan(Math.min(first!.to, second!.to, third!.to));
    expect(last!.from).toBeGreaterThanOrEqual(Math.max(first!.to, second!.to, third!.to) - 0.1);
    expect(await opened.page.locator(".code .calling .mark").allInnerTexts()).toEqual(["3 calls", "1 call"]);
    expect(await opened.page.locator(".code code").allInnerTexts()).toEqual(code.split("\n"));
    expect(opened.said).toEqual([]);
  });

  test("can be used with the keyboard: arrows, Home, End, Enter and Escape, with one Tab stop", async () => {
    await using opened = await open(known);
    const { page, said } = opened;
    const focusedId = () => page.evaluate(focused);
    const details = () => page.locator("#details h3").allInnerTexts();
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press("Tab", "Tab");
    expect(await focusedId()).toBe("c0");
    expect(await details()).toEqual([]);
    await press("Enter");
    expect(await details()).toEqual(["shop.list"]);
    expect(await page.locator("#details pre").allInnerTexts()).toEqual(['{\n  "a": 1\n}', "plain"]);
    await press("ArrowDown");
    expect([await focusedId(), await details()]).toEqual(["c1", ["files.read"]]);
    await press("End");
    expect([await focusedId(), await details()]).toEqual(["c3", ["shop.list"]]);
    expect(await page.locator("#details").textContent()).toContain("TOOL_FAILED");
    expect(await page.locator(".call[aria-current]").count()).toBe(1);
    await press("ArrowDown");
    expect(await focusedId()).toBe("c3");
    await press("Home", "ArrowUp");
    expect(await focusedId()).toBe("c0");
    await press("End", "Escape");
    expect([await focusedId(), await details()]).toEqual(["c3", []]);
    expect(await page.locator(".call[aria-current]").count()).toBe(0);
    await press("Shift+Tab");
    expect(await focusedId()).toBe("theme");
    await press("Tab");
    expect(await focusedId()).toBe("c3");
    await press(" ");
    expect(await details()).toEqual(["shop.list"]);
    expect(said).toEqual([]);
  });

  test("can be used with the mouse: hover, selection, and the mark of a line", async () => {
    await using opened = await open(known);
    const { page } = opened;
    const details = () => page.locator("#details h3").allInnerTexts();
    await page.locator("#c1").hover();
    expect(await details()).toEqual(["files.read"]);
    await page.locator("h1").hover();
    expect(await details()).toEqual([]);
    await page.locator('.code .mark[data-line="2"]').click();
    expect(await page.locator(".call.same").count()).toBe(2);
    expect(await page.locator("#c0").getAttribute("aria-current")).toBe("true");
    await page.locator("#c1").hover();
    await page.locator("h1").hover();
    expect(await details()).toEqual(["shop.list"]);
    await page.locator("#details .close").click();
    expect(await details()).toEqual([]);
  });

  test("shows texts of tools, code and results without running them", async () => {
    const attacks = [
      "</script><script>window.hacked = 1</script>",
      '"><img src=x onerror="window.hacked = 2">',
      "</style><svg onload=window.hacked=3>",
      "' onmouseover='window.hacked = 4' x='",
      "</title></textarea></pre><iframe src=javascript:parent.hacked=5></iframe>",
      "<!--<script>$& $1 ${window.hacked = 6} \u2028",
    ];
    const attack = attacks.join("\n");
    const timeline = attacks.map((text, place) =>
      callOf({
        server: text,
        tool: text,
        line: place + 1,
        arguments: whole(JSON.stringify({ [text]: text })),
        ...(place === 0 ? { outcome: "failed", code: text, message: text } : { result: whole(text) }),
      } as never),
    );
    await using opened = await open({
      ...known,
      config: `/x/${attack}`,
      ok: false,
      reason: attack as "threw",
      timeline,
      code: { chars: 1, lines: 6, text: attack },
      logs: { lines: 1, chars: 1, entries: [{ level: attack, text: attack }] },
      error: { name: attack, message: attack, hint: attack, code: attack, line: 2 },
      value: whole(attack),
    });
    const { page, said, requests } = opened;
    expect(await page.locator(".code code").allInnerTexts()).toEqual(attack.split("\n"));
    expect(await page.locator(".logs .text").textContent()).toBe(attack);
    for (const [place, text] of attacks.entries()) {
      await page.locator(`#c${place}`).hover();
      await page.locator(`#c${place}`).click();
      expect(await page.locator("#details pre").first().textContent()).toContain(
        place === 0 ? text : JSON.stringify(text),
      );
    }
    expect(await page.evaluate(isHacked)).toBe(false);
    expect(await page.locator("img, iframe, script:not([type]) ~ script, svg:not(.flight)").count()).toBe(0);
    expect([said, requests.length]).toEqual([[], 1]);
  });

  test("has a content security policy that blocks injected code", async () => {
    await using opened = await open(known);
    const { page, said } = opened;
    const asked: string[] = [];
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        asked.push(url);
        return new Response("", { headers: { "access-control-allow-origin": "*" } });
      },
    });
    expect(await page.evaluate(breakIn, server.url.href)).toBe("Failed to fetch");
    expect(await page.evaluate(isHacked)).toBe(false);
    expect(said.filter((text) => text.includes("Content Security Policy")).length).toBeGreaterThanOrEqual(3);
    expect(asked).toEqual([]);
  });

  test("follows the system's light or dark scheme or its button, with enough contrast", async () => {
    const pictures = new Map<string, Buffer>();
    for (const colorScheme of ["light", "dark"] as const) {
      const other = colorScheme === "light" ? "dark" : "light";
      await using opened = await open(known, { colorScheme });
      const { page } = opened;
      await page.locator("#c3").click();
      const groundNow = () => page.evaluate(ground);
      const before = await groundNow();
      pictures.set(colorScheme, await page.screenshot());
      expect([colorScheme, await page.evaluate(tooFaint)]).toEqual([colorScheme, []]);
      await page.locator("#theme").click();
      expect(await groundNow()).not.toBe(before);
      expect(await page.evaluate(tooFaint)).toEqual([]);
      await page.emulateMedia({ colorScheme: other });
      const chosen = await groundNow();
      await page.locator("#theme").click();
      expect([await groundNow(), chosen === before]).toEqual([before, false]);
      expect(opened.said).toEqual([]);
    }
    expect(pictures.get("light")!.equals(pictures.get("dark")!)).toBe(false);
  });

  test.each([320, 700, 1280])("fits a width of %d", async (width) => {
    const long = callOf({ server: "a-server-with-a-long-name", tool: `a_tool_${"with_a_long_name_".repeat(6)}` });
    const timeline = [...known.timeline, long];
    await using opened = await open({ ...known, timeline }, { viewport: { width, height: 700 } });
    const { page } = opened;
    const widest = () => page.evaluate(scrollWidth);
    expect(await widest()).toBeLessThanOrEqual(width);
    await page.locator("#c4").click();
    expect(await page.locator("#details h3").isVisible()).toBe(true);
    expect(await widest()).toBeLessThanOrEqual(width);
    await page.keyboard.press("Escape");
    const bars = await barsOf(page);
    expect(bars.slice(0, 2).map(({ from, to }) => [from, to])).toEqual([
      [0, 50],
      [25, 50],
    ]);
  });

  test("respects reduced motion, and prints light without controls", async () => {
    await using opened = await open(known, { colorScheme: "dark" });
    const { page } = opened;
    const moving = () => page.locator(".bar").first().evaluate(animation);
    expect(await moving()).toBe("none");
    await page.emulateMedia({ reducedMotion: "no-preference" });
    expect(await moving()).toBe("grow");
    await page.locator("#c0").click();
    const dark = await page.evaluate(ground);
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(ground)).not.toBe(dark);
    expect([await page.locator("#theme").isVisible(), await page.locator("#details").isVisible()]).toEqual([
      false,
      false,
    ]);
    expect(await page.locator(".bar").first().isVisible()).toBe(true);
  });

  test("shows the longest and the failed of ten thousand calls, and counts the others", async () => {
    const timeline = Array.from({ length: 10_000 }, (_, place) =>
      callOf({ startMs: place, endMs: place + (place % 100), outcome: place === 9_999 ? "failed" : "ok" }),
    );
    await using opened = await open(recordOf({ timeline, durationMs: 10_100, moreCalls: 5 }));
    const { page, said } = opened;
    expect(await page.locator(".call").count()).toBe(500);
    expect(await page.locator(".call.failed").count()).toBe(1);
    expect(await page.locator(".left").allInnerTexts()).toEqual([
      "… 9,500 more calls that took less time: 7.4 min in total",
      "… 5 later calls were not recorded individually",
    ]);
    await page.locator("#c0").focus();
    await page.keyboard.press("End");
    expect(await page.locator("#c499").isVisible()).toBe(true);
    expect(await page.locator("#details h3").textContent()).toBe("shop.list_orders");
    expect(said).toEqual([]);
  });

  test("shows the calling lines of an execution without contents, and how to keep more", async () => {
    const { code, logs, value, ...rest } = known;
    const timeline = known.timeline.map(({ arguments: _, result, message, ...call }) => call);
    await using opened = await open({
      ...rest,
      timeline,
      hasContents: false,
      code: { chars: 1, lines: 1 },
      logs: { lines: 3, chars: 9 },
    });
    const { page } = opened;
    expect(await page.locator(".lines .mark").allInnerTexts()).toEqual([
      "line 2: 2 calls",
      "line 3: 1 call",
      "line 4: 1 call",
    ]);
    expect(await page.locator("main").textContent()).toContain("--record");
    await page.locator(".lines .mark").nth(1).click();
    expect(await page.locator("#c2").getAttribute("aria-current")).toBe("true");
  });

  test("shows an execution without calls, and where the code failed", async () => {
    await using opened = await open({
      ...known,
      timeline: [],
      calls: 0,
      ok: false,
      reason: "threw",
      error: { name: "E", message: "no", line: 3 },
    });
    const { page, said } = opened;
    expect(await page.locator("main").textContent()).toContain("The code called no tools.");
    expect(await page.locator(".failure").textContent()).toBe("E: no line 3");
    expect(await page.locator("#L3").getAttribute("class")).toBe("failing");
    await page.locator("#theme").click();
    expect(said).toEqual([]);
  });
});

function barsOf(page: Page) {
  return page.locator(".call").evaluateAll(bars);
}
