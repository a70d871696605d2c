/** The first visit: a home without a config, its first program, and the import of an agent's servers, in a real browser on a real daemon. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { claudikinsCommand } from "../support/command.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { scrollWidth } from "./in-browser.js";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`a first visit in Chromium${browserNote}`, () => {
  let browser: Browser;
  let folder: TemporaryFolder;
  let env: Record<string, string>;
  let config: string;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    folder = temporaryFolder();
    const runtime = join(folder.path, "runtime");
    mkdirSync(runtime, { mode: 0o700 });
    env = testEnvironment({
      HOME: join(folder.path, "home"),
      XDG_RUNTIME_DIR: runtime,
      XDG_DATA_HOME: join(folder.path, "data"),
      XDG_CONFIG_HOME: join(folder.path, "config"),
      CLAUDIKINS_DAEMON: "on",
    });
    config = join(folder.path, "config", "claudikins", "claudikins.json");
    mkdirSync(join(folder.path, "home"), { recursive: true });
  });
  afterEach(async () => {
    await claudikins("daemon", "stop", "--all", "--now");
    const left = await processesLeft(folder.path);
    for (const pid of left) process.kill(pid, "SIGKILL");
    folder[Symbol.dispose]();
    expect(left).toEqual([]);
  });

  const claudikins = (...args: string[]) =>
    runProgram([...claudikinsCommand, ...args], { cwd: join(folder.path, "home"), env });

  async function visit(width = 1280): Promise<WatchedPage> {
    const { stdout, stderr } = await claudikins("ui", "--json");
    if (stdout === "") throw new Error(stderr);
    const opened = await openPage(browser, JSON.parse(stdout).url, { viewport: { width, height: 800 } });
    opened.page.setDefaultTimeout(20_000);
    await opened.page.getByRole("heading", { name: "First steps" }).waitFor();
    return opened;
  }

  test("runs a first program with the demo, shows its result, and leads to its calls", async () => {
    await using opened = await visit(390);
    const { page } = opened;
    expect(await page.evaluate(scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Run it" }).click();
    const result = page.locator(".steps .arguments");
    await result.waitFor();
    const lines = JSON.parse(await result.innerText()) as string[];
    expect(lines).toHaveLength(3);
    expect(lines.every((line) => /^\w\w: \d+$/.test(line))).toBe(true);
    await page.getByRole("button", { name: "Show its calls" }).click();
    await page.locator(".call-list").getByText("list_orders").first().waitFor();
    expect(existsSync(config)).toBe(false);
    expect(opened.said).toEqual([]);
  });

  test("imports the servers of an agent as they were shown, without secrets on the page, and leads to the page of the new config", async () => {
    const secret = "ghp_0123456789abcdefghij0123456789abcdef";
    const { command, args = [] } = fixture("seen", folder.path) as { command: string; args?: string[] };
    const entry = { command, args, env: { GITHUB_TOKEN: secret } };
    const settings = folder.write("home/.cursor/mcp.json", { mcpServers: { seen: entry } });
    await using opened = await visit();
    const { page } = opened;
    await page.getByRole("button", { name: "Import from my agents" }).click();
    await page.getByText("1 server would be written to").waitFor();
    await page.getByText("The change of each file").click();
    const shown = (await page.locator(".import").innerText()) ?? "";
    expect(shown).toContain("seen from cursor");
    expect(shown).toContain('+     "seen": {');
    expect(shown).toContain("***");
    expect(shown).not.toContain(secret);
    expect(existsSync(config)).toBe(false);

    // Another server appears after the plan was shown.
    const changed = { mcpServers: { seen: entry, other: { command: "evil" } } };
    folder.write("home/.cursor/mcp.json", changed);
    await page.getByLabel("And put claudikins in the place").uncheck();
    await page.getByRole("button", { name: "Import 1 server" }).click();
    await page.getByText("The files have changed since the import was shown").waitFor();
    expect(existsSync(config)).toBe(false);

    folder.write("home/.cursor/mcp.json", { mcpServers: { seen: entry } });
    const before = readFileSync(settings, "utf8");
    await page.getByRole("button", { name: "Import 1 server" }).click();
    await page.getByRole("link", { name: "Open the page of your config" }).click();
    await page.getByRole("heading", { name: "Waiting for approval" }).waitFor();
    expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0);
    await page.keyboard.press("3");
    await page.getByRole("heading", { name: "seen" }).waitFor();
    expect(JSON.parse(readFileSync(config, "utf8")).mcpServers.seen.env).toEqual({ GITHUB_TOKEN: secret });
    expect(readFileSync(settings, "utf8")).toBe(before);
  });

  test("puts claudikins in the place of an agent's servers if that is wanted, and restore brings them back", async () => {
    const entry = fixture("seen", folder.path);
    const settings = folder.write("home/.cursor/mcp.json", { mcpServers: { seen: entry } });
    await using opened = await visit();
    const { page } = opened;
    await page.getByRole("button", { name: "Import from my agents" }).click();
    await page.getByRole("button", { name: "Import 1 server" }).click();
    await page.getByText("Restart cursor").waitFor();
    expect(Object.keys(JSON.parse(readFileSync(settings, "utf8")).mcpServers)).toEqual(["claudikins"]);
    expect((await claudikins("restore")).exitCode).toBe(0);
    expect(JSON.parse(readFileSync(settings, "utf8")).mcpServers).toEqual({ seen: entry });
  });

  test("adds a first server, which makes the user's config", async () => {
    await using opened = await visit();
    const { page } = opened;
    const { command, args = [] } = fixture("seen", folder.path) as { command: string; args?: string[] };
    await page.getByRole("button", { name: "Add a server" }).click();
    await page.getByRole("radio", { name: "Command" }).check();
    await page.getByLabel("Name").fill("mine");
    await page
      .getByLabel("Command", { exact: true })
      .last()
      .fill([command, ...args].join(" "));
    await page.locator(".steps form button[type=submit]").click();
    await page.getByRole("heading", { name: "First steps" }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Waiting for approval" }).waitFor();
    expect(Object.keys(JSON.parse(readFileSync(config, "utf8")).mcpServers)).toEqual(["mine"]);
  });
});
