/** gen and search with very many servers and tools: few run concurrently, none is left, and the first search is fast. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { callSearchTools } from "../../../src/serve/tools/search-tools.ts";
import { listedAtOnce } from "../../../src/servers/lists/listings.ts";
import { generate } from "../../../src/tools/generate.ts";
import { search } from "../../../src/tools/search/search.ts";
import { eventually } from "../../support/eventually.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { fixture, tiny } from "../../support/servers.ts";
import { type Project, project } from "./project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const never = new AbortController().signal;

/** This many servers with one tool each, such as `tool-7` of `s7`. */
function configureMany(count: number): void {
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  const lists = names.map((name, index) => {
    const tools = [{ name: `tool-${index}`, inputSchema: { type: "object" } }];
    return [name, tiny(folder.write(`lists/${name}.json`, `${JSON.stringify(tools)}\n`))] as const;
  });
  folder.configure(Object.fromEntries(lists));
}

describe("many servers", () => {
  const count = 5 * listedAtOnce;

  test("are asked by gen a few at a time, and ended before gen ends", async () => {
    configureMany(count);
    await using app = await folder.open();
    const running: number[] = [];
    const { servers } = await generate(app, {
      onServer: () => void running.push(processesWith(join(folder.path, "lists")).length),
    });
    expect(servers.filter(({ tools, problem }) => tools === 1 && !problem).length).toBe(count);
    expect(Math.max(...running)).toBeWithin(1, listedAtOnce + 1);
    expect(await processesLeft(join(folder.path, "lists"))).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder.registry, "index.json"), "utf8")).servers.length).toBe(count);
  });

  test("are all asked by the first search, and those above the limit are stopped", async () => {
    configureMany(count);
    await using app = await folder.open();
    const { content } = await callSearchTools({ query: "tool-7" }, app, never);
    expect(content).toMatchObject([{ text: expect.stringContaining("tool_7") }]);
    expect(app.catalog.missingServers()).toEqual([]);
    const ready = [...app.pool.states().values()].filter(({ state }) => state === "ready");
    expect(ready.length).toBeWithin(1, listedAtOnce + 1);
    await using next = await folder.open();
    expect(next.catalog.missingServers()).toEqual([]);
  });

  test("are asked even if some never answer", async () => {
    configureMany(2 * listedAtOnce);
    const { mcpServers } = JSON.parse(readFileSync(join(folder.path, "claudikins.json"), "utf8"));
    const hanging = Object.fromEntries(
      Array.from({ length: listedAtOnce }, (_, index) => [`a${index}`, fixture("lists", "silent", folder.path)]),
    );
    folder.configure({ ...hanging, ...mcpServers });
    await using app = await folder.open();
    const controller = new AbortController();
    const searching = callSearchTools({ query: "tool" }, app, controller.signal);
    await eventually(() => app.catalog.missingServers().length <= listedAtOnce);
    expect(app.catalog.missingServers()).toEqual(Object.keys(hanging));
    controller.abort();
    await searching;
  });
});

describe("a registry with many tools", () => {
  const kept = () => join(folder.registry, "search.json");
  const many = () => Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`tool-${index}`, {}]));
  const genned = async () => {
    await using app = await folder.open();
    await generate(app);
  };

  test("has a search index that gen writes and the next search reads", async () => {
    folder.configure({ shop: folder.offering("shop", many()) });
    await genned();
    const made = statSync(kept());
    folder.offering("shop", { ...many(), archive_parcels: {} });
    await genned();
    expect(statSync(kept()).ino).not.toBe(made.ino);
    const { ino, mtimeMs } = statSync(kept());
    await using app = await folder.open();
    expect(search("archive parcels", 1, app.catalog).tools.map(({ id }) => id)).toEqual(["shop.archive_parcels"]);
    expect(statSync(kept())).toMatchObject({ ino, mtimeMs });
  });

  test("in a repository gets a .gitignore for the index, but keeps the user's own", async () => {
    const ignore = join(folder.registry, ".gitignore");
    folder.configure({ shop: folder.offering("shop", many()) });
    await genned();
    expect(existsSync(ignore)).toBe(false);
    mkdirSync(join(folder.path, ".git"));
    await genned();
    expect(readFileSync(ignore, "utf8")).toBe("# claudikins regenerates these files.\nsearch.json\n.observed.lock\n");
    folder.write(".claudikins/registry/.gitignore", "mine\n");
    await genned();
    expect(readFileSync(ignore, "utf8")).toBe("mine\n");
  });

  test("gets no .gitignore if it has few tools", async () => {
    mkdirSync(join(folder.path, ".git"));
    folder.configure({ shop: folder.offering("shop", { a: {} }) });
    await genned();
    expect(existsSync(join(folder.registry, ".gitignore"))).toBe(false);
  });
});
