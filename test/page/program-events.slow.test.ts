/** The tests, triggers and deliveries of a saved program on the page, in a real browser. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { loadConfig } from "../../src/config/load.ts";
import { readSecret } from "../../src/config/secrets/store.ts";
import { placeName } from "../../src/programs/events/places.ts";
import { Triggers } from "../../src/programs/events/stored-triggers.ts";
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

  test("a test is made from a run, which really happens, and passes; a failed run makes none", async () => {
    await program();
    await using opened = await open();
    const { page } = opened;
    const tests = page.getByRole("region", { name: "Tests" });
    await tests.getByText("It has no test.").waitFor();
    await tests.getByText("Make a test").click();
    await tests.getByRole("button", { name: "Run it and keep the test" }).click();
    await page.locator(".notice.failure").getByText(/\bn\b/).waitFor();
    expect(new RecordingFiles(await place()).files("next")).toEqual([]);
    await tests.getByLabel(/^n /).fill("41");
    await tests.getByLabel(/^Name of the test/).fill("answer");
    await tests.getByRole("button", { name: "Run it and keep the test" }).click();
    await page.getByText("Recorded next.answer.recording.json: 0 calls").waitFor();
    const files = new RecordingFiles(await place());
    expect(await files.read("next.answer.recording.json")).toMatchObject({ input: { n: 41 }, output: 42 });
    await tests.getByRole("button", { name: "Run 1 test" }).click();
    await tests.getByText("All tests passed").waitFor();
    await tests.getByLabel(/^Name of the test/).fill("answer");
    await tests.getByRole("button", { name: "Run it and keep the test" }).click();
    await page.getByText("There already is a recording").waitFor();
    await scene.program({
      name: "next",
      description: "Fails.",
      code: 'throw new Error("no luck");',
      input: {},
      calls: [],
    });
    await page.reload();
    await tests.getByText("Make a test").click();
    await tests.getByRole("button", { name: "Run it and keep the test" }).click();
    await page.getByText("Nothing was kept, because the program failed: no luck").waitFor();
    expect(files.files("next")).toEqual(["next.answer.recording.json"]);
  });

  test("triggers are added and removed; the secret of a webhook is shown once, and ends with it", async () => {
    await program();
    await using opened = await open();
    const { page } = opened;
    const region = page.getByRole("region", { name: "Starts after events" });
    await region.getByText("No event starts it.").waitFor();
    await region.getByText("Start it after an event").click();
    await region.getByLabel("Sender", { exact: true }).selectOption("github");
    await region.getByRole("button", { name: "Add the trigger" }).click();
    await page.getByText("next needs the input n").waitFor();
    await region.getByLabel(/^Inputs that are made of the event/).fill("n=event.body.number");
    await region.getByLabel(/^Only if/).fill("event.body.number > 1");
    await region.getByLabel(/^Runs within a minute/).fill("5");
    await region.getByRole("button", { name: "Add the trigger" }).click();
    const shown = region.getByRole("status");
    await shown.getByText("Its secret, shown only now:").waitFor();
    const [made] = new Triggers(await place()).all();
    expect(made).toMatchObject({
      id: "next",
      filter: "event.body.number > 1",
      perMinute: 5,
      map: { n: "event.body.number" },
    });
    const { secret: reference, address } = made!.on as unknown as { secret: string; address: string };
    const name = /^\$\{secret:(\w+)\}$/.exec(reference)![1]!;
    const secret = (await readSecret(name, scene.env))!;
    expect(await shown.innerText()).toContain(secret);
    expect(await shown.innerText()).toContain(`/hooks/${address}`);
    await page.reload();
    await region.getByText("webhook (github)").waitFor();
    expect(await page.content()).not.toContain(secret);
    for (const path of ["state", "programs/about?name=next", "secrets"]) {
      const answer = await page.evaluate(async (each) => (await fetch(`api/${each}`)).text(), path);
      expect(answer).not.toContain(secret);
    }
    await region.getByRole("button", { name: "Remove" }).click();
    await region.getByRole("button", { name: "Really remove the trigger next?" }).click();
    await region.getByText("No event starts it.").waitFor();
    expect(new Triggers(await place()).all()).toEqual([]);
    expect(await readSecret(name, scene.env)).toBeUndefined();
  });

  test("files, schedules of other programs and lists start it, as the command line makes them", async () => {
    await scene.program({ name: "other", description: "Is first.", code: "return 1;", input: {}, calls: [] });
    await scene.program({ name: "next", description: "Follows.", code: "return 2;", input: {}, calls: [] });
    await using opened = await open();
    const { page } = opened;
    await page.getByRole("button", { name: /^next/ }).first().click();
    const region = page.getByRole("region", { name: "Starts after events" });
    await region.getByText("Start it after an event").click();
    const add = async (kind: string) => {
      await region.getByLabel("Start it when").selectOption(kind);
      if (kind === "file") await region.getByLabel("Files").fill("inbox/*.csv");
      if (kind === "after") await region.getByRole("textbox", { name: "Program" }).fill("other");
      if (kind === "after") await region.getByLabel("If it", { exact: true }).selectOption("has failed");
      if (kind === "list") await region.getByLabel("Server").fill("nobody");
      await region.getByRole("button", { name: "Add the trigger" }).click();
    };
    await add("file");
    await region.getByText(/inbox/).waitFor();
    await add("after");
    await region.getByText("after other, if it failed").waitFor();
    await add("list");
    await page.getByText("--list nobody=tools names no server").waitFor();
    const made = new Triggers(await place()).all().map(({ on }) => on);
    expect(made).toContainEqual({ kind: "file", pattern: "*.csv", folder: expect.stringMatching(/inbox$/) });
    expect(made).toContainEqual({ kind: "after", program: "other", when: ["failed"] });
    expect(made).toHaveLength(2);
  });

  test("others are told by a command, and the form says which states", async () => {
    await program();
    await using opened = await open();
    const { page } = opened;
    const region = page.getByRole("region", { name: "Tells others" });
    await region.locator("summary").click();
    await region.getByLabel("Tell", { exact: true }).selectOption("command");
    await region.getByLabel("it has succeeded").check();
    await region.getByLabel("it waits for a person").uncheck();
    await region.getByLabel("Command").fill("true");
    await region.getByRole("button", { name: "Add the notification" }).click();
    await region.getByRole("button", { name: "Remove the notification next" }).waitFor();
    const [made] = new Triggers(await place()).notificationsOf("next");
    expect(made).toMatchObject({ notify: { kind: "command", command: "true" }, on: { when: ["failed", "done"] } });
    expect(await axeFindings(page)).toEqual([]);
    expect(opened.said).toEqual([]);
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
    await told.getByText("Only your agents are told").waitFor();
    await told.getByRole("button", { name: "Tell my agents" }).click();
    await told.getByText("if it failed or waits for a person, the next session of an agent").waitFor();
    expect(new Triggers(await place()).notificationsOf("next")).toMatchObject([
      { id: "next", notify: { kind: "agent" }, on: { kind: "after", when: ["failed", "waiting"] } },
    ]);
    await told.getByRole("button", { name: "Remove the notification next" }).click();
    await told.getByText("Only your agents are told").waitFor();
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
