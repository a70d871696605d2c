/** Outdated tools in the registry are used at once, and listed again in the background. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { callSearchTools } from "../../../src/serve/tools/search-tools.ts";
import { generate } from "../../../src/tools/generate.ts";
import { search } from "../../../src/tools/search/search.ts";
import { eventually } from "../../support/eventually.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "../generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const never = new AbortController().signal;

async function gen(): Promise<void> {
  await using app = await folder.open();
  await generate(app);
}

async function run(source: string, app: App): Promise<unknown> {
  const outcome = await execute({ source }, app);
  return outcome.ok ? outcome.value : outcome.error;
}

async function found(query: string, app: App): Promise<string> {
  const { content } = await callSearchTools({ query }, app, never);
  return (content[0] as { text: string }).text;
}

/** Names of the tools in the index on disk. */
const onDisk = (server: string): string[] => {
  const { servers } = JSON.parse(readFileSync(join(folder.registry, "index.json"), "utf8"));
  return servers.find(({ name }: { name: string }) => name === server).tools.map(({ name }: { name: string }) => name);
};

/** Waits until the index on disk has the tool. */
async function known(server: string, tool: string): Promise<void> {
  await eventually(() => onDisk(server).includes(tool));
}

test("a server whose entry has changed is found with its old tools, and is listed again in the background", async () => {
  folder.configure({ shop: folder.offering("shop", { refund: {} }) });
  await gen();
  folder.configure({ shop: folder.offering("other", { refund: {}, weigh_parcel: {} }) });
  await using app = await folder.open();
  expect(await found("refund", app)).toContain("shop.refund");
  expect(app.catalog.freshness("shop")).toBe("outdated");
  await app.catalog.tools("shop");
  expect(app.catalog.freshness("shop")).toBe("listed");
  expect(await found("weigh parcel", app)).toContain("shop.weigh_parcel");
  expect(onDisk("shop")).toEqual(["refund", "weigh_parcel"]);
});

test("a server that cannot be listed is found with its old tools, and a later search tries again", async () => {
  const good = folder.offering("shop", { refund: {} });
  folder.configure({ shop: good });
  await gen();
  folder.configure({ shop: { ...good, args: [...fixture("crash-on-start").args] } });
  await using app = await folder.open();
  expect(await found("refund", app)).toContain("shop.refund");
  await app.catalog.tools("shop").catch(() => {});
  const text = await found("refund", app);
  expect(text).toContain("shop.refund");
  expect(text).toContain("Down: shop did not start: ");
  expect(onDisk("shop")).toEqual(["refund"]);
});

test("a server that a call has started is listed again", async () => {
  folder.configure({ shop: folder.offering("shop", { refund: {}, old: {} }) });
  await gen();
  folder.offering("shop", { refund: {}, weigh_parcel: {} });
  await using app = await folder.open();
  expect(await run("return (await shop.refund()).name", app)).toBe("refund");
  await known("shop", "weigh_parcel");
  expect(onDisk("shop")).toEqual(["refund", "weigh_parcel"]);
  expect(await found("weigh parcel", app)).toContain("shop.weigh_parcel");
});

test("a server is listed once per connection", async () => {
  folder.configure({ shop: fixture("protocol", "stdio", folder.path) });
  const lists = `return (await shop.seen()).lists`;
  {
    await using first = await folder.open();
    // The server is unknown, so the program lists it.
    expect(await run(`await shop.wait({ ms: 0 }); ${lists}`, first)).toBe(1);
  }
  await using app = await folder.open();
  for (let count = 0; count < 3; count++) {
    expect(await run(`await shop.wait({ ms: 0 }); ${lists}`, app)).toBe(1);
  }
  await app.pool.release("shop");
  expect(app.pool.state("shop").state).toBe("idle");
  expect(await run(`await shop.wait({ ms: 0 }); ${lists}`, app)).toBe(1);
});

test.each([
  ["a deny list", {}, { deny: ["refund"] }, true],
  ["a longer deny list", { deny: ["re*"] }, { deny: ["re*", "go"] }, true],
  ["an allow list", {}, { allow: ["go"] }, true],
  ["a shorter allow list", { allow: ["go", "refund"] }, { allow: ["go"] }, true],
  ["a shorter deny list", { deny: ["re*", "go"] }, { deny: ["re*"] }, false],
  ["no deny list", { deny: ["refund"] }, {}, false],
  ["a longer allow list", { allow: ["go"] }, { allow: ["go", "refund"] }, false],
  ["other arguments beside a deny list", {}, { deny: ["refund"], env: { MORE: "1" } }, false],
])("after %s no tool is unknown if it denies more", async (_, before, after, isComplete) => {
  const offering = folder.offering("shop", { go: {}, refund: {}, weigh: {} });
  folder.configure({ shop: { ...offering, ...before } });
  await gen();
  folder.configure({ shop: { ...offering, ...after } });
  await using app = await folder.open();
  const { catalog } = app;
  expect(catalog.find("shop") !== undefined).toBe(isComplete);
  expect(search("weigh", 5, catalog).outdated).toEqual(isComplete ? [] : ["shop"]);
  // The files of the generated API are written again when the server is listed.
  expect(catalog.freshness("shop")).toBe("outdated");
  await gen();
  await using next = await folder.open();
  expect(next.catalog.freshness("shop")).toBe("stored");
});
