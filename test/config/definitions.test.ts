/** The setting for definitions that change: whose counts, and that a project cannot weaken it for the user's own servers. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import type { DefinitionMode } from "../../src/config/defaults.ts";
import { loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { linesOf } from "../../src/setup/trust/lines.ts";
import { ownFolder } from "../support/own-folder.ts";

const folder = ownFolder();

/** The modes of the server `own` of the user, and of `shop` of the project, with these settings. */
async function modes(settings: {
  user?: DefinitionMode;
  own?: DefinitionMode;
  project?: DefinitionMode;
  shop?: DefinitionMode;
  replaced?: DefinitionMode;
}) {
  const { user, own, project, shop, replaced } = settings;
  const entry = (definitions: DefinitionMode | undefined) => ({ command: "x", definitions });
  folder.write("home/.config/claudikins/claudikins.json", {
    definitions: user,
    mcpServers: { own: entry(own), ...(replaced ? { shop: entry(replaced) } : {}) },
  });
  const file = folder.write("project/claudikins.json", { definitions: project, mcpServers: { shop: entry(shop) } });
  const env = { HOME: join(folder.path, "home"), CI: "true" };
  const { servers } = await loadConfig({ cwd: join(folder.path, "project"), env });
  const ofProject = servers.get("shop")?.definitions;
  expect(ofProject?.config).toBe(file);
  return [servers.get("own")?.definitions?.mode, ofProject?.mode];
}

test("definitions are locked by default", async () => {
  expect(await modes({})).toEqual(["lock", "lock"]);
});

test("a server's setting comes before that of its file, and the user's before the default", async () => {
  expect(await modes({ user: "warn" })).toEqual(["warn", "warn"]);
  expect(await modes({ user: "warn", own: "trust", project: "lock", shop: "trust" })).toEqual(["lock", "trust"]);
  expect(await modes({ project: "warn" })).toEqual(["lock", "warn"]);
});

test("a project makes the setting of the user's servers stricter, and never more lenient", async () => {
  expect(await modes({ own: "warn", project: "trust" })).toEqual(["warn", "trust"]);
  expect(await modes({ own: "warn", project: "lock" })).toEqual(["lock", "lock"]);
  // A project's server of the same name keeps the user's setting for that name.
  expect(await modes({ replaced: "lock", shop: "trust" })).toEqual(["lock", "lock"]);
});

test("the settings of a project are shown before it is trusted", () => {
  const text = '{ "definitions": "trust", "mcpServers": { "shop": { "command": "x", "definitions": "warn" } } }';
  const lines = linesOf(parseConfig(text, "claudikins.json")).map(({ part, label, text }) => [part, label, text]);
  expect(lines).toContainEqual(["config", "definitions", '"trust"']);
  expect(lines).toContainEqual(["shop", "definitions", '"warn"']);
});

test("another value is an error", () => {
  expect(() => parseConfig('{ "definitions": "yes", "mcpServers": {} }', "claudikins.json")).toThrow("definitions");
});
