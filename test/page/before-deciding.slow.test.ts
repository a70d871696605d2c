/** The execution of a call that waits, in a real browser with a real program: the calls before it, and the decision beside them. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser, Page } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage } from "../support/browser.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { fixture } from "../support/servers.ts";
import { scrollWidth } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const program = "// Cleans up\nawait seen.wait({ ms: 7 });\nawait seen.refuse({});\nreturn 1;\n";

describe.skipIf(chromiumPath === undefined)(`before a decision, in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  let running: Bun.Subprocess | undefined;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    running?.kill();
    await running?.exited;
    await scene[Symbol.asyncDispose]();
  });

  /** Runs the program until its second call waits for approval, and opens the page. */
  async function waiting(...args: string[]) {
    const server = { ...fixture("seen", "before-deciding"), confirm: { refuse: "always" } };
    scene = await Scene.open({}, JSON.stringify({ mcpServers: { seen: server } }));
    running = Bun.spawn([...claudikinsCommand, "exec", "--config", scene.config, ...args, "-e", program], {
      cwd: scene.folder.path,
      env: { ...scene.env, CI: "true", CLAUDIKINS_DAEMON: "off", CLAUDIKINS_KEYCHAIN: "off" },
      stdio: ["ignore", "ignore", "ignore"],
    });
    await eventually(async () => (await scene.approvals.open()).length === 1, { withinMs: 20_000 });
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce" });
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator(".approval").waitFor();
    return opened;
  }

  const showCalls = (page: Page) => page.getByRole("button", { name: /^execution / }).click();
  const calls = (page: Page) => page.locator(".call-list .call");

  test("the arguments and answers of the calls so far can be read, if they are recorded", async () => {
    await using opened = await waiting("--record");
    const { page } = opened;
    await showCalls(page);
    await calls(page).nth(1).waitFor();
    expect(await page.locator(".detail").innerText()).not.toContain("not recorded");
    const [first, second] = [calls(page).first(), calls(page).nth(1)];
    expect(await second.innerText()).toContain("has no answer yet");
    await first.getByText("Arguments and answer").click();
    expect(await first.locator("pre").allInnerTexts()).toEqual(['{\n  "ms": 7\n}', "waited"]);
    await first.getByRole("button", { name: "line 2" }).click();
    expect(await page.evaluate("document.activeElement.id")).toBe("line-2");
    expect(await axeFindings(page)).toEqual([]);
  });

  test("a program that is not recorded says so, and how to record the next one", async () => {
    await using opened = await waiting();
    const { page } = opened;
    await showCalls(page);
    await calls(page).nth(1).waitFor();
    expect(await page.getByText("Arguments and answer", { exact: true }).count()).toBe(0);
    expect(await page.locator(".detail").innerText()).toContain(
      'Arguments and answers are not recorded. To have them next time: "record": "contents" in the config, or exec --record, serve --record.',
    );
  });

  for (const width of [1280, 390]) {
    test(`the call is decided beside its execution, and a button leads back to its card, ${width} pixels wide`, async () => {
      await using opened = await waiting("--record");
      const { page } = opened;
      await page.setViewportSize({ width, height: 800 });
      expect(await page.locator(".approval .card-title").innerText()).toBe("Cleans up");
      await showCalls(page);
      const detail = page.locator(".detail");
      await detail.getByRole("button", { name: "Back to the call" }).click();
      await eventually(() => page.evaluate("document.activeElement.classList.contains('approval')"));
      await showCalls(page);
      // A dry run needs the daemon, which a page of a test does not have.
      const execution = await scene.record({ dryRun: true });
      await page.route("**/again", (route) => route.fulfill({ json: { execution } }));
      await detail.getByRole("button", { name: "Dry run" }).click();
      await detail.getByRole("button", { name: "Back to the execution before" }).click();
      await detail.getByRole("button", { name: "Approve once" }).waitFor();
      expect(await page.evaluate(scrollWidth)).toBeLessThanOrEqual(width);
      expect(await axeFindings(page)).toEqual([]);
      await detail.getByRole("button", { name: "Deny because" }).click();
      await detail.getByLabel("Reason").fill("not these");
      await detail.getByRole("button", { name: "Deny the call" }).click();
      await detail.locator(".approval").waitFor({ state: "detached" });
      const [decided] = await scene.approvals.list();
      expect(decided).toMatchObject({ state: "denied", decidedBy: "page", reason: "not these" });
      await detail.getByRole("button", { name: "Back to Now" }).click();
      await page.getByText("Nothing waits.").waitFor();
    });
  }
});
