/** The page in a real browser: every action, two browsers at once, hostile texts, the keyboard, and every width. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { callOf } from "../programs/trace/records.ts";
import { auditLines } from "../support/audit.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { allHostile, obeyed } from "../support/hostile-text.ts";
import { oauthFixture } from "../support/oauth.ts";
import { redirectOf } from "../support/sign-in.ts";
import { breakIn, ground, isHacked, scrollWidth, tooFaint } from "./in-browser.js";
import { Scene, type SceneServer } from "./scene.ts";

setDefaultTimeout(60_000);

const github: SceneServer = {
  entry: { command: "github-mcp" },
  tools: [
    { name: "list_issues", description: "List the issues.", annotations: { readOnlyHint: true } },
    { name: "merge", description: "Merge a pull request.", annotations: { destructiveHint: true } },
  ],
};

describe.skipIf(chromiumPath === undefined)(`the page in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({ github });
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(options: BrowserContextOptions = {}, url = scene.url): Promise<WatchedPage> {
    const opened = await openPage(browser, url, { reducedMotion: "reduce", ...options });
    // A failure is reported while the browser is still open.
    opened.page.setDefaultTimeout(15_000);
    await opened.page.locator("main").waitFor();
    return opened;
  }

  const cards = (page: Page) => page.locator(".card:not(.trouble)");
  const notice = (page: Page) => page.locator(".notice p").innerText();
  const until = async (what: () => Promise<boolean>) => {
    for (const deadline = performance.now() + 15_000; !(await what()); await Bun.sleep(20)) {
      if (performance.now() > deadline) throw new Error(`it did not happen: ${what}`);
    }
  };

  describe("opening", () => {
    test("keeps the token out of the address, the history, the document and what it stores; nothing is loaded from elsewhere", async () => {
      const { url } = scene;
      await using opened = await open({}, url);
      const { page, said, requests } = opened;
      const token = new URL(url).hash.slice(1);
      expect(page.url()).toBe(url.split("#")[0]!);
      const seen = await page.evaluate(
        "JSON.stringify([history.length, document.cookie, document.documentElement.outerHTML, {...localStorage}, {...sessionStorage}])",
      );
      expect(seen).not.toContain(token);
      expect(JSON.parse(seen as string).slice(0, 2)).toEqual([2, ""]);
      expect(requests.filter((each) => !each.startsWith(url.split("#")[0]!))).toEqual([]);
      expect(requests.some((each) => each.includes(token))).toBe(false);
      expect(said).toEqual([]);
    });

    test("lasts over a reload, in this browser only", async () => {
      await using opened = await open();
      await opened.page.reload();
      await opened.page.getByRole("heading", { name: "Waiting for approval" }).waitFor();
      await using other = await open({}, opened.page.url());
      expect(await other.page.locator("main").innerText()).toBe("claudikins\n\nOpen this page with:\n\nclaudikins ui");
      expect(await other.page.locator(".card, nav").count()).toBe(0);
    });

    test("with a used token closes both pages and says so", async () => {
      const { url } = scene;
      await using first = await open({}, url);
      await using second = await open({}, url);
      expect(await second.page.locator("main").innerText()).toContain("This address was already used");
      await first.page.getByText("The session of this page has ended").waitFor();
    });

    test("gives injected code nothing: no script runs and no request leaves", async () => {
      await using opened = await open();
      const before = opened.requests.length;
      const caught = await opened.page
        .evaluate(breakIn, "https://evil.example/")
        .catch((error: Error) => `refused: ${error.message.split("\n")[0]}`);
      expect(caught).toMatch(/TrustedScript|Failed to fetch/);
      expect(await opened.page.evaluate(isHacked)).toBe(false);
      expect(opened.requests.slice(before).filter((each) => each.includes("evil"))).toEqual([]);
    });
  });

  describe("an approval", () => {
    test("shows server, tool, the reason, the line of the code and all arguments", async () => {
      await scene.ask({
        changed: ["its description", "its arguments"],
        args: { id: 412, how: { squash: true } },
        execution: "0tqbch4mza",
      });
      await using opened = await open();
      const card = cards(opened.page);
      expect(await card.locator("h3").innerText()).toBe("github.merge");
      expect(await card.locator(".code").innerText()).toBe("3\nawait github.merge({ id: 1 })");
      expect(await card.locator(".arguments").innerText()).toBe(
        '{\n  "id": 412,\n  "how": {\n    "squash": true\n  }\n}',
      );
      const text = await card.innerText();
      expect(text).toContain('You are asked because:\npolicy.confirm says "always"');
      expect(text).toContain("The tool has changed since you allowed it. Your earlier approval no longer applies.");
      expect(await card.locator(".warning blockquote").innerText()).toBe("its description, its arguments");
      expect(text).toMatch(/asked .+ · expires in (?:60|59\.\d) min\n/);
      expect(await card.getByRole("button", { name: "execution ch4mza" }).getAttribute("title")).toBe("0tqbch4mza");
      expect(await opened.page.title()).toBe("(1) claudikins");
    });

    const decisions = [
      ["Approve once", { state: "approved", scope: "once", decidedBy: "page" }, "Approved once: github.merge"],
      [
        "Allow for this program",
        { state: "approved", scope: "program", decidedBy: "page" },
        "Approved for the program: github.merge",
      ],
      [
        "Allow for the session",
        { state: "approved", scope: "session", decidedBy: "page" },
        "Approved for the session: github.merge",
      ],
      ["Deny", { state: "denied", scope: null, decidedBy: "page" }, "Denied: github.merge"],
    ] as const;
    test.each(decisions)("is decided with the button %p", async (name, row, says) => {
      const id = await scene.ask();
      await using opened = await open();
      await opened.page.getByRole("button", { name, exact: true }).click();
      await cards(opened.page).waitFor({ state: "detached" });
      expect((await scene.rows(id))[0]).toMatchObject(row);
      expect(auditLines(scene.env)).toMatchObject([{ decision: row.state, approval: id, by: { place: "page" } }]);
      expect(await notice(opened.page)).toBe(says);
      const holds = { once: "approved once", program: "approved for the program", session: "approved for the session" };
      const shown = row.scope === null ? row.state : holds[row.scope];
      expect(await opened.page.locator(".decided").textContent()).toContain(shown);
      expect(await opened.page.title()).toBe("claudikins");
    });

    test("can be denied with everything else that its execution asks", async () => {
      const [one, other, foreign] = [
        await scene.ask(),
        await scene.ask({ tool: "list", call: 2 }),
        await scene.ask({ execution: "e2" }),
      ];
      await using opened = await open();
      const card = cards(opened.page).first();
      await card.getByRole("button", { name: "Deny because" }).click();
      await card.getByRole("checkbox").check();
      await card.getByRole("button", { name: "Deny all" }).click();
      await until(async () => (await cards(opened.page).count()) === 1);
      expect((await scene.rows(one, other, foreign)).map((row) => row.state)).toEqual(["denied", "denied", "open"]);
    });

    test("appears without a reload, and disappears when it is decided elsewhere", async () => {
      await using opened = await open();
      expect(await cards(opened.page).count()).toBe(0);
      const id = await scene.ask();
      await cards(opened.page).waitFor();
      await scene.approvals.decide(id, { state: "denied", by: "command" });
      await cards(opened.page).waitFor({ state: "detached" });
      await opened.page.locator(".decided summary").click();
      expect(await opened.page.locator(".decided").innerText()).toContain("by command");
    });

    test("decided in one browser disappears in the other, and a second decision is refused with the reason", async () => {
      const id = await scene.ask();
      await using first = await open();
      await using second = await open();
      // The second page does not hear of the decision in time.
      await second.page.route("**/api/events", (route) => route.abort());
      await second.page.route("**/api/state", (route) => route.abort());
      await first.page.getByRole("button", { name: "Approve once" }).click();
      await cards(first.page).waitFor({ state: "detached" });
      await second.page.evaluate(
        `window.answer = fetch("api/approvals/${id}", { method: "POST", headers: { "content-type": "application/json", "claudikins-ui": "1" }, body: '{"decision":"deny"}' }).then(async (answer) => [answer.status, (await answer.json()).error])`,
      );
      expect(await second.page.evaluate("window.answer")).toEqual([
        409,
        "Nothing was changed: this approval was already approved on a page",
      ]);
      expect((await scene.rows(id))[0]).toMatchObject({ state: "approved", scope: "once" });
      await second.page.unrouteAll();
      await cards(second.page).waitFor({ state: "detached" });
    });

    test("under the pointer for a moment only is not decided by a click that was meant for another", async () => {
      const [first, second] = [await scene.ask(), await scene.ask({ call: 2 })];
      await using opened = await open();
      await until(async () => (await cards(opened.page).count()) === 2);
      const button = cards(opened.page).last().getByRole("button", { name: "Approve once" });
      await button.waitFor();
      // Both happen before the person can see it.
      await opened.page.evaluate(
        `new MutationObserver((_, observer) => {
          if (document.querySelectorAll(".card").length > 1) return;
          observer.disconnect();
          document.querySelector(".card .primary").click();
        }).observe(document.body, { childList: true, subtree: true })`,
      );
      await scene.approvals.decide(first, { state: "approved", scope: "once", by: "command" });
      await opened.page.getByText("The list has just moved. Press again.").waitFor();
      expect((await scene.rows(second))[0]?.state).toBe("open");
    });

    test("with arguments of a megabyte shows all of them", async () => {
      const args = { first: 1, long: "x".repeat(1_000_000), last: "the end" };
      await scene.ask({ args });
      await using opened = await open();
      const whole = JSON.stringify(args, null, 2);
      await opened.page.getByText(`${whole.length.toLocaleString("en")} characters, all of them in the box.`).waitFor();
      expect(await opened.page.locator(".long-text").textContent()).toBe(args.long);
      await opened.page.getByRole("button", { name: "Text", exact: true }).click();
      expect(await opened.page.locator(".arguments").textContent()).toBe(whole);
    });

    test("is no longer offered when it expires", async () => {
      const id = await scene.ask();
      await using opened = await open();
      await cards(opened.page).waitFor();
      await scene.expire(id);
      await cards(opened.page).waitFor({ state: "detached" });
    });
  });

  test("an execution is listed when it ends, with a link to its timeline", async () => {
    await using opened = await open();
    const { page } = opened;
    await page.getByText("Nothing has run yet").waitFor();
    const id = await scene.record({ ok: false, reason: "timeout", calls: 3, failures: 1, startedBy: "serve" });
    const row = page.locator(".rows .row");
    await row.waitFor();
    expect(await row.innerText()).toMatch(/3 calls: orders\s+timed out · an agent\s+just now\s+500 ms/);
    await row.click();
    const link = page.getByRole("link", { name: "Timeline" });
    const [timeline] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await timeline.waitForLoadState();
    expect(timeline.url()).toBe(`${page.url()}trace/${id}`);
    expect(await timeline.title()).toBe("3 calls in 500 ms · claudikins execution");
    // Its script runs, and without an origin it can do nothing here.
    expect(await timeline.locator("#theme").isVisible()).toBe(true);
    expect(await timeline.evaluate("self.origin")).toBe("null");
  });

  test("executions that run, sleep or wait for approval come first, and can be cancelled", async () => {
    const now = Date.now();
    const source = (id: string) => `await step("${id}");\nreturn 1`;
    await scene.keep("runs", source("runs"), { startedAt: now - 1_000 });
    await scene.keep("sleeps", source("sleeps"), { startedAt: now - 2_000, wakeAt: Date.UTC(2030, 1, 1) });
    await scene.keep("asks", source("asks"), { startedAt: now - 3_000 });
    await scene.keep("ended", source("ended"), { startedAt: now - 4_000 });
    scene.executions!.fail("ended");
    await scene.ask({ execution: "asks" });
    await scene.record({ at: now - 10_000 });
    await using opened = await open();
    const { page } = opened;
    const rows = page.locator("section[aria-labelledby=executions] .row");
    await until(async () => (await rows.count()) === 5);
    const words = async () =>
      (await page.locator("section[aria-labelledby=executions] .outcome").allInnerTexts()).map(
        (text) => text.split(" until")[0]!,
      );
    expect(await words()).toEqual(["running", "waits", "waits for you", "failed", "done"]);
    expect(await rows.first().locator(".row-title").textContent()).toBe('await step("runs");');
    const cancel = page.getByRole("button", { name: "Cancel" }).first();
    await cancel.click();
    expect(scene.executions!.get("runs")?.isCancelled).toBe(false);
    await page.getByRole("button", { name: "Really cancel?" }).click();
    await page.getByText("Cancelled the execution runs").waitFor();
    // Its process cancels it.
    expect(scene.executions!.get("runs")?.isCancelled).toBe(true);
  });

  describe("the policy of a tool", () => {
    const text = `{
  // My servers.
  "mcpServers": {
    "github": { "command": "github-mcp" }, // the main one
  },
}
`;
    const config = () => readFileSync(scene.config, "utf8");
    beforeEach(async () => {
      await scene[Symbol.asyncDispose]();
      scene = await Scene.open({ github }, text);
    });

    test("is written to the config, which keeps its comments and formatting", async () => {
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("3");
      const merge = page.getByLabel("State of github.merge");
      await merge.selectOption("deny");
      await page.getByText("Saved in the config: github.merge is denied").waitFor();
      expect(auditLines(scene.env).at(-1)).toMatchObject({
        decision: "policy",
        config: scene.config,
        changes: [{ at: "mcpServers.github.deny", after: '["merge"]' }],
        by: { place: "page" },
      });
      await until(async () => (await merge.inputValue()) === "deny");
      expect(config()).toBe(text.replace('"github-mcp" }', '"github-mcp", "deny": ["merge"] }'));
      await merge.selectOption("allow");
      await page.getByText("Saved in the config: github.merge may be called without a question").waitFor();
      expect(config()).toBe(text);
      await merge.selectOption("ask");
      await page.getByText("Saved in the config: github.merge waits for a person at each call").waitFor();
      expect(config()).toBe(text.replace('"github-mcp" }', '"github-mcp", "confirm": {"merge":"always"} }'));
      await page.getByLabel("State of github.list_issues").selectOption("ask");
      await until(async () => /"merge":"always", ?"list_issues": ?"always"/.test(config()));
    });

    test("has doors, rules, labels and edits in a view of its own, where they are added and removed", async () => {
      await using opened = await open();
      await using other = await open();
      const { page } = opened;
      const tab = (name: string, on = page) => on.locator(".tabs").getByRole("button", { name, exact: true }).click();
      for (const each of [page, other.page]) {
        await each.keyboard.press("5");
        await tab("Doors", each);
      }
      const part = (title: string) => page.getByRole("region", { name: title, exact: true });
      const remove = async (title: string) => {
        await part(title).getByRole("button", { name: "Remove" }).click();
        await part(title).getByRole("button", { name: "Really remove it?" }).click();
      };
      await part("Doors").getByText("Add a door").click();
      await part("Doors").getByLabel("Name of the door").fill("qa");
      await part("Doors").getByLabel("github").check();
      await part("Doors").getByRole("button", { name: "Add the door" }).click();
      await page.getByText("Made the door qa").waitFor();
      // The other page shows it, too.
      await other.page.getByRole("region", { name: "Doors", exact: true }).getByText("none on this machine").waitFor();
      await tab("Rules");
      await part("Rules").getByText("Add a rule").click();
      await part("Rules").getByLabel("Tool").fill("merge");
      await part("Rules").getByLabel("Rule", { exact: true }).selectOption("always");
      await part("Rules").getByRole("button", { name: "Add the rule" }).click();
      await part("Rules").getByText("always asks").first().waitFor();
      await part("Labels").getByText("Label a tool").click();
      await part("Labels").getByLabel("Tool").fill("list_issues");
      await part("Labels").getByRole("button", { name: "Label the tool" }).click();
      await page.getByText("Labelled github.list_issues").waitFor();
      await part("Edits of tools").getByText("Edit a tool").click();
      await part("Edits of tools").getByLabel("Tool").fill("merge");
      await part("Edits of tools").getByLabel("Name for agents").fill("join");
      await part("Edits of tools").getByRole("button", { name: "Save the edit" }).click();
      await page.getByText("Edited github.merge").waitFor();
      expect(Bun.JSONC.parse(config())).toMatchObject({
        mcpServers: { github: { confirm: { merge: "always" }, labels: { list_issues: ["untrusted"] } } },
        doors: { qa: { servers: ["github"] } },
        tools: { "github.merge": { name: "join" } },
      });
      for (const title of ["Rules", "Labels", "Edits of tools", "Doors"]) {
        if (title === "Doors") await tab("Doors");
        await remove(title);
        await part(title).locator(".empty").waitFor();
      }
      expect(config()).toBe(text);
      expect(opened.said).toEqual([]);
    });

    test("is shown without a reload when it is changed elsewhere", async () => {
      await using one = await open();
      await using other = await open();
      for (const { page } of [one, other]) await page.keyboard.press("3");
      await one.page.getByLabel("State of github.merge").selectOption("ask");
      await until(async () => (await other.page.getByLabel("State of github.merge").inputValue()) === "ask");
    });

    test("is not written if another line of the config has precedence, and the page says which", async () => {
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("3");
      const merge = page.getByLabel("State of github.merge");
      await merge.selectOption("deny");
      await page.getByText("Saved in the config: github.merge is denied").waitFor();
      const stricter = config().replace("},\n}", '},\n  "policy": { "deny": ["github.m*"] },\n}');
      scene.folder.write(".config/claudikins/claudikins.json", stricter);
      await page.getByText('It is denied in the config by mcpServers.github.deny[0], "merge"').waitFor();
      await merge.selectOption("allow");
      await page.locator(".notice.failure").waitFor();
      expect(await notice(page)).toContain(
        'github.merge stays switched off: it is denied in the config by policy.deny[0], "github.m*"',
      );
      expect(config()).toBe(stricter);
    });

    test("is written to the new file if the file was changed meanwhile", async () => {
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("3");
      const changed = text.replace("My servers", "Our servers");
      scene.folder.write(".config/claudikins/claudikins.json", changed);
      await page.getByLabel("State of github.merge").selectOption("deny");
      await page.getByText("Saved in the config").waitFor();
      expect(config()).toBe(changed.replace('"github-mcp" }', '"github-mcp", "deny": ["merge"] }'));
    });

    test("can be changed too if the entry denies the tool and nobody has listed it", async () => {
      const withPolicy = text.replace("},\n}", '},\n  "policy": { "deny": ["*.drop_*"] },\n}');
      scene.folder.write(
        ".config/claudikins/claudikins.json",
        withPolicy.replace('"github-mcp" }', '"github-mcp", "deny": ["delete_*"] }'),
      );
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("3");
      await page.locator(".patterns").waitFor();
      expect(await page.locator(".patterns li").allInnerTexts()).toEqual([
        'delete_* mcpServers.github.deny[0], "delete_*"\nAllow',
        'drop_* policy.deny[0], "*.drop_*"',
      ]);
      await page.locator(".patterns").getByRole("button", { name: "Allow" }).click();
      await page.getByRole("button", { name: "Allow", exact: true }).waitFor({ state: "detached" });
      expect(config()).toBe(withPolicy);
    });
  });

  describe("saved programs", () => {
    const programs = (page: Page) => page.locator("section[aria-labelledby=programs]");
    const details = (page: Page) => page.locator("section[aria-labelledby=program]");

    test("are listed with what they do, may call and have done; without any, the page says how to save one", async () => {
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("4");
      await page.getByText("No program is saved yet.").waitFor();
      await scene.program({ name: "count" });
      await scene.program({ name: "other", savedBy: "agent", description: "Does something else." });
      await scene.record({ program: "count", ok: false, reason: "timeout" });
      await programs(page).getByText("timed out").waitFor();
      expect(await programs(page).locator(".row").allInnerTexts()).toEqual([
        expect.stringMatching(/count\s+timed out/),
        expect.stringMatching(/other\s+not run yet/),
      ]);
      const text = await details(page).innerText();
      for (const each of ["Counts the issues of a month.", "programs.count({ month })", "github.list_issues", "by you"])
        expect(text).toContain(each);
      expect(await details(page).getByRole("button", { name: "Show", exact: true }).count()).toBe(1);
      await details(page).getByText("Code", { exact: true }).click();
      await details(page).getByText("return (await github.list_issues({ month: input.month })).length;").waitFor();
      await programs(page).locator(".row").first().focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await details(page).getByText("Does something else.").waitFor();
    });

    test("are scheduled with the input of the form, unscheduled and removed; a mistake is explained", async () => {
      await scene.program({ name: "count" });
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("4");
      const add = page.getByRole("button", { name: "Schedule with this input" });
      await page.getByText("Run it at a time").click();
      await page.getByText("Fill in above first: month").waitFor();
      expect(await add.isDisabled()).toBe(true);
      // The keys of views are texts in a field.
      await page.getByRole("textbox", { name: "month text" }).pressSequentially("2026-1");
      await page.getByLabel("How often").selectOption("by a cron expression");
      await page.getByRole("textbox", { name: "When" }).fill("at dawn");
      await add.click();
      await page.locator(".notice.failure").waitFor();
      expect(await notice(page)).toContain('"at dawn" is not a cron expression');
      await page.getByRole("textbox", { name: "When" }).fill("0 8 * * 1-5");
      await page.getByLabel("Time zone").fill("Asia/Tokyo");
      await add.click();
      await page.getByText("Scheduled count. It runs next at").waitFor();
      await page.getByText("They run while the daemon runs").waitFor();
      expect(scene.schedules().all()).toMatchObject([{ id: "count", zone: "Asia/Tokyo", input: { month: "2026-1" } }]);
      const end = details(page).getByRole("button", { name: "Unschedule" });
      await end.click();
      await page.getByRole("button", { name: "Really end it?" }).click();
      await page.getByText("Ended the schedule count").waitFor();
      await details(page).getByRole("button", { name: "Remove" }).click();
      expect(scene.programs().names()).toEqual(["count"]);
      await page.getByRole("button", { name: "Really remove it?" }).click();
      await page.getByText("No program is saved yet.").waitFor();
      expect([scene.programs().names(), scene.schedules().ids()]).toEqual([[], []]);
    });

    test("are scheduled at usual times without knowledge of cron", async () => {
      await scene.program({ name: "count", input: { type: "object" } });
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("4");
      await page.getByText("Run it at a time").click();
      const add = async (often: string, at: string, id: string, day?: string) => {
        await page.getByLabel("How often").selectOption(often);
        if (day !== undefined) await page.locator(".times-fields select").nth(1).selectOption(day);
        await page.locator("input[type=time]").fill(at);
        await page.getByLabel("Name of the schedule").fill(id);
        await page.getByRole("button", { name: "Schedule it" }).click();
        await details(page).locator(".lines strong", { hasText: id }).waitFor();
      };
      await add("every day", "08:00", "a");
      await add("from Monday to Friday", "17:30", "b");
      await add("every week", "09:05", "c", "Sunday");
      await add("every month", "06:00", "d");
      await add("every hour", "00:15", "e");
      const crons = scene.schedules().all() as { id: string; cron: string }[];
      expect(crons.map(({ cron }) => cron)).toEqual([
        "0 8 * * *",
        "30 17 * * 1-5",
        "5 9 * * 0",
        "0 6 1 * *",
        "15 * * * *",
      ]);
      await details(page).getByText("at 17:30, Monday through Friday").waitFor();
      expect(await axeFindings(page)).toEqual([]);
    });

    test("have failures at their times and missed times on the first view, with a button that leads to the program", async () => {
      await scene.program({ name: "count" });
      await scene.program({ name: "other" });
      for (const id of ["count", "other"]) await scene.schedule({ id });
      await using opened = await open();
      const { page } = opened;
      expect(await page.getByRole("heading", { name: "Scheduled programs" }).count()).toBe(0);
      const run = {
        due: 1,
        startedAt: Date.now(),
        missed: 2,
        end: { at: 4, ok: false, message: "shop is signed out" },
      };
      await scene.schedules().note("other", (now) => ({ ...now, lastRun: run }));
      const trouble = page.locator(".card.trouble");
      await trouble.waitFor();
      expect(await trouble.innerText()).toMatch(
        /other\s+failed just now, after 2 missed times\nIts error:\nshop is signed out/,
      );
      expect(await page.getByRole("button", { name: "Programs" }).locator(".count").innerText()).toBe("1");
      await trouble.getByRole("button", { name: "Show the program" }).click();
      expect(await details(page).locator("h2").innerText()).toBe("other");
      await scene
        .schedules()
        .note("other", (now) => ({ ...now, lastRun: { ...run, missed: 0, end: { at: 5, ok: true } } }));
      await page.getByRole("button", { name: "Programs" }).locator(".count").waitFor({ state: "detached" });
    });

    test("are made of an execution: what is shown is saved", async () => {
      const text = 'return (await github.list_issues({ month: "2026-10" })).length;';
      const code = { chars: text.length, lines: 1, text };
      await scene.record({ hasContents: true, code, timeline: [] });
      await scene.record({ at: Date.now() - 1_000 });
      await using opened = await open();
      const { page } = opened;
      const rows = page.locator(".rows .row");
      await until(async () => (await rows.count()) === 2);
      await rows.first().focus();
      await page.keyboard.press("Enter");
      const button = page.getByRole("button", { name: "Keep as program" });
      await button.focus();
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog");
      await dialog.getByText(text).waitFor();
      await dialog.getByLabel("Name lower-case").fill("count");
      await dialog.getByLabel("Name of input 1").fill("month");
      await dialog.getByLabel("Value of input 1").fill("2026-11");
      await page.keyboard.press("Enter");
      await dialog.getByText('The code has no value "2026-11" that could become input.month').waitFor();
      await dialog.getByLabel("Value of input 1").fill("2026-10");
      await page.keyboard.press("Enter");
      await dialog.getByText(text.replace('"2026-10"', "input.month")).waitFor();
      expect(await dialog.innerText()).toMatch(/May call\s+github.list_issues[\s\S]*month: text, replaced in 1 place/);
      await dialog.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByText("Saved count. Code calls it as programs.count({ month })").waitFor();
      expect(scene.programs().get("count")).toMatchObject({ savedBy: "user", calls: ["github.list_issues"] });
      await dialog.waitFor({ state: "detached" });
      await details(page).getByRole("heading", { name: "count" }).waitFor();
    });
  });

  describe("a sign-in", () => {
    test("leads to the authorization page in another tab, and the page shows when it is done", async () => {
      await using oauth = await oauthFixture();
      await using signed = await Scene.open({ tracker: { entry: { url: oauth.url }, tools: [] } });
      await using opened = await open({}, signed.url);
      const { page } = opened;
      await page.keyboard.press("3");
      await page.getByRole("button", { name: "Sign in" }).click();
      const link = page.getByRole("link", { name: /Continue at/ });
      await link.waitFor();
      expect(await link.textContent()).toBe(`Continue at ${new URL(oauth.issuer).host}`);
      const [tab] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
      await tab.getByText("You can close this").or(tab.getByRole("heading")).first().waitFor();
      await page.getByText("You are signed in.").waitFor();
      expect(await page.getByRole("button", { name: "Sign in" }).count()).toBe(0);
      const all = (await page.evaluate("document.documentElement.outerHTML")) as string;
      for (const secret of await oauth.secrets()) expect(all).not.toContain(secret);
    });

    test("can be finished with the address that a browser on another machine could not load", async () => {
      await using oauth = await oauthFixture();
      await using signed = await Scene.open({ tracker: { entry: { url: oauth.url }, tools: [] } });
      await using opened = await open({}, signed.url);
      const { page } = opened;
      await page.keyboard.press("3");
      await page.getByRole("button", { name: "Sign in" }).click();
      const to = await page.getByRole("link", { name: /Continue at/ }).getAttribute("href");
      await page.getByText("The browser could not load the last page?").click();
      const field = page.getByLabel("Paste its address");
      await field.fill("http://127.0.0.1:1/callback?code=x&state=y");
      await page.getByRole("button", { name: "Continue" }).click();
      await page.locator(".notice.failure").waitFor();
      expect(await notice(page)).toContain("That is a different address.");
      await field.fill(await redirectOf(to!));
      await page.getByRole("button", { name: "Continue" }).click();
      await page.getByText("You are signed in.").waitFor();
    });

    test("to a server that cannot be reached fails with the reason", async () => {
      await using signed = await Scene.open({ tracker: { entry: { url: "http://127.0.0.1:1/mcp" }, tools: [] } });
      await using opened = await open({}, signed.url);
      const { page } = opened;
      await page.keyboard.press("3");
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.locator(".notice.failure").waitFor();
      expect(await notice(page)).toContain("tracker");
    });
  });

  test("10,000 tools are filtered, and shown in portions", async () => {
    const tools = Array.from({ length: 10_000 }, (_, place) => ({
      name: `tool_${place}`,
      description: `Does ${place}.`,
    }));
    await using many = await Scene.open({ big: { entry: { command: "big" }, tools } });
    await using opened = await open({}, many.url);
    const { page } = opened;
    await page.keyboard.press("3");
    const rows = page.locator(".tool");
    await rows.first().waitFor();
    expect(await rows.count()).toBe(100);
    await page.getByRole("button", { name: "Show more: 100 of 10,000 are shown" }).click();
    expect(await rows.count()).toBe(200);
    await page.keyboard.press("/");
    await page.keyboard.type("9999");
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining("tool_9999")]);
    await page.getByLabel("State of big.tool_9999").selectOption("deny");
    await page.getByText("Saved in the config: big.tool_9999 is denied").waitFor();
  });

  test("hostile names, arguments and descriptions are texts, and what is invisible in them is shown", async () => {
    const html = `<img src=x onerror="window.hacked=1"><script>window.hacked=2</script>&lt;`;
    const name = `${html}${allHostile}`;
    await using hostile = await Scene.open({
      [name]: {
        entry: { command: "x", description: name },
        tools: [{ name, description: name, annotations: { destructiveHint: true } }],
      },
    });
    await hostile.ask({ server: name, tool: name, args: { [name]: name }, why: name, code: name, changed: [name] });
    await hostile.count((counts) =>
      counts.addUse(name, name, {
        calls: 1,
        failures: 0,
        durationMs: 1,
        resultChars: 1,
        takenChars: 1,
        argumentChars: 1,
      }),
    );
    await hostile.program({
      name: "hostile",
      description: name,
      calls: [name],
      code: name,
      input: { type: "object", properties: { [name]: { description: name, examples: [name] } } },
      from: { url: name, commit: name, path: name },
      number: 2,
      changes: [],
    });
    await hostile.schedule({
      id: "hostile",
      cron: name,
      zone: name,
      input: { [name]: name },
      lastRun: { due: 1, startedAt: 1, missed: 1, end: { at: 1, ok: false, message: name } },
    });
    await hostile.record({
      ...{ hasContents: true, code: { chars: name.length, lines: 1, text: name } },
      ...{
        agent: name,
        folder: `/${name}`,
        comment: name,
        timeline: [callOf({ server: name, tool: name })],
      },
    });
    await using opened = await open({}, hostile.url);
    const { page } = opened;
    for (const view of ["1", "2", "3", "4", "5", "6"]) {
      await page.keyboard.press(view);
      await page.locator("bdi", { hasText: "<img src=x" }).first().waitFor();
      const text = (await page.locator("body").textContent()) ?? "";
      expect(text).toContain("\\u202e");
      expect(obeyed(text)).toEqual([]);
      expect(await page.locator("img").count()).toBe(0);
    }
    await page.keyboard.press("4");
    await page.getByText("Code", { exact: true }).click();
    await page.locator("details pre").waitFor();
    await page.keyboard.press("2");
    await page.locator(".activity-row").last().click();
    await page.getByRole("button", { name: "Keep as program" }).click();
    await page.locator("dialog pre").waitFor();
    expect(obeyed((await page.locator("body").textContent()) ?? "")).toEqual([]);
    await page.keyboard.press("Escape");
    expect(await page.evaluate(isHacked)).toBe(false);
    expect(opened.said).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("1");
    await page.getByRole("button", { name: "Approve once" }).click();
    await cards(page).waitFor({ state: "detached" });
    await page.keyboard.press("3");
    await page.locator(".tool select").selectOption("deny");
    await page.getByText("Saved in the config", { exact: false }).waitFor();
    const { mcpServers } = JSON.parse(readFileSync(hostile.config, "utf8"));
    expect(mcpServers[name].deny).toEqual([name]);
  });

  describe("the keyboard", () => {
    const focused = (page: Page) => page.evaluate("document.activeElement.textContent.slice(0, 40)");

    test("is enough to approve and deny: Tab to the list, arrows within it, A, P, S and D for the focused call only", async () => {
      const one = await scene.ask({ tool: "one", call: 1 });
      const two = await scene.ask({ tool: "two", call: 2 });
      const three = await scene.ask({ tool: "three", call: 3 });
      await using opened = await open();
      const { page } = opened;
      await until(async () => (await cards(page).count()) === 3);
      // A call is decided about when all of it is shown.
      await until(async () => (await page.locator(".card button:disabled").count()) === 0);
      // Without focus on a call, the keys do nothing.
      for (const key of ["a", "p", "s", "d"]) await page.keyboard.press(key);
      for (let press = 0; press < 10; press += 1) await page.keyboard.press("Tab");
      expect(await focused(page)).toStartWith("github.one");
      await page.keyboard.press("ArrowDown");
      expect(await focused(page)).toStartWith("github.two");
      await page.keyboard.press("d");
      await until(async () => (await cards(page).count()) === 2);
      expect((await scene.rows(one, two, three)).map((row) => row.state)).toEqual(["open", "denied", "open"]);
      // The focus is on the heading, so that the same key again decides nothing.
      expect(await focused(page)).toStartWith("Waiting for approval");
      await page.keyboard.press("d");
      await page.keyboard.press("Tab");
      await page.keyboard.press("End");
      expect(await focused(page)).toStartWith("github.three");
      await page.keyboard.press("s");
      await until(async () => (await cards(page).count()) === 1);
      expect((await scene.rows(one, three)).map((row) => row.scope)).toEqual([null, "session"]);
    });

    test("changes a policy, and each list has one Tab stop", async () => {
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("3");
      await page.locator(".tool").first().waitFor();
      await page.keyboard.press("/");
      expect(await page.evaluate("document.activeElement.id")).toBe("filter");
      await page.keyboard.press("Tab");
      expect(await focused(page)).toStartWith("list_issues");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      await page.keyboard.press("d");
      await page.getByText("Saved in the config: github.merge is denied").waitFor();
    });

    test("leads to views, servers and programs by a part of their names", async () => {
      await scene.program({ name: "weekly-report" });
      await using opened = await open();
      const { page } = opened;
      const go = async (text: string, ...keys: string[]) => {
        await page.keyboard.press("Control+k");
        await page.keyboard.type(text);
        for (const key of [...keys, "Enter"]) await page.keyboard.press(key);
        await page.getByRole("dialog").waitFor({ state: "hidden" });
        return await page.locator("nav [aria-current]").innerText();
      };
      expect(await go("week")).toStartWith("Programs");
      await page.getByRole("heading", { name: "weekly-report" }).waitFor();
      expect(await go("server git")).toStartWith("Servers");
      await page.getByRole("heading", { name: "github" }).waitFor();
      expect(await go("", "ArrowDown")).toStartWith("Activity");
      await page.keyboard.press("Control+k");
      await page.keyboard.type("<b>nothing</b>");
      await page.getByText("Nothing has this name.").waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press("Escape");
      expect(await page.locator("nav [aria-current]").innerText()).toStartWith("Activity");
    });

    test("has its keys shown with ?, and they can be turned off", async () => {
      const id = await scene.ask();
      await using opened = await open();
      const { page } = opened;
      await page.keyboard.press("?");
      const dialog = page.getByRole("dialog");
      expect(await dialog.innerText()).toContain("Approve the focused call once");
      await dialog.getByRole("checkbox").uncheck();
      await page.keyboard.press("Escape");
      await cards(page).focus();
      for (const key of ["a", "2"]) await page.keyboard.press(key);
      expect(await page.locator("nav [aria-current]").innerText()).toStartWith("Now");
      expect((await scene.rows(id))[0]?.state).toBe("open");
      expect(await page.locator(".key").count()).toBe(4);
    });
  });

  const looks = ["light", "dark"].flatMap((colorScheme) =>
    [360, 1280, 2560].map((width) => [colorScheme, width] as const),
  );
  test.each(looks)(
    "in %s colours and %i pixels nothing is cut off, every text has enough contrast, and axe finds nothing",
    async (colorScheme, width) => {
      await scene.ask({ args: { path: "/a/very/long/path/".repeat(20) }, tool: "a_tool_with_a_long_name_".repeat(4) });
      await scene.record({ hasContents: true });
      await scene.program({
        name: "a-program-with-a-long-name-".repeat(2).slice(0, -1),
        calls: ["a.long_name".repeat(12)],
      });
      const run = { due: 1, startedAt: 1, missed: 2, end: { at: 1, ok: false, message: "long ".repeat(60) } };
      await scene.schedule({
        id: "daily",
        program: "a-program-with-a-long-name-".repeat(2).slice(0, -1),
        lastRun: run,
      });
      await using opened = await open({
        viewport: { width, height: 800 },
        colorScheme: colorScheme as "light" | "dark",
      });
      const { page } = opened;
      await cards(page).first().waitFor();
      expect(await page.evaluate(ground)).toBe(colorScheme === "dark" ? "rgb(19, 20, 22)" : "rgb(247, 246, 243)");
      for (const view of ["1", "2", "3", "4", "5", "6", "7", "8"]) {
        await page.keyboard.press(view);
        await page.waitForTimeout(100);
        const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
        expect([view, ...found]).toEqual([view, width, [], []]);
      }
    },
  );

  test("the page says that the daemon has ended, and offers nothing any more", async () => {
    await scene.ask();
    await using opened = await open();
    const { page } = opened;
    await cards(page).waitFor();
    await scene.server.close();
    await page.getByText("The daemon has ended. What you see is no longer current.").waitFor();
    expect(await page.getByRole("button", { name: "Approve once" }).isEnabled()).toBe(false);
  });

  test("a hidden page keeps no stream open, and is current when it is seen again", async () => {
    await using opened = await open();
    const { page } = opened;
    const answered = page.waitForResponse((response) => response.url().endsWith("api/state"));
    await page.evaluate(
      'Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true }); document.dispatchEvent(new Event("visibilitychange"))',
    );
    await (await answered).finished();
    await scene.ask();
    await Bun.sleep(600);
    expect(await cards(page).count()).toBe(0);
    await page.evaluate(
      'Object.defineProperty(document, "visibilityState", { value: "visible", configurable: true }); document.dispatchEvent(new Event("visibilitychange"))',
    );
    await cards(page).waitFor();
  });
});
