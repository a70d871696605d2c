/** The view System in a real browser: secrets, the audit log and its check, versions, and real daemons. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { version } from "../../src/base/version.ts";
import { secretsFile, storeFile } from "../../src/config/locations.ts";
import { setNamedSecret } from "../../src/config/secrets/change.ts";
import { readSecret, storedSecrets } from "../../src/config/secrets/store.ts";
import type { AuditEvent } from "../../src/store/audit/event.ts";
import { tamper } from "../support/audit.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { claudikinsCommand } from "../support/command.ts";
import { type GeneratedProject, generatedProject } from "../support/daemon.ts";
import { runProgram } from "../support/process.ts";
import { storeEvent } from "../support/stored.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene, type SceneServer } from "./scene.ts";

setDefaultTimeout(60_000);

/** A server that needs a secret. */
const needing = (secret: string): SceneServer => ({
  entry: { command: "x", env: { TOKEN: `\${secret:${secret}}` } },
  tools: [{ name: "list" }],
});

const by = { place: "terminal", user: "ada", pid: 7, terminal: true, parent: "bash" } as const;

/** Opens the view. `prepare` gets the page before the view has asked for anything: later, it asks every five seconds. */
async function show(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
  prepare?: (page: Page) => Promise<unknown>,
): Promise<WatchedPage> {
  const opened = await openPage(browser, url, { reducedMotion: "reduce", ...options });
  opened.page.setDefaultTimeout(15_000);
  await opened.page.locator("main .panel").first().waitFor();
  await prepare?.(opened.page);
  await opened.page.keyboard.press("8");
  await opened.page.getByRole("heading", { name: "Secrets" }).waitFor();
  return opened;
}

describe.skipIf(chromiumPath === undefined)(`the view System in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  describe("with made-up data", () => {
    beforeEach(async () => {
      scene = await Scene.open({ github: needing("GITHUB_TOKEN"), wiki: needing("GITHUB_TOKEN") });
    });
    afterEach(() => scene[Symbol.asyncDispose]());
    const record = (...events: AuditEvent[]) =>
      events.reduce(
        (before, event) => before.then(() => storeEvent(scene.env, event, by, Date.now())),
        Promise.resolve(),
      );
    const open = (options?: BrowserContextOptions) => show(browser, scene.url, options);

    test("a missing secret is set, replaced and removed by the keyboard alone, and its value is never shown or read back", async () => {
      const value = "ghp_0123456789abcdefghij";
      await using opened = await open();
      const { page, said } = opened;
      const texts: Promise<string>[] = [];
      page.on("response", (answer) => texts.push(answer.text().catch(() => "")));
      const secrets = page.getByRole("region", { name: "Secrets" });
      await secrets.getByText("1 secret is not set").waitFor();
      await secrets.getByRole("button", { name: "Set GITHUB_TOKEN" }).focus();
      await page.keyboard.press("Enter");
      // A person does not type before the field has the focus.
      await secrets.getByLabel("Value").and(page.locator(":focus")).waitFor();
      await page.keyboard.type(value);
      expect(await secrets.getByLabel("Value").getAttribute("type")).toBe("password");
      await page.keyboard.press("Enter");
      await page.getByText("Set GITHUB_TOKEN in ~/.local/share/claudikins/secrets.json").waitFor();
      await page.getByText("The keychain is turned off").waitFor();
      await secrets.getByText("in a file that only you can read").waitFor();
      expect(await readSecret("GITHUB_TOKEN", scene.env)).toBe(value);
      expect(await secrets.getByText("is not set").count()).toBe(0);

      await secrets.getByRole("button", { name: "Replace GITHUB_TOKEN" }).click();
      await secrets.getByLabel("Value").fill("another-value");
      await page.keyboard.press("Enter");
      await secrets.getByLabel("Value").waitFor({ state: "detached" });
      expect(await readSecret("GITHUB_TOKEN", scene.env)).toBe("another-value");

      expect(await page.content()).not.toContain(value);
      expect((await Promise.all(texts)).filter((text) => text.includes(value))).toEqual([]);
      expect(said).toEqual([]);
      await secrets.getByRole("button", { name: "Remove" }).click();
      expect(storedSecrets(scene.env)).toHaveLength(1);
      await secrets.getByRole("button", { name: "Really? It is used" }).click();
      await secrets.getByText("1 secret is not set").waitFor();
      expect(storedSecrets(scene.env)).toEqual([]);
    });

    test("a secret is added, a name that no reference can have is refused, and a server that uses one is a press away", async () => {
      await using opened = await open();
      const { page } = opened;
      const secrets = page.getByRole("region", { name: "Secrets" });
      await secrets.getByRole("button", { name: "Add a secret" }).click();
      await page.keyboard.type("not a name");
      await secrets.getByLabel("Value").fill("value-of-new");
      await page.keyboard.press("Enter");
      await page.getByText("This is not a name of a secret").waitFor();
      await secrets.getByLabel("Name", { exact: true }).fill("NEW");
      await secrets.getByLabel("Keep it in a file").check();
      await secrets.getByRole("button", { name: "Set", exact: true }).click();
      await secrets.getByText("No config here uses it").waitFor();
      expect(await readSecret("NEW", scene.env)).toBe("value-of-new");
      await secrets.getByRole("button", { name: "wiki" }).click();
      await page.getByRole("heading", { name: "wiki" }).waitFor();
    });

    test("secrets that cannot be read say so, and the rest of the view works", async () => {
      await setNamedSecret("KEY", "value", { inFile: true, env: scene.env });
      await Bun.write(secretsFile(scene.env), "{");
      await using opened = await open();
      const { page } = opened;
      await page.getByText("The file of secrets is damaged").waitFor();
      await page.getByText("No daemon is running").waitFor();
      await page.getByText("Nothing has been decided yet").waitFor();
    });

    test("the audit log shows its newest entries with their facts, can be narrowed, and leads to the execution", async () => {
      const execution = await scene.record();
      const shown: AuditEvent = { decision: "approved", server: "github", tool: "merge", scope: "session", execution };
      await record(
        shown,
        { decision: "policy", config: scene.config, changes: [{ at: "mcpServers.github.deny", after: '["merge"]' }] },
        ...Array.from({ length: 60 }, (): AuditEvent => ({ decision: "expired", server: "github", tool: "merge" })),
      );
      await using opened = await open();
      const { page } = opened;
      const rows = page.locator(".audit-rows .row");
      await rows.first().waitFor();
      expect(await rows.count()).toBe(50);
      await page.getByRole("button", { name: "Show more" }).click();
      await rows.nth(61).waitFor();
      await page.getByLabel("Decision").selectOption("policy");
      await page.getByText("github.merge is denied (~/.config/claudikins/claudikins.json)").waitFor();
      await rows.nth(1).waitFor({ state: "detached" });
      await rows.focus();
      await page.keyboard.press("Enter");
      await page.getByText('nothing → ["merge"]').waitFor();
      await page.getByLabel("Decision").selectOption("approved");
      await rows.getByText("for the session").waitFor();
      await rows.click();
      await page.getByRole("button", { name: "Show the execution" }).click();
      await page.locator(".detail").waitFor();
    });

    test("a new entry appears without a reload", async () => {
      await using opened = await open();
      await opened.page.getByText("Nothing has been decided yet").waitFor();
      await record({ decision: "trusted", config: "/shop/claudikins.json" });
      await opened.page.locator(".audit-rows").getByText("/shop/claudikins.json").waitFor();
    });

    test("the check of the chain tells its true result, and finds a hash that was noted", async () => {
      await record({ decision: "trusted", config: "/a" }, { decision: "trusted", config: "/b" });
      await using opened = await open();
      const { page } = opened;
      const verify = page.getByRole("button", { name: "Verify the chain" });
      await verify.click();
      await page.getByText("The log holds: 2 entries").waitFor();
      const hash = await page.locator(".checked code").innerText();
      await record({ decision: "trusted", config: "/c" });
      await page.getByText("Compare with a hash that you noted").click();
      await page.getByLabel("SHA-256 of an entry").fill(hash);
      await verify.click();
      await page.getByText("It contains your hash.").waitFor();
      await page.getByLabel("SHA-256 of an entry").fill(`${"0".repeat(63)}1`);
      await verify.click();
      await page.getByText("It does not contain your hash").waitFor();
      tamper(storeFile(scene.env), "UPDATE audit SET line = replace(line, '/b', '/x') WHERE place = 2");
      await page.getByLabel("SHA-256 of an entry").fill("");
      await verify.click();
      await page.getByText("The log holds up to entry 1: entry 2 was changed").waitFor();
    });

    test("a newer version is looked for only if the button is pressed, and is known afterwards", async () => {
      let asked = 0;
      let newest = "99.0.0";
      using releases = Bun.serve({
        port: 0,
        fetch() {
          asked += 1;
          return Response.json({ version: newest });
        },
      });
      await scene[Symbol.asyncDispose]();
      scene = await Scene.open({}, undefined, { CLAUDIKINS_BASE_URL: releases.url.href });
      await using opened = await open();
      const { page } = opened;
      await page.getByText("Nobody has looked for a newer version yet").waitFor();
      await page.waitForTimeout(300);
      expect(asked).toBe(0);
      await page.getByRole("button", { name: "Check for a newer version" }).click();
      await page.getByText("claudikins 99.0.0 is available").waitFor();
      expect(asked).toBe(1);
      await page.keyboard.press("1");
      await page.keyboard.press("8");
      await page.getByText("claudikins 99.0.0 is available").waitFor();
      expect(asked).toBe(1);
      newest = version;
      await page.getByRole("button", { name: "Check for a newer version" }).click();
      await page.getByText("It is the newest version").waitFor();
      newest = "not a version";
      await page.getByRole("button", { name: "Check for a newer version" }).click();
      await page.getByText("release.json does not name a version").waitFor();
    });

    const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
    test.each(looks)(
      "in %s colours and %i pixels it fits, is legible, and axe finds nothing, empty and with hostile names",
      async (scheme, width) => {
        const colours = { viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" };
        const name = `<b>${"long-name-".repeat(12)}\u202e</b>`;
        await scene[Symbol.asyncDispose]();
        scene = await Scene.open({});
        const look = async (what: string, { page, said }: WatchedPage) => {
          const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
          expect([what, ...found, said]).toEqual([what, width, [], [], []]);
          expect(await page.locator("main b").count()).toBe(0);
        };
        {
          await using opened = await open(colours);
          await opened.page.getByText("Nothing has been decided yet").waitFor();
          await look("empty", opened);
        }
        await scene[Symbol.asyncDispose]();
        scene = await Scene.open({ [name]: needing("K".repeat(64)), github: needing("GITHUB_TOKEN") });
        await setNamedSecret("GITHUB_TOKEN", "value", { inFile: true, env: scene.env });
        await record(
          { decision: "denied", server: name, tool: name, why: name },
          { decision: "revoked", person: { id: "0123456789abcdef", name } },
        );
        const daemon = { pid: 4711, version, startedAt: Date.now(), calls: { running: 1, done: 2 }, hasPage: true };
        const daemons = {
          running: [{ ...daemon, config: name, memoryBytes: 9e7, servers: [{ name, pid: 5 }], isOwn: true }],
          silent: [{ pid: 9, config: name, log: name }],
        };
        await using opened = await show(browser, scene.url, colours, (page) =>
          page.route("**/api/daemons", (route) => route.fulfill({ json: daemons })),
        );
        const { page } = opened;
        await page.getByText("It runs, but does not answer").waitFor();
        await page.locator(".audit-rows .row").last().click();
        await page.getByRole("button", { name: "Set KK" }).click();
        await page.getByRole("button", { name: "Verify the chain" }).click();
        await page.getByText("The log holds: 2 entries").waitFor();
        await look("with much", opened);
        expect(await page.locator(".audit-rows").innerText()).toContain("\\u202e");
      },
    );
  });

  describe("with real daemons", () => {
    let project: GeneratedProject;
    beforeEach(async () => {
      project = await generatedProject();
    });
    afterEach(() => project[Symbol.asyncDispose]());

    test("all of them are shown; others are stopped, paused ones ended by force, and the own one ends the page", async () => {
      const other = project.write("other/claudikins.json", readFileSync(project.config, "utf8"));
      const paused = project.write("paused/claudikins.json", readFileSync(project.config, "utf8"));
      const env = { ...project.env, CLAUDIKINS_DAEMON: "on" };
      for (const file of [other, paused]) {
        const call = [...claudikinsCommand, "call", "seen.seen", "--config", file];
        expect((await runProgram(call, { cwd: project.path, env })).exitCode).toBe(0);
      }
      const { stdout } = await project.claudikins("ui", "--json");
      await using opened = await show(browser, JSON.parse(stdout).url);
      const { page } = opened;
      const line = (file: string) => page.getByRole("region", { name: "Daemons" }).locator("li", { hasText: file });
      await line(project.config).getByText("this page").waitFor();
      await line(other).getByText("1 call done").waitFor();
      await line(other).getByText(" MB ").waitFor();
      await line(other).getByText("seen (process").waitFor();

      await line(other).getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Really stop it?" }).click();
      await page.getByText("Stopped daemon").waitFor();
      await line(other).waitFor({ state: "detached" });
      const left = await project.daemons();
      expect(left.map(({ config }) => config).sort()).toEqual([paused, project.config].sort());

      const { pid } = left.find(({ config }) => config === paused)!;
      process.kill(pid, "SIGSTOP");
      await line(paused).getByText("It runs, but does not answer").waitFor();
      await line(paused).getByRole("button", { name: "End by force" }).click();
      await page.getByRole("button", { name: "Really end it by force?" }).click();
      await page.getByText(`Stopped daemon ${pid}`).waitFor();

      await line(project.config).getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Really stop it, and this page?" }).click();
      await page.getByText("The daemon has ended.").waitFor();
      expect(await project.daemons()).toEqual([]);
    });
  });
});
