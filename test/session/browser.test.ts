/** The session of the README in a real browser: it plays, ends with its last screen, respects reduced motion, and works as an image. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { root } from "../support/claudikins.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { animations, lines, misplaced, protruding, standAt, tooFaint } from "./in-browser.js";

setDefaultTimeout(60_000);

const file = join(root, "scripts", "session", "session.svg");
const receipt = /^\[7 calls · \d[\d.,]* m?s · [\d,]+ characters kept out of the context\]$/;
/** The duration of the whole animation. */
const durationMs = Number(/animation:([\d.]+)s/.exec(readFileSync(file, "utf8"))?.[1]) * 1_000;

describe.skipIf(chromiumPath === undefined)(`the session in Chromium${browserNote}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  const open = (options?: BrowserContextOptions): Promise<WatchedPage> => openPage(browser, file, options);
  const still = { reducedMotion: "reduce" } as const;

  test("shows a prompt, typed commands and their output, and ends with the receipt and the trace", async () => {
    await using opened = await open();
    const { page } = opened;
    const linesAt = async (ms: number) => {
      await page.evaluate(standAt, ms);
      return page.evaluate(lines);
    };
    expect(await linesAt(0)).toEqual(["$"]);
    const typing: string[] = [];
    for (let ms = 0; typing.at(-1) !== "$ claudikins init --apply"; ms += 50) {
      const [line = "", second] = await linesAt(ms);
      expect([second, "$ claudikins init --apply".startsWith(line)]).toEqual([undefined, true]);
      if (line !== typing.at(-1)) typing.push(line);
    }
    expect(typing.length).toBeGreaterThan(10);
    const last = await linesAt(durationMs - 1);
    expect(last[0]).toStartWith("$ claudikins exec -e '");
    expect(last.filter((line) => receipt.test(line))).toHaveLength(1);
    expect(last.at(-2)).toStartWith("files.write_file");
    expect(last.at(-1)).toBe("$");
    expect([opened.said, opened.requests]).toEqual([[], [`file://${file}`]]);
  });

  test("shows the last screen without animation if the person prefers reduced motion", async () => {
    await using moving = await open();
    await moving.page.evaluate(standAt, durationMs - 1);
    await using opened = await open(still);
    expect(await opened.page.evaluate(animations)).toBe(0);
    expect(await opened.page.evaluate(lines)).toEqual(await moving.page.evaluate(lines));
  });

  test.each([undefined, "serif", "DejaVu Serif", "monospace"])(
    "has every text at its column in the font %p",
    async (font) => {
      await using opened = await open(still);
      expect(await opened.page.evaluate(misplaced, font)).toEqual([]);
    },
  );

  test("follows the system's light or dark scheme, with enough contrast", async () => {
    const pictures: Buffer[] = [];
    for (const colorScheme of ["light", "dark"] as const) {
      await using opened = await open({ ...still, colorScheme });
      expect([colorScheme, await opened.page.evaluate(tooFaint)]).toEqual([colorScheme, []]);
      expect(await opened.page.evaluate(protruding)).toEqual([]);
      pictures.push(await opened.page.screenshot());
    }
    expect(pictures[0]?.equals(pictures[1] ?? Buffer.alloc(0))).toBe(false);
  });

  test("plays as an image too, as in the README", async () => {
    using folder = temporaryFolder();
    const readme = folder.write("readme.html", `<!doctype html><img alt="" src="file://${file}">`);
    await using opened = await openPage(browser, readme);
    const image = opened.page.locator("img");
    const before = await image.screenshot();
    let after = before;
    while (after.equals(before)) after = await image.screenshot();
    expect(opened.said).toEqual([]);
  });
});
