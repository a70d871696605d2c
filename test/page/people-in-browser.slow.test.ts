/** The page for people in a real browser: the sign-in at the provider, an approval, the people of an administrator, and the end. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Browser } from "playwright-core";
import { axeFindings } from "../support/axe.ts";
import { balancer } from "../support/balancer.ts";
import { browserNote, chromiumPath, openBrowser, openPage, type WatchedPage } from "../support/browser.ts";
import { ownCertificate } from "../support/certificate.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { executeRequest, type HttpServe, httpServe, rawSession, resultText } from "../support/http-serve.ts";
import { type OidcFixture, oidcFixture } from "../support/oidc.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { scrollWidth, tooFaint } from "./in-browser.js";

setDefaultTimeout(60_000);

describe.skipIf(chromiumPath === undefined)(`the page for people in Chromium${browserNote}`, () => {
  let browser: Browser;
  let provider: OidcFixture;
  let folder: TemporaryFolder;
  let serving: HttpServe;
  let origin: string;

  beforeAll(async () => {
    browser = await openBrowser();
    const port = freePort();
    origin = `http://127.0.0.1:${port}`;
    const accounts = { ann: { groups: ["leads", "it"] }, bob: { groups: ["qa-team"] } };
    provider = await oidcFixture(accounts, [`${origin}/ui/signed-in`]);
    folder = temporaryFolder();
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      policy: { confirm: { "newer.echo": "always" } },
      doors: { qa: { servers: ["newer"], quotas: { mbPerDay: 50 } } },
      auth: {
        oidc: {
          issuer: provider.issuer,
          audience: "https://tools.example.com",
          doors: { qa: ["qa-team"] },
          approvers: ["leads"],
          administrators: ["it"],
          clientId: "page",
          clientSecret: "page-secret",
        },
      },
    });
    serving = await httpServe(folder, [], { token: "kept", port: String(port), env: { CLAUDIKINS_DAEMON: "off" } });
  });
  afterAll(async () => {
    await browser?.close();
    serving?.signal("SIGTERM");
    await serving?.exited;
    await provider?.[Symbol.asyncDispose]();
    folder?.[Symbol.dispose]();
  });

  async function open(who: string): Promise<WatchedPage> {
    const opened = await openPage(browser, `${origin}/ui/`);
    const { page } = opened;
    page.setDefaultTimeout(15_000);
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    await page.locator("input").fill(who);
    await page.locator("button").click();
    await page.getByText(`Sign out ${who}`).waitFor();
    expect(page.url()).toBe(`${origin}/ui/`);
    // The provider has no icon.
    opened.said.length = 0;
    return opened;
  }

  test("signs people in, shows each what the groups allow, and ends with the session", async () => {
    await using anns = await open("ann");
    await using bobs = await open("bob");
    const headers = { authorization: `Bearer ${await provider.token("bob")}` };
    const session = await rawSession(`${origin}/qa`, "2025-11-25", {}, "agent", headers);
    const code = 'return await newer.echo({ value: "hello" })';
    expect(await resultText(await session.post(executeRequest(2, code)))).toContain("on the page of claudikins");

    const [anna, bob] = [anns.page, bobs.page];
    await bob.getByText("People of these groups may approve it: leads").waitFor();
    expect(await bob.getByText("Approve once").count()).toBe(0);
    expect(await bob.locator("nav button").count()).toBe(2);
    await anna.locator(".card", { hasText: "for bob" }).waitFor();
    await anna.getByText("Approve once").click();
    await anna.getByText("Approved once: newer.echo").waitFor();
    await bob.locator(".outcome.good").waitFor();

    await anna.locator("nav button").getByText("Activity").click();
    await anna.getByRole("button", { name: "Calls" }).click();
    // A call is in the log a moment after it was made.
    await eventually(async () => {
      await anna.getByLabel("Person or token").fill("");
      await anna.getByLabel("Person or token").fill("bob");
      // The list follows a moment after the text.
      const call = anna.locator(".call-table tr", { hasText: "bob" });
      return call.waitFor({ timeout: 2_000 }).then(
        () => true,
        () => false,
      );
    });
    expect(await bob.getByLabel("Person or token").count()).toBe(0);
    await anna.locator("nav button").getByText("People").click();
    const row = anna.locator(".person", { hasText: "bob" });
    await row.getByRole("button", { name: "Details" }).focus();
    await anna.keyboard.press("Enter");
    await row.getByText("qa-team").waitFor();
    await anna.getByRole("region", { name: "Groups" }).getByText("leads").waitFor();
    await anna.getByRole("region", { name: "Limits" }).getByText("50 MB a day").waitFor();
    await anna.getByRole("region", { name: "Deletion" }).getByText("People are kept until").waitFor();
    for (const width of [390, 1280, 2560]) {
      await anna.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await anna.emulateMedia({ colorScheme });
        const found = [await anna.evaluate(scrollWidth), await anna.evaluate(tooFaint), await axeFindings(anna)];
        expect([colorScheme, ...found]).toEqual([colorScheme, width, [], []]);
      }
    }
    await row.getByText("Revoke").click();
    await row.getByText("Really revoke?").click();
    await anna.getByText("Revoked the access of bob").waitFor();
    await bob.getByText("Your session has ended.").waitFor();
    await row.getByText("Restore").click();
    await anna.getByText("bob may sign in again").waitFor();

    expect(anns.said).toEqual([]);
    await anna.getByText("Sign out ann").click();
    // The provider asks, and sends the browser back. Its page wants a font of another site.
    await anna.locator("button", { hasText: "Yes, sign me out" }).click();
    await anna.getByText("Signed out").waitFor();
    expect(anna.url()).toBe(`${origin}/ui/signed-out`);
  });
});

test.skipIf(chromiumPath === undefined)(
  `people sign in over https in several tabs of Chromium${browserNote}`,
  async () => {
    const port = freePort();
    await using door = balancer([`http://127.0.0.1:${port}`], () => 0, ownCertificate());
    const { origin } = new URL(door.url);
    await using provider = await oidcFixture({ ann: {} }, [`${origin}/ui/signed-in`]);
    using folder = temporaryFolder();
    folder.write("claudikins.json", {
      mcpServers: { newer: fixture("modern", "reject", folder.path) },
      auth: {
        oidc: {
          ...{ issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["*"] } },
          ...{ address: origin, clientId: "page", clientSecret: "page-secret" },
        },
      },
    });
    const env = { CLAUDIKINS_DAEMON: "off" };
    await using serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
    const browser = await openBrowser();
    try {
      await using opened = await openPage(browser, `${origin}/ui/`, { ignoreHTTPSErrors: true });
      const first = opened.page;
      const context = first.context();
      const second = await context.newPage();
      await second.goto(`${origin}/ui/`);
      for (const page of [second, first]) {
        page.setDefaultTimeout(15_000);
        await page.locator("input").fill("ann");
        await page.locator("button").click();
        await page.getByText("Sign out ann").waitFor();
      }
      const kept = (await context.cookies(origin)).filter(({ name }) => name.includes("claudikins"));
      const flags = { path: "/", secure: true, httpOnly: true, sameSite: "Lax" };
      expect(kept).toMatchObject([{ name: "__Host-claudikins-person", domain: "127.0.0.1", ...flags }]);
      expect(kept).toHaveLength(1);
    } finally {
      await browser.close();
      serving.signal("SIGTERM");
      await serving.exited;
    }
  },
);
