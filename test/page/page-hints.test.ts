/** The next steps in errors about servers: the page names what it has, and no flags, commands or lines of the config. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import type { PageState } from "../../src/page/contract.ts";
import type { PageChecked } from "../../src/page/servers-contract.ts";
import { Page } from "../support/page.ts";
import { Scene } from "./scene.ts";

setDefaultTimeout(60_000);

const program = 'console.error("MAIL_KEY is required"); process.exit(1)';
const mail = { command: process.execPath, args: ["-e", program] };

let scene: Scene;
let page: Page;
beforeEach(async () => {
  scene = await Scene.open({}, JSON.stringify({ mcpServers: { mail } }));
  page = await Page.open(scene.url);
});
afterEach(() => scene[Symbol.asyncDispose]());

const ofShell = /--|claudikins [a-z]|the config|"env"|"url"/;

test("a server that lacks a variable leads to the form of its entry", async () => {
  const checked = (await (await page.post("api/servers/check", { server: "mail" })).json()) as PageChecked;
  const step = "It asks for MAIL_KEY. Add it to its variables. To do so: Change its entry.";
  expect(checked.problem).toMatchObject({ hint: step });
  const { servers } = (await (await page.get("api/state")).json()) as PageState;
  expect(servers[0]!.problem).toEndWith(step);
});

test("a failed trial of a new server names the form and the document", async () => {
  const added = async (body: object) => {
    const answer = await page.post("api/servers/add", { name: "api", values: {}, secrets: [], ...body });
    return (await answer.json()) as { error: string; hint: string };
  };
  const missing = scene.folder.write("broken.json", "{nope");
  const refused = await added({ kind: "openapi", what: missing });
  // A folder with a random name may look like a secret.
  expect(refused.hint).toMatch(/^Check its document: \/.+\/broken\.json\. Nothing was written\.$/);
  const command = await added({ kind: "command", what: `${mail.command} -e '${program}'` });
  expect(command.hint).toBe("It asks for MAIL_KEY. Add it to its variables. Nothing was written.");
  for (const { error, hint } of [refused, command]) expect(`${error} ${hint}`).not.toMatch(ofShell);
});
