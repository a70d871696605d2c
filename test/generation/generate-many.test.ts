/** gen and search of very many servers and tools: a few at once, none left running, and the first search is quick. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { ListingQueue, listedAtOnce } from "../../src/catalog/listing-queue.ts";
import { generate } from "../../src/generation/generate.ts";
import { search } from "../../src/search/search.ts";
import { callSearchTools } from "../../src/server/tools/search-tools.ts";
import { processesLeft, processesWith } from "../support/process.ts";
import { fixture, tiny } from "../support/servers.ts";
import { type Project, project } from "./project.ts";

// Processes take their time to start on a small machine.
setDefaultTimeout(30_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const never = new AbortController().signal;

/** So many servers with a tool each, `tool-7` of `s7`. */
function configureMany(count: number): void {
  const names = Array.from({ length: count }, (_, index) => `s${index}`);
  const lists = names.map((name, index) => {
    const tools = [{ name: `tool-${index}`, inputSchema: { type: "object" } }];
    return [name, tiny(folder.write(`lists/${name}.json`, `${JSON.stringify(tools)}\n`))] as const;
  });
  folder.configure(Object.fromEntries(lists));
}

describe("servers", () => {
  const count = 5 * listedAtOnce;

  test("gen asks a few at once and ends them, before it ends itself", async () => {
    configureMany(count);
    await using toolbox = await folder.open();
    const running: number[] = [];
    const { servers } = await generate(toolbox, {
      onServer: () => void running.push(processesWith(join(folder.path, "lists")).length),
    });
    expect(servers.filter(({ tools, problem }) => tools === 1 && !problem).length).toBe(count);
    expect(Math.max(...running)).toBeWithin(1, listedAtOnce + 1);
    expect(await processesLeft(join(folder.path, "lists"))).toEqual([]);
    expect(JSON.parse(readFileSync(join(folder.registry, "index.json"), "utf8")).servers.length).toBe(count);
  });

  test("the first search asks all, those that are too many do not stay, and the index knows them", async () => {
    configureMany(count);
    await using toolbox = await folder.open();
    const { content } = await callSearchTools({ query: "tool-7 server:s7" }, toolbox, never);
    expect(content).toMatchObject([{ text: expect.stringContaining("tool_7") }]);
    expect(toolbox.catalog.missingServers()).toEqual([]);
    const ready = [...toolbox.pool.states().values()].filter(({ state }) => state === "ready");
    expect(ready.length).toBeWithin(1, listedAtOnce + 1);
    await using next = await folder.open();
    expect(next.catalog.missingServers()).toEqual([]);
  });

  test("one that does not answer keeps none of the others from being asked", async () => {
    configureMany(2 * listedAtOnce);
    const { mcpServers } = JSON.parse(readFileSync(join(folder.path, "claudikins.json"), "utf8"));
    const hanging = Object.fromEntries(
      Array.from({ length: listedAtOnce }, (_, index) => [`a${index}`, fixture("lists", "silent", folder.path)]),
    );
    folder.configure({ ...hanging, ...mcpServers });
    await using toolbox = await folder.open();
    const controller = new AbortController();
    const searching = callSearchTools({ query: "tool" }, toolbox, controller.signal);
    while (toolbox.catalog.missingServers().length > listedAtOnce) await Bun.sleep(10);
    expect(toolbox.catalog.missingServers()).toEqual(Object.keys(hanging));
    controller.abort();
    await searching;
  });
});

describe("turns", () => {
  test("are so many at once, and shared by those who ask for the same", async () => {
    const open: PromiseWithResolvers<void>[] = [];
    using asking = new ListingQueue(() => {
      open.push(Promise.withResolvers());
      return open.at(-1)!.promise;
    });
    const all = Array.from({ length: listedAtOnce + 2 }, (_, index) => asking.add(`s${index}`));
    expect(asking.add("s0")).toBe(all[0]!);
    await Bun.sleep(0);
    expect([open.length, asking.size]).toEqual([listedAtOnce, listedAtOnce + 2]);
    open[0]?.resolve();
    open[1]?.reject(new Error("no"));
    await all[0];
    await expect(all[1]).rejects.toThrow("no");
    await Bun.sleep(0);
    expect([open.length, asking.size]).toEqual([listedAtOnce + 2, listedAtOnce]);
    expect([asking.waitedMs("s0"), asking.waitedMs("s3") > 0]).toEqual([0, true]);
  });

  test("end with who gives them", async () => {
    let asked = 0;
    const asking = new ListingQueue(() => {
      asked += 1;
      return new Promise(() => {});
    });
    const last = Array.from({ length: listedAtOnce + 1 }, (_, index) => asking.add(`s${index}`)).at(-1);
    await Bun.sleep(0);
    asking[Symbol.dispose]();
    await last;
    expect(asked).toBe(listedAtOnce);
  });
});

describe("tools", () => {
  const kept = () => join(folder.registry, "search.json");
  const many = () => Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`tool-${index}`, {}]));
  const genned = async () => {
    await using toolbox = await folder.open();
    await generate(toolbox);
  };

  test("what search needs is made by gen, so that the next search only reads it", async () => {
    folder.configure({ shop: folder.offering("shop", many()) });
    await genned();
    const made = statSync(kept());
    folder.offering("shop", { ...many(), archive_parcels: {} });
    await genned();
    expect(statSync(kept()).ino).not.toBe(made.ino);
    const { ino, mtimeMs } = statSync(kept());
    await using toolbox = await folder.open();
    expect(search("archive parcels", 1, toolbox.catalog).tools.map(({ id }) => id)).toEqual(["shop.archive_parcels"]);
    expect(statSync(kept())).toMatchObject({ ino, mtimeMs });
  });

  test("of a registry in a repository, git is not to keep what is made anew; somebody's own .gitignore stays", async () => {
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

  test("where they are few there is nothing to ignore", async () => {
    mkdirSync(join(folder.path, ".git"));
    folder.configure({ shop: folder.offering("shop", { a: {} }) });
    await genned();
    expect(existsSync(join(folder.registry, ".gitignore"))).toBe(false);
  });
});
