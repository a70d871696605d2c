/** The forms of the links of servers in a real browser, from the link of an agent through the sign-in at the provider. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { personId } from "../../src/policy/people/claims.ts";
import { serversOfPeople } from "../../src/servers/auth/person-files.ts";
import { browserNote, chromiumPath, openBrowser, openPage } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";
import { httpServe } from "../support/http-serve.ts";
import { oidcFixture } from "../support/oidc.ts";
import { ownAccounts } from "../support/own-accounts.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

test.skipIf(chromiumPath === undefined)(`a person enters a key in Chromium${browserNote}`, async () => {
  const port = freePort();
  const origin = `http://127.0.0.1:${port}`;
  await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } }, [`${origin}/ui/signed-in`]);
  using folder = temporaryFolder();
  const config = folder.write("claudikins.json", {
    mcpServers: {
      wiki: {
        url: "http://127.0.0.1:9/mcp",
        headers: { Authorization: "Bearer ${user:WIKI_KEY}" },
        credentials: "user",
      },
    },
    auth: {
      oidc: {
        issuer: provider.issuer,
        audience: "https://tools.example.com",
        doors: { mcp: ["qa-team"] },
        clientId: "page",
        clientSecret: "page-secret",
      },
    },
  });
  const env = { CLAUDIKINS_DAEMON: "off", CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64") };
  await using serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
  const browser = await openBrowser();
  try {
    const id = personId(provider.issuer, "ann");
    await using opened = await openPage(browser, `${origin}/ui/connect/mcp/wiki?for=${id}`);
    const { page, said } = opened;
    page.setDefaultTimeout(15_000);
    await page.locator("input").fill("ann");
    await page.locator("button").click();
    await page.getByText("Your keys for wiki").waitFor();
    said.length = 0;
    await page.getByLabel("WIKI_KEY").fill("a-key-0123456789");
    await page.getByText("Save").click();
    // Nothing listens there, so the key could not be tried.
    await page.getByText("Your keys for wiki are kept").waitFor();
    expect(said).toEqual([]);
    const person = { config, id };
    expect(await serversOfPeople([person], { XDG_DATA_HOME: `${folder.path}/data` })).toEqual([["wiki"]]);
  } finally {
    await browser.close();
    serving.signal("SIGTERM");
    await serving.exited;
  }
});

test.skipIf(chromiumPath === undefined)(`a person continues to the server in Chromium${browserNote}`, async () => {
  const port = freePort();
  const origin = `http://127.0.0.1:${port}`;
  await using provider = await oidcFixture({ ann: { groups: ["qa-team"] } }, [`${origin}/ui/signed-in`]);
  await using accounts = await ownAccounts();
  using folder = temporaryFolder();
  const config = folder.write("claudikins.json", {
    mcpServers: { desk: { url: accounts.url, credentials: "user" } },
    auth: {
      oidc: {
        ...{ issuer: provider.issuer, audience: "https://tools.example.com", doors: { mcp: ["qa-team"] } },
        ...{ clientId: "page", clientSecret: "page-secret" },
      },
    },
  });
  const env = { CLAUDIKINS_DAEMON: "off", CLAUDIKINS_SEALING_KEY: randomBytes(32).toString("base64") };
  await using serving = await httpServe(folder, [], { token: "kept", port: String(port), env });
  const browser = await openBrowser();
  try {
    const id = personId(provider.issuer, "ann");
    await using opened = await openPage(browser, `${origin}/ui/connect/mcp/desk?for=${id}`);
    const { page, said } = opened;
    page.setDefaultTimeout(15_000);
    await page.locator("input").fill("ann");
    await page.locator("button").click();
    await page.getByText("Sign in to desk?").waitFor();
    const person = { config, id };
    const data = { XDG_DATA_HOME: `${folder.path}/data` };
    // The authorization server of the server has asked nobody yet.
    await page.reload();
    await page.getByText("Sign in to desk?").waitFor();
    expect(await serversOfPeople([person], data)).toEqual([[]]);
    said.length = 0;
    // The form's redirects lead through two other origins.
    await page.getByText("Continue", { exact: true }).click();
    await page.getByText("Signed in to desk").waitFor();
    expect(said).toEqual([]);
    expect(await serversOfPeople([person], data)).toEqual([["desk"]]);
  } finally {
    await browser.close();
    serving.signal("SIGTERM");
    await serving.exited;
  }
});
