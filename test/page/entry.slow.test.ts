/** The form that changes the entry of a server, in a real browser: the repairs, values that stay hidden, and undoing. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { storedSecrets } from "../../src/config/secrets/store.ts";
import { axeFindings } from "../support/axe.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { fixture } from "../support/servers.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const secret = "hunter2-of-the-mailer";
const { command, args } = fixture("echo");
const evil = '<img src=x onerror="alert(1)">';
const text = `{
  "mcpServers": {
    "echo": {
      "command": "no-such-program", // to be repaired
      "args": ${JSON.stringify(args)},
      "env": { "API_KEY": "${secret}" }
    },
    "mailer": { "command": ${JSON.stringify(command)}, "args": ${JSON.stringify(args)}, "env": { "KEY": "\${MAIL_KEY}" } },
    ${JSON.stringify(evil)}: { "command": "x", "env": { ${JSON.stringify(evil)}: "1" } }
  }
}
`;

describe.skipIf(chromiumPath === undefined)(`The entry of a server in Chromium${browserNote}`, () => {
  let browser: Browser;
  let scene: Scene;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    scene = await Scene.open({}, text);
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
  const entry = (name: string) =>
    (Bun.JSONC.parse(config()) as { mcpServers: Record<string, Record<string, unknown>> }).mcpServers[name];
  const row = (page: Page, name: string) => page.locator("section[aria-labelledby=servers] .row", { hasText: name });
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  test("a command that does not exist is replaced, after it was tried; the message undoes it", async () => {
    await using opened = await open();
    const { page } = opened;
    await row(page, "echo").click();
    await button(page, "Check").click();
    await page.getByText("command not found: no-such-program").first().waitFor();
    await button(page, "Change its entry").click();
    const field = page.getByRole("textbox", { name: /^Command/ });
    expect(await field.inputValue()).toBe("no-such-program");
    expect(await button(page, "Try it and save it").isDisabled()).toBe(true);
    await field.fill("also-no-such-program");
    await button(page, "Try it and save it").click();
    await page
      .getByRole("alert")
      .getByText(/command not found: also-no-such-program/)
      .waitFor();
    expect(config()).toBe(text);
    await field.fill(command);
    await button(page, "Try it and save it").click();
    await page.getByText("Changed echo: command. It works: 1 tool.").waitFor();
    expect(config()).toBe(text.replace('"no-such-program"', JSON.stringify(command)));
    await row(page, "echo").getByText("1 tool", { exact: true }).waitFor();
    await button(page, "Undo").click();
    await page.getByText('Undone: "the change of the entry of echo"').waitFor();
    expect(config()).toBe(text);
  });

  test("a variable that is not set becomes a secret with one field, and no answer has a value", async () => {
    await using opened = await open();
    const { page } = opened;
    const answers: Promise<string>[] = [];
    page.on("response", (response) => void answers.push(response.text().catch(() => "")));
    await row(page, "mailer").click();
    await button(page, "Set MAIL_KEY").click();
    const field = page.getByLabel("Set MAIL_KEY");
    await field.waitFor();
    expect(await field.getAttribute("type")).toBe("password");
    await page.locator("input[type=password]:focus").waitFor();
    await page.keyboard.type("value-of-the-key");
    await page.keyboard.press("Enter");
    await page.getByText("Changed mailer: env.KEY. It works: 1 tool.").waitFor();
    expect(entry("mailer")).toMatchObject({ env: { KEY: "${secret:MAIL_KEY}" } });
    expect(storedSecrets(scene.env).map(({ name }) => name)).toEqual(["MAIL_KEY"]);
    await row(page, "mailer").getByText("1 tool", { exact: true }).waitFor();
    await row(page, "echo").click();
    await button(page, "Change").click();
    await page.getByLabel("API_KEY set").waitFor();
    expect((await Promise.all(answers)).join("")).not.toMatch(/value-of-the-key|hunter2/);
    expect(await page.content()).not.toMatch(/value-of-the-key|hunter2/);
  });

  test("variables are replaced, added and removed, and arguments, a box and times are set", async () => {
    await using opened = await open();
    const { page } = opened;
    await row(page, "echo").click();
    await button(page, "Change").click();
    await page.getByRole("textbox", { name: /^Command/ }).fill(command);
    await page.getByLabel("API_KEY set").fill("another-key");
    await page.getByText("the entry refers to ${secret:API_KEY}").waitFor();
    await button(page, "Add a variable").click();
    await page.getByLabel("Name of the variable").fill("MODE");
    await page.getByLabel("Value", { exact: true }).fill("fast");
    await page
      .getByRole("checkbox", { name: /Keep it as a secret/ })
      .last()
      .uncheck();
    await button(page, "Add an argument").click();
    await page.getByRole("textbox", { name: `Argument ${args.length + 1}` }).fill("two words");
    await page.getByLabel("Sandbox", { exact: true }).selectOption("off");
    await page.getByText("More settings").click();
    await page.getByLabel("Time of a call").fill("5000");
    await page.getByLabel("When it is idle").selectOption("true");
    await button(page, "Try it and save it").click();
    await page.getByText(/^Changed echo: command, args, env.API_KEY, env.MODE, .*It works: 1 tool\.$/).waitFor();
    expect(entry("echo")).toEqual({
      command,
      args: [...args, "two words"],
      env: { API_KEY: "${secret:API_KEY}", MODE: "fast" },
      sandbox: false,
      callTimeoutMs: 5000,
      keepAlive: true,
    });
    expect(config()).toContain("// to be repaired");
    await button(page, "Change").click();
    await button(page, "Remove variable MODE").click();
    await page.getByText("MODE is removed").waitFor();
    await button(page, "Remove variable API_KEY").click();
    await button(page, `Remove argument ${args.length + 1}`).click();
    await button(page, "Try it and save it").click();
    await page.getByText("Changed echo: args, env.API_KEY, env.MODE. It works: 1 tool.").waitFor();
    expect(entry("echo")).toMatchObject({ args });
    expect(entry("echo")).not.toHaveProperty("env");
  });

  test("hostile names are text, and the form has no finding of axe, faint text or sideways scrolling on a phone", async () => {
    await using opened = await open({ viewport: { width: 390, height: 800 } });
    const { page } = opened;
    await row(page, "<img").click();
    await button(page, "Change").click();
    await page.getByRole("heading", { name: `Change ${evil}` }).waitFor();
    await page.getByLabel(`${evil} set`).fill("1");
    await page.getByText("More settings").click();
    expect(await page.locator("#server img").count()).toBe(0);
    expect(await axeFindings(page)).toEqual([]);
    expect(await page.evaluate(tooFaint)).toEqual([]);
    expect(await page.evaluate(scrollWidth)).toBeLessThanOrEqual(390);
    await button(page, "Cancel").click();
    await button(page, "Change").waitFor();
    expect(config()).toBe(text);
  });
});
