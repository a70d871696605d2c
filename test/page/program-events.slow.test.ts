/** The tests, triggers and deliveries of a saved program on the page, in a real browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { loadConfig } from "../../src/config/load.ts";
import { placeName } from "../../src/programs/events/places.ts";
import { Triggers } from "../../src/programs/events/triggers.ts";
import type { Recording } from "../../src/programs/recordings/format.ts";
import { RecordingFiles } from "../../src/programs/recordings/recording-files.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { inStore } from "../support/stored.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`the tests and events of a program in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({});
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  const place = async () => (await loadConfig({ flag: scene.config, cwd: "/", env: scene.env })).savedPrograms;

  /** A program that adds one, with a recording of `given` and `output`. */
  async function recorded(name: string, given: number, output: number): Promise<void> {
    const recording: Recording = {
      ...{ version: 1, program: "next", startsAt: "2026-11-29T21:00:00.000Z", seed: "0".repeat(32) },
      ...{ input: { n: given }, servers: {}, calls: [], output },
    };
    await new RecordingFiles(await place()).write("next", name, recording);
  }

  async function program(): Promise<void> {
    const input = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    await scene.program({ name: "next", description: "Adds one.", code: "return input.n + 1;", input, calls: [] });
  }

  async function deadDelivery(message: string): Promise<void> {
    const own = await place();
    const on = { kind: "after", program: "other", when: ["failed"] } as const;
    const trigger = {
      version: 1,
      id: "alert",
      program: "next",
      on,
      filter: "event.state == 'failed'",
      perMinute: 60,
    } as const;
    await new Triggers(own).add({ ...trigger, input: { n: 1 }, map: {}, createdAt: 1 });
    const event = { triggerId: "alert", program: "next", event: "e1", at: Date.now(), depth: 1 };
    await inStore(scene.env, (store) =>
      store.deliveries.add(
        { id: "0pk3v2m1h8w4", place: placeName(own), ...event, labels: "[]", payload: "{}", dead: message },
        10,
      ),
    );
  }

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("4");
    await opened.page.getByRole("heading", { name: "Tests" }).waitFor();
    return opened;
  }

  test("tests are run with a button, and say what has changed", async () => {
    await program();
    await recorded("good", 1, 2);
    await recorded("old", 1, 3);
    await using opened = await open();
    const { page } = opened;
    await page.getByRole("button", { name: "Run 2 tests" }).click();
    await page.getByText("1 of 2 tests failed").waitFor();
    const tests = await page.locator("section[aria-labelledby=tests] li").allInnerTexts();
    expect(tests[0]).toMatch(/^passed next\.good\.recording\.json \d/);
    expect(tests[1]).toMatch(/^failed next\.old\.recording\.json \d[\s\S]*2[\s\S]*3|^failed[\s\S]*3[\s\S]*2/);
    expect(opened.said).toEqual([]);
  });

  test("without a recording, the page says how to make one", async () => {
    await program();
    await using opened = await open();
    await opened.page.getByText("claudikins programs record next").waitFor();
  });

  test("triggers and events are shown, and a dead event begins again with a button, once", async () => {
    await program();
    await deadDelivery("shop is signed out");
    await using opened = await open();
    const { page } = opened;
    const trigger = page.getByRole("region", { name: "Starts after events" });
    expect(await trigger.innerText()).toMatch(
      /alert after other, if it failed, if event\.state == 'failed'\s+at most 60 a minute/,
    );
    const events = page.getByRole("region", { name: "Events", exact: true });
    expect(await events.innerText()).toMatch(/dead alert came just now[\s\S]*shop is signed out/);
    await events.getByRole("button", { name: "Run again" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("The event begins again").waitFor();
    await events.getByText("waiting").waitFor();
    expect(await events.getByRole("button", { name: "Run again" }).count()).toBe(0);
    expect((await inStore(scene.env, (store) => store.deliveries.get("0pk3v2m1h8w4")))?.state).toBe("waiting");
  });

  test("notifications are added and removed with buttons, and a program that asks a model says whether it may", async () => {
    const code = 'return await model.ask("Which is best?");';
    await scene.program({ name: "next", description: "Asks.", code, input: { type: "object" }, calls: ["model.ask"] });
    await using opened = await open();
    const { page } = opened;
    await page.getByText("It asks a model, which programs may not do.").waitFor();
    const told = page.getByRole("region", { name: "Tells others" });
    await told.getByText("Nobody is told").waitFor();
    await told.getByRole("button", { name: "Tell my agents" }).click();
    await told.getByText("if it failed or waits for a person, the next session of an agent").waitFor();
    expect(new Triggers(await place()).notificationsOf("next")).toMatchObject([
      { id: "next", notify: { kind: "agent" }, on: { kind: "after", when: ["failed", "waiting"] } },
    ]);
    await told.getByRole("button", { name: "Remove the notification next" }).click();
    await told.getByText("Nobody is told").waitFor();
    expect(new Triggers(await place()).notificationsOf("next")).toEqual([]);
    expect(opened.said).toEqual([]);
  });

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels they fit, have enough contrast, and axe finds nothing",
    async (scheme, width) => {
      await program();
      await recorded("old", 1, 3);
      await deadDelivery(`<img src=x onerror=alert(1)>${"a-long-message-".repeat(20)}\u202e`);
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      await page.getByRole("button", { name: "Run 1 test" }).click();
      await page.getByText("1 of 1 test failed").waitFor();
      expect(await page.locator("main").innerText()).toContain("\\u202e");
      const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
      expect([...found, await page.locator("img").count()]).toEqual([width, [], [], 0]);
    },
  );
});
