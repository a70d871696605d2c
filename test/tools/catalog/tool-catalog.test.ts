/** The tool catalog: stored tools, when they are outdated, and when servers are asked. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { networkFixture } from "../../support/network.ts";
import { fixture, memory } from "../../support/servers.ts";
import { type Project, project } from "../generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

/** The value of a program that succeeds. */
async function run(source: string, app: App): Promise<unknown> {
  const outcome = await execute({ source }, app);
  expect(outcome).toMatchObject({ ok: true });
  return outcome.ok && outcome.value;
}

const tool = (name: string) => ({ [name]: {} });
const never = () => new AbortController().signal;

describe("freshness", () => {
  test("a server is unknown, then listed, and stored for the next process", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using first = await folder.open();
    expect(first.catalog.freshness("shop")).toBe("unknown");
    expect(first.catalog.find("shop")).toBeUndefined();
    await first.catalog.tools("shop");
    expect(first.catalog.freshness("shop")).toBe("listed");
    await first.catalog.writeIndex();
    await using second = await folder.open();
    expect(second.catalog.freshness("shop")).toBe("stored");
  });

  test("the revision that a server spoke is stored, and known before the next process connects to it", async () => {
    folder.configure({ newer: fixture("modern", "reject"), older: folder.offering("shop", tool("go")) });
    {
      await using app = await folder.open();
      await Promise.all(["newer", "older"].map((server) => app.catalog.tools(server)));
      await app.catalog.writeIndex();
    }
    await using app = await folder.open();
    const revisions = ["newer", "older"].map((server) => app.catalog.find(server)?.protocol);
    expect(revisions).toEqual(["2026-07-28", "2025-11-25"]);
  });

  test("a stored server is outdated once its entry has changed, and is shown but does not count", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    {
      await using app = await folder.open();
      await app.catalog.tools("shop");
    }
    folder.configure({ shop: { ...folder.offering("other", tool("go")), category: "mine" } });
    await using app = await folder.open();
    const { catalog } = app;
    expect([catalog.freshness("shop"), catalog.find("shop"), catalog.missingServers()]).toEqual([
      "outdated",
      undefined,
      ["shop"],
    ]);
    expect(catalog.visibleServers.map(({ name }) => name)).toEqual(["shop"]);
    expect(catalog.knownServers).toEqual([]);
  });
});

describe("tools", () => {
  test("asks a server, and the next process takes what is stored without asking", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    {
      await using app = await folder.open();
      expect((await app.catalog.tools("shop")).tools.map(({ name }) => name)).toEqual(["go"]);
      expect(app.pool.state("shop").state).toBe("ready");
    }
    await using app = await folder.open();
    expect(app.catalog.findWithDenied("shop")?.tools.map(({ name }) => name)).toEqual(["go"]);
    expect((await app.catalog.tools("shop", { freshAs: "stored" })).tools.length).toBe(1);
    expect(app.pool.state("shop").state).toBe("idle");
    folder.offering("shop", { go: {}, come: {} });
    expect((await app.catalog.tools("shop", { freshAs: "listed" })).tools.length).toBe(2);
    expect(app.pool.state("shop").state).toBe("ready");
    await app.pool.release("shop");
    await app.catalog.tools("shop", { freshAs: "listed" });
    expect(app.pool.state("shop").state).toBe("idle");
    await app.catalog.tools("shop");
    expect(app.pool.state("shop").state).toBe("ready");
  });

  test("waits for a silent server only as long as the caller says", async () => {
    folder.configure({ shop: fixture("lists", "silent") });
    await using app = await folder.open();
    const wait = { freshAs: "stored", waitMs: 50 } as const;
    await expect(app.catalog.tools("shop", wait)).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

describe("list with isDry", () => {
  test("compares the answer with the stored server and changes nothing", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using app = await folder.open();
    const { server, before } = await app.catalog.list("shop", { isDry: true });
    expect([server.tools.map(({ name }) => name), before]).toEqual([["go"], undefined]);
    expect(app.catalog.find("shop")).toBeUndefined();
    expect(existsSync(join(folder.registry, "index.json"))).toBe(false);
  });
});

describe("denied tools", () => {
  test("are found only with findWithDenied, and only by the process that listed the server", async () => {
    const entry = { ...folder.offering("shop", { go: {}, refund: {} }), deny: ["refund"] };
    folder.configure({ shop: entry });
    const names = (server?: { tools: { name: string }[] }) => server?.tools.map(({ name }) => name);
    {
      await using app = await folder.open();
      const { catalog } = app;
      expect(names(await catalog.tools("shop"))?.sort()).toEqual(["go", "refund"]);
      expect(names(catalog.find("shop"))).toEqual(["go"]);
      expect(names(catalog.findWithDenied("shop"))).toEqual(["go", "refund"]);
    }
    await using next = await folder.open();
    expect(names(next.catalog.findWithDenied("shop"))).toEqual(["go"]);
  });

  test("a server that is denied as a whole is closed: it is neither missing nor open", async () => {
    folder.configure({
      shop: { ...folder.offering("shop", tool("go")), deny: ["*"] },
      open: folder.offering("open", tool("go")),
    });
    await using app = await folder.open();
    const { catalog } = app;
    expect([catalog.isClosed("shop"), catalog.isClosed("open")]).toEqual([true, false]);
    expect([catalog.missingServers(), catalog.openServers()]).toEqual([["open"], ["open"]]);
  });
});

describe("listMissing", () => {
  test("lists the unknown servers, and returns why others are still unknown", async () => {
    folder.configure({
      shop: folder.offering("shop", tool("go")),
      lacking: { ...folder.offering("lacking", tool("go")), env: { TOKEN: "${NO_SUCH_VARIABLE}" } },
    });
    await using app = await folder.open();
    const problems = await app.catalog.listMissing(never());
    expect([...problems.keys()]).toEqual(["lacking"]);
    expect(problems.get("lacking")).toContain("NO_SUCH_VARIABLE");
    expect(app.catalog.freshness("shop")).toBe("listed");
    expect((await app.catalog.listMissing(never())).size).toBe(1);
  });

  test("does not wait for the files of many tools, which are written before the catalog is closed", async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => [`go_${index}`, {}]);
    folder.configure({ shop: folder.offering("shop", Object.fromEntries(many)) });
    const file = join(folder.registry, "other", "shop", "go_1999.ts");
    {
      await using app = await folder.open();
      await app.catalog.listMissing(never());
      expect(app.catalog.find("shop")?.tools).toHaveLength(2_000);
      expect(existsSync(file)).toBe(false);
    }
    expect(existsSync(file)).toBe(true);
    await using next = await folder.open();
    expect(next.catalog.freshness("shop")).toBe("stored");
  });

  test("with waitForOutdated, outdated servers are listed before it resolves", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    {
      await using app = await folder.open();
      await app.catalog.tools("shop");
    }
    folder.configure({ shop: { ...folder.offering("shop", tool("come")), category: "mine" } });
    await using app = await folder.open();
    await app.catalog.listMissing(never(), { waitForOutdated: true });
    expect(app.catalog.find("shop")?.tools.map(({ name }) => name)).toEqual(["come"]);
  });
});

describe("changes", () => {
  test("listeners hear of each server that is listed, in all catalogs that share the stored tools", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using app = await folder.open();
    await using session = app.withOwnPool();
    const heard: string[] = [];
    app.catalog.onChange((server) => heard.push(`own ${server}`));
    session.catalog.onChange((server) => heard.push(`shared ${server}`));
    await session.catalog.tools("shop");
    expect(heard.sort()).toEqual(["own shop", "shared shop"]);
    expect(app.catalog.find("shop")).toBeDefined();
    // Only the catalog that asked has listed the server itself.
    expect([session.catalog.freshness("shop"), app.catalog.freshness("shop")]).toEqual(["listed", "stored"]);
  });

  test("prune forgets the servers that the config no longer has, and removes their files", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")), gone: folder.offering("gone", tool("go")) });
    {
      await using app = await folder.open();
      await Promise.all(["shop", "gone"].map((server) => app.catalog.tools(server)));
    }
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using app = await folder.open();
    expect(app.catalog.forgetRemoved().map(({ name }) => name)).toEqual(["gone"]);
    expect(existsSync(join(folder.registry, "other", "gone", "go.ts"))).toBe(true);
    await using again = await folder.open();
    expect(await again.catalog.prune()).toEqual(["gone"]);
    expect(existsSync(join(folder.registry, "other", "gone"))).toBe(false);
    expect(again.catalog.index.servers.map(({ name }) => name)).toEqual(["shop"]);
  });
});

describe("listing a server", () => {
  test("concurrent callers share one answer, and a caller that gives up ends it for no other", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using app = await folder.open();
    const controller = new AbortController();
    const impatient = app.catalog.list("shop", { signal: controller.signal });
    const [first, second] = [
      app.catalog.list("shop"),
      app.catalog.list("shop", { signal: AbortSignal.timeout(60_000) }),
    ];
    controller.abort();
    await expect(impatient).rejects.toMatchObject({ code: "CANCELLED", message: "tools/list of shop was cancelled" });
    expect(await first).toBe(await second);
    expect((await first).server.tools.map(({ name }) => name)).toEqual(["go"]);
  });

  test("a program that names an unknown server can call it, and the server is stored afterwards", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")), unused: fixture("never-starts", folder.path) });
    await using app = await folder.open();
    expect(app.catalog.missingServers()).toEqual(["shop", "unused"]);
    expect(await run("return (await shop.go({ a: 1 })).arguments", app)).toEqual({ a: 1 });
    expect(app.catalog.missingServers()).toEqual(["unused"]);
    await using next = await folder.open();
    expect(next.catalog.find("shop")?.tools.length).toBe(1);
  });

  test("a program can call servers even if the registry cannot be written", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    folder.write(".claudikins/registry", "a file");
    await using app = await folder.open();
    expect(await run("return (await shop.go()).name", app)).toBe("go");
  });

  test("a stored server counts until its entry changes; values of variables do not matter", async () => {
    const entry = folder.offering("shop", tool("go"));
    const known = async (more: object) => {
      folder.configure({ shop: { ...entry, ...more } });
      await using app = await folder.open();
      return app.catalog.find("shop") !== undefined;
    };
    folder.configure({ shop: { ...entry, env: { TOKEN: "a" } } });
    {
      await using app = await folder.open();
      await app.catalog.list("shop");
    }
    expect(await known({ env: { TOKEN: "b" } })).toBe(true);
    expect(await known({ env: { TOKEN: "a" }, callTimeoutMs: 5 })).toBe(true);
    expect(await known({ env: { TOKEN: "a", MORE: "" } })).toBe(false);
    expect(await known({ env: { TOKEN: "a" }, cwd: "/" })).toBe(false);
    expect(await known({ env: { TOKEN: "a" }, category: "other-tools" })).toBe(false);
    expect(await known({ env: { TOKEN: "a" }, args: ["x"] })).toBe(false);
  });

  test("a stored server on the network counts until its entry changes; values of headers do not matter", async () => {
    await using server = await networkFixture("http");
    const entry = { url: `http://127.0.0.1:${server.port}/mcp`, headers: { "X-Token": "a" } };
    folder.configure({ far: entry });
    {
      await using app = await folder.open();
      await app.catalog.list("far");
    }
    const known = async (more: object) => {
      folder.configure({ far: { ...entry, ...more } });
      await using app = await folder.open();
      return app.catalog.find("far") !== undefined;
    };
    expect(await known({ headers: { "X-Token": "b" } })).toBe(true);
    expect(await known({ startTimeoutMs: 5 })).toBe(true);
    expect(await known({ headers: {} })).toBe(false);
    expect(await known({ url: `${entry.url}?features=docs` })).toBe(false);
    expect(await known({ type: "sse" })).toBe(false);
  });
});

test("a well-known server without a category in its entry has that of the server catalog", async () => {
  const entry = memory(join(folder.path, "memory.jsonl"));
  folder.configure({ notes: entry, own: { ...entry, category: "mine" }, shop: folder.offering("shop", tool("go")) });
  await using app = await folder.open();
  const synced = await Promise.all(["notes", "own", "shop"].map((name) => app.catalog.list(name)));
  expect(synced.map(({ server }) => server)).toMatchObject([
    { category: "knowledge", folder: "knowledge/notes" },
    { category: "mine", folder: "mine/own" },
    { category: "other", folder: "other/shop" },
  ]);
  await using next = await folder.open();
  expect(next.catalog.find("notes")?.category).toBe("knowledge");
});
