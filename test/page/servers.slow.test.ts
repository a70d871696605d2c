/** Servers on the page in a real browser: their true states, the repairs, the log, and adding one. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { readSecret, storedSecrets } from "../../src/config/secrets/store.ts";
import { auditLines } from "../support/audit.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const text = (entry: object) =>
  `{\n  // Mine.\n  "mcpServers": { "echo": ${JSON.stringify(entry, null, 1).replace(/\n */g, " ")}, "gone": { "command": "no-such-program-of-ours" } }\n}\n`;

describe.skipIf(chromiumPath === undefined)(`Servers in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({}, text(fixture("echo")));
  });
  afterEach(() => scene[Symbol.asyncDispose]());

  async function open(options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const opened = await openPage(browser, scene.url, { reducedMotion: "reduce", ...options });
    opened.page.setDefaultTimeout(30_000);
    await opened.page.locator("main .panel").first().waitFor();
    await opened.page.keyboard.press("3");
    await opened.page.locator("#server").waitFor();
    return opened;
  }

  const config = () => readFileSync(scene.config, "utf8");
  const servers = () => Bun.JSONC.parse(config()) as { mcpServers: Record<string, Record<string, unknown>> };
  const row = (page: Page, name: string) => page.locator("section[aria-labelledby=servers] .row", { hasText: name });
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  test("are checked with a button: one that works has its tools, and a broken one says why, in red, before the others", async () => {
    await using opened = await open();
    const { page } = opened;
    expect(await row(page, "echo").innerText()).toContain("not tried yet");
    await button(page, "Check").click();
    await page.getByText(/^It works: 1 tool in \d/).waitFor();
    await page.locator(".tool").first().waitFor();
    await row(page, "gone").click();
    await button(page, "Check").click();
    await page.locator(".failure-text").waitFor();
    expect(await page.locator(".checked").innerText()).toContain("command not found: no-such-program-of-ours");
    await row(page, "gone").locator(".dot.bad").waitFor();
    await button(page, "Change its entry").waitFor();
    const rows = await page.locator("section[aria-labelledby=servers] .row").allInnerTexts();
    expect(rows[0]).toMatch(/^gone\s+broken: did not start: command not found/);
    // The head of the page counts it, and Now leads to it.
    await page.getByRole("button", { name: "Servers" }).locator(".count").getByText("1", { exact: true }).waitFor();
    await page.keyboard.press("1");
    const trouble = page.getByRole("region", { name: "Servers that need you" });
    await trouble.getByText(/^did not start: command not found/).waitFor();
    await trouble.getByRole("button", { name: "Show the server" }).click();
    await page.locator("#server").getByText("gone", { exact: true }).waitFor();
    // The next check can repair it.
    await page.reload();
    await page.locator("main .panel").first().waitFor();
    await page.keyboard.press("3");
    await button(page, "Try again").waitFor();
    expect(await page.locator("#server").isVisible()).toBe(true);
  });

  test("say in the list and in the head of the page that a tool has changed, even if the check finds that they work", async () => {
    using folder = temporaryFolder();
    const tool = (description: string) => ({ name: "pay", description, inputSchema: { type: "object" } });
    const offer = (description: string) => folder.write("tools.json", { version: "1.0.0", tools: [tool(description)] });
    const path = offer("Pays an invoice.");
    await scene[Symbol.asyncDispose]();
    scene = await Scene.open({}, JSON.stringify({ mcpServers: { bank: fixture("changing", "stdio", path) } }));
    await using opened = await open();
    const { page } = opened;
    await button(page, "Check").click();
    await page.getByText(/^It works: 2 tools in \d/).waitFor();
    expect(await row(page, "bank").innerText()).not.toContain("held");
    offer("Pays an invoice. It asks nobody.");
    await button(page, "Check").click();
    await page.getByText(/^It works: 1 tool in \d/).waitFor();
    await row(page, "bank").getByText("1 held tool").waitFor();
    expect(await page.locator("nav .count").innerText()).toBe("1");
    await page.keyboard.press("1");
    const trouble = page.getByRole("region", { name: "Servers that need you" });
    expect((await trouble.locator("li p").innerText()).trim()).toMatch(/^1 held tool pay changed$/);
    await trouble.getByRole("button", { name: "Show the server" }).click();
    await page.getByRole("button", { name: "Accept the change" }).click();
    await row(page, "bank").getByText("1 held tool").waitFor({ state: "detached" });
    expect(await page.locator("nav .count").count()).toBe(0);
  });

  test("show their log, with new lines while it is open", async () => {
    await using opened = await open();
    const { page } = opened;
    await button(page, "Log").click();
    await page.getByText("The log is empty.").waitFor();
    await button(page, "Check").click();
    await page.getByText(/^It works/).waitFor();
    await button(page, "Log").click();
    const log = page.getByRole("log");
    await log.waitFor();
    expect(await log.innerText()).toMatch(/start[\s\S]*ready/);
  });

  test("are disabled, enabled and removed in the config, which keeps its comments; each change is in the audit log", async () => {
    await using opened = await open();
    const { page } = opened;
    await button(page, "Disable").click();
    await page.getByText("Disabled echo").waitFor();
    expect(servers().mcpServers["echo"]).toMatchObject({ disabled: true });
    await row(page, "echo").getByText("disabled").waitFor();
    await row(page, "echo").click();
    await button(page, "Enable").click();
    await page.getByText("Enabled echo").waitFor();
    expect(config()).toBe(text(fixture("echo")));
    await row(page, "gone").click();
    await button(page, "Remove").click();
    await button(page, "Really remove it?").click();
    await page.getByText("Removed gone").waitFor();
    await row(page, "gone").waitFor({ state: "detached" });
    expect(Object.keys(servers().mcpServers)).toEqual(["echo"]);
    expect(config()).toContain("// Mine.");
    expect(auditLines(scene.env).map(({ by }) => (by as { place: string }).place)).toEqual(["page", "page", "page"]);
  });

  test("each change of a server and of its tools has an Undo, also by U", async () => {
    await using opened = await open();
    const { page } = opened;
    await button(page, "Check").click();
    const isSame = async (what: string) => {
      await page.getByText(`Undone: "${what}"`).waitFor();
      expect(config()).toBe(text(fixture("echo")));
    };
    const state = page.getByLabel("State of echo.echo");
    await state.selectOption("deny");
    await page.getByText("Saved in the config: echo.echo is denied").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await isSame("echo.echo is denied");
    await state.selectOption("ask");
    await page.getByText("Saved in the config: echo.echo waits for a person at each call").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await isSame("echo.echo waits for a person at each call");
    await button(page, "Disable").click();
    await page.getByText("Disabled echo").waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await isSame("Disabled echo");
    await row(page, "gone").click();
    await button(page, "Remove").click();
    await button(page, "Really remove it?").click();
    await row(page, "gone").waitFor({ state: "detached" });
    await page.keyboard.press("u");
    await isSame("Removed gone");
    await row(page, "gone").waitFor();
  });

  test("are found by letters if there are many, and a form adds one without scrolling", async () => {
    const entry = { command: "any" };
    const many = Array.from({ length: 14 }, (_, at) => [`server${at}`, { entry, tools: [] }]);
    await scene[Symbol.asyncDispose]();
    scene = await Scene.open(Object.fromEntries(many));
    await using opened = await open();
    const { page } = opened;
    const rows = page.locator("section[aria-labelledby=servers] .row");
    const all = await rows.count();
    expect(all).toBeGreaterThanOrEqual(14);
    await page.getByLabel("Find a server").fill("server13");
    await rows.nth(1).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(1);
    await page.getByLabel("Find a server").fill("nothing");
    await page.getByText("No server fits.").waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect((await button(page, "Add a server").boundingBox())!.y).toBeLessThan(200);
  });

  test("are added from a command, an entry and the path of a document, after each was tried", async () => {
    await using opened = await open();
    const { page } = opened;
    const { command, args } = fixture("echo");
    const add = async (kind: string, field: string, what: string, name?: string) => {
      await button(page, "Add a server").click();
      await page.getByText(kind, { exact: true }).click();
      await page.getByRole("textbox", { name: field }).fill(what);
      if (name !== undefined) await page.getByLabel("Name for the config").fill(name);
      await button(page, "Try it and add it").click();
    };
    await add("Command", "Command", shellLine([command, ...args]), "again");
    await page.getByText("Added again: 1 tool.").waitFor();
    expect(servers().mcpServers["again"]).toEqual({ command, args });
    await page.getByRole("heading", { name: "again" }).waitFor();
    await add("Entry", "Entry", JSON.stringify({ pasted: { command, args, env: { A: "b c" } } }));
    await page.getByText("Added pasted: 1 tool.").waitFor();
    expect(servers().mcpServers["pasted"]).toEqual({ command, args, env: { A: "b c" } });
    const paths = { "/pets": { get: { operationId: "listPets", responses: { 200: { description: "ok" } } } } };
    const info = { title: "Pets", version: "1" };
    const document = { openapi: "3.1.0", info, servers: [{ url: "https://pets.example" }], paths };
    const path = scene.folder.write("pets.json", document);
    await add("OpenAPI", "Document", path, "pets");
    await page.getByText("Added pets: 1 tool.").waitFor();
    expect(servers().mcpServers["pets"]).toEqual({ openapi: path });
    // The page knows what it has just tried.
    await row(page, "pets").getByText("1 tool", { exact: true }).waitFor();
    await page.locator(".tool", { hasText: "list_pets" }).waitFor();
    await add("OpenAPI", "Document", path, "keyed");
    await page.getByRole("heading", { name: "keyed" }).waitFor();
    await page.getByText("You are not signed in").waitFor();
    await button(page, "Add a server").click();
    await page.getByText("OpenAPI", { exact: true }).click();
    await page.getByRole("textbox", { name: "Document" }).fill(path);
    await page.getByLabel("Name for the config").fill("with-key");
    expect(await page.getByLabel("Credential").getAttribute("type")).toBe("password");
    await page.getByLabel("Credential").fill("k-123");
    await page.getByText("the entry refers to ${secret:WITH_KEY_KEY}").waitFor();
    await button(page, "Try it and add it").click();
    await page.getByRole("heading", { name: "with-key" }).waitFor();
    expect(servers().mcpServers["with-key"]).toEqual({ openapi: path, auth: "${secret:WITH_KEY_KEY}" });
    expect(await readSecret("WITH_KEY_KEY", scene.env)).toBe("k-123");
    await page.locator(".tool").waitFor();
    expect(await page.getByText("You are not signed in").count()).toBe(0);
    expect(opened.said).toEqual([]);
  });

  test("keys of variables, headers and schemes become secrets, unless this is unticked; a failed trial keeps the form and no secret", async () => {
    await using opened = await open();
    const { page } = opened;
    const { command, args } = fixture("echo");
    await button(page, "Add a server").click();
    await page.getByText("Command", { exact: true }).click();
    await page.getByRole("textbox", { name: "Command" }).fill("no-such-program-of-ours");
    await page.getByLabel("Name for the config").fill("keyed");
    for (const [name, value] of [
      ["API_KEY", "k-of-the-variable"],
      ["MODE", "fast"],
    ] as const) {
      await button(page, "Add a variable").click();
      await page.getByLabel("Name of the variable").last().fill(name);
      await page.getByLabel("Value", { exact: true }).last().fill(value);
    }
    await page
      .getByRole("checkbox", { name: /Keep it as a secret/ })
      .last()
      .uncheck();
    expect(await page.getByLabel("Value", { exact: true }).first().getAttribute("type")).toBe("password");
    expect(await page.getByLabel("Value", { exact: true }).last().getAttribute("type")).toBe("text");
    await button(page, "Try it and add it").click();
    await page.getByText("command not found: no-such-program-of-ours").first().waitFor();
    expect(storedSecrets(scene.env)).toEqual([]);
    expect(await page.getByLabel("Value", { exact: true }).first().inputValue()).toBe("k-of-the-variable");
    await page.getByRole("textbox", { name: "Command" }).fill(shellLine([command, ...args]));
    await button(page, "Try it and add it").click();
    await page.getByText("Added keyed: 1 tool.").waitFor();
    const env = { API_KEY: "${secret:API_KEY}", MODE: "fast" };
    expect(servers().mcpServers["keyed"]).toEqual({ command, args, env });
    expect(await readSecret("API_KEY", scene.env)).toBe("k-of-the-variable");
    const path = scene.folder.write("rooms.json", {
      openapi: "3.1.0",
      info: { title: "Rooms", version: "1" },
      paths: {},
    });
    await button(page, "Add a server").click();
    await page.getByText("OpenAPI", { exact: true }).click();
    await page.getByRole("textbox", { name: "Document" }).fill(path);
    await page.getByLabel("Name for the config").fill("rooms");
    await page.getByLabel("Credential").fill("apiKey=k-of-the-scheme");
    await page.getByText("the entry refers to ${secret:ROOMS_KEY}").waitFor();
    const sent = page.waitForRequest(/servers\/add$/);
    await button(page, "Try it and add it").click();
    expect((await sent).postDataJSON()).toMatchObject({
      auth: "apiKey=${secret:ROOMS_KEY}",
      secrets: [{ name: "ROOMS_KEY", value: "k-of-the-scheme" }],
    });
  });

  test("keys in a pasted entry become secrets, unless this is unticked, and a failed trial keeps none", async () => {
    await using opened = await open();
    const { page } = opened;
    const { command, args } = fixture("echo");
    const key = "sk-live-51HxQ2vK9mZ8pL4tR7wY";
    const paste = async (entry: object) => {
      await button(page, "Add a server").click();
      await page.getByRole("radio", { name: "Entry" }).check({ force: true });
      await page.getByRole("textbox", { name: "Entry" }).fill(JSON.stringify({ mcpServers: entry }));
    };
    await paste({ bad: { command: "no-such-program-of-ours", env: { BAD_API_KEY: key } } });
    await button(page, "Try it and add it").click();
    await page.locator(".warning, .failure-text").first().waitFor();
    expect(storedSecrets(scene.env).map(({ name }) => name)).not.toContain("BAD_API_KEY");
    await paste({ mail: { command, args: [...args, "--token", key], env: { MAIL_API_KEY: `${key}x`, REGION: "eu" } } });
    await button(page, "Try it and add it").click();
    await page.getByText("Kept as secrets: MAIL_API_KEY, MAIL_TOKEN.").waitFor();
    expect(servers().mcpServers["mail"]).toEqual({
      ...{ command, args: [...args, "--token", "${secret:MAIL_TOKEN}"] },
      env: { MAIL_API_KEY: "${secret:MAIL_API_KEY}", REGION: "eu" },
    });
    expect(config()).not.toContain(key);
    expect(await readSecret("MAIL_API_KEY", scene.env)).toBe(`${key}x`);
    // The same key again is the same secret.
    await paste({ mail2: { command, args, env: { MAIL_API_KEY: `${key}x` } } });
    await button(page, "Try it and add it").click();
    await page.getByText("Added mail2: 1 tool.").waitFor();
    expect(servers().mcpServers["mail2"]?.["env"]).toEqual({ MAIL_API_KEY: "${secret:MAIL_API_KEY}" });
    await paste({ plain: { command, args, env: { MAIL_API_KEY: "another-key-8Hq2vK9mZ8pL" } } });
    await page.getByLabel("Keep keys as secrets").uncheck();
    await button(page, "Try it and add it").click();
    await page.getByText("Added plain: 1 tool.").waitFor();
    expect(servers().mcpServers["plain"]?.["env"]).toEqual({ MAIL_API_KEY: "another-key-8Hq2vK9mZ8pL" });
    expect(await axeFindings(page)).toEqual([]);
    expect(opened.said).toEqual([expect.stringContaining("422")]);
  });

  test("a server that does not start, or has a name that is taken, is not added, and the form keeps what was typed", async () => {
    await using opened = await open();
    const { page } = opened;
    const before = config();
    await button(page, "Add a server").click();
    await page.getByText("Command", { exact: true }).click();
    await page.getByRole("textbox", { name: "Command" }).fill("no-such-program-of-ours --x");
    await page.getByLabel("Name for the config").fill("other");
    await page.keyboard.press("Enter");
    await page.getByText("command not found: no-such-program-of-ours").first().waitFor();
    expect(await page.getByRole("textbox", { name: "Command" }).inputValue()).toBe("no-such-program-of-ours --x");
    await page.getByLabel("Name for the config").fill("gone");
    await page.keyboard.press("Enter");
    await page.getByText('The config already has a server called "gone"').waitFor();
    await page.getByText("Catalog", { exact: true }).click();
    await page.getByRole("textbox", { name: "Server" }).fill("no such thing");
    await page.getByText("The catalog has no such server.").waitFor();
    expect([config(), auditLines(scene.env)]).toEqual([before, []]);
  });

  test("servers of the catalog are found by what they do, and show which variables they need", async () => {
    await using opened = await open();
    const { page } = opened;
    await button(page, "Add a server").click();
    await page.getByRole("textbox", { name: "Server" }).fill("issue tracker");
    await page.getByRole("textbox", { name: "Server" }).fill("github");
    await page.getByText("A key that you type is kept as a secret").waitFor();
    await page.getByRole("textbox", { name: "Server" }).fill("brave");
    await page.getByRole("list", { name: "Servers of the catalog" }).getByRole("button").first().click();
    await page.getByLabel(/^BRAVE_API_KEY/).waitFor();
  });

  const looks = ["light", "dark"].flatMap((scheme) => [390, 1280, 2560].map((width) => [scheme, width] as const));
  test.each(looks)(
    "in %s colours and %i pixels fit, have enough contrast, and axe finds nothing",
    async (scheme, width) => {
      await using opened = await open({ viewport: { width, height: 900 }, colorScheme: scheme as "light" | "dark" });
      const { page } = opened;
      const check = async (what: string) => {
        const found = [await page.evaluate(scrollWidth), await page.evaluate(tooFaint), await axeFindings(page)];
        expect([what, ...found]).toEqual([what, width, [], []]);
      };
      await row(page, "gone").click();
      await button(page, "Check").click();
      await page.locator(".failure-text").waitFor();
      await check("a broken server");
      await button(page, "Add a server").click();
      await page.getByRole("list", { name: "Servers of the catalog" }).waitFor();
      await check("the form");
    },
  );
});
