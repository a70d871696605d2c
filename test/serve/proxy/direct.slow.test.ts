/** Direct mode for a host: the servers' own tools, resources and prompts, as if it were connected to each server. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { failedRequest, type HostOptions, messagesTo, openHost, scripted, type TestHost } from "../../support/host.ts";
import { processesLeft, processesWith } from "../../support/process.ts";
import { fixture } from "../../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary.ts";

setDefaultTimeout(60_000);

let folder: TemporaryFolder;
let host: TestHost | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await host?.client.close();
  host = undefined;
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

async function direct(mcpServers: object, options: HostOptions & { config?: object } = {}): Promise<TestHost> {
  folder.write("claudikins.json", { mode: "direct", ...options.config, mcpServers });
  host = await openHost(folder, options);
  return host;
}

const named = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);
const text = (result: Record<string, unknown>) => (result["content"] as { text: string }[])[0]?.text ?? "";
const inputSchema = { type: "object" };
const protocol = () => fixture("protocol", "stdio", folder.path);
/** A server with these tools, which return their arguments. */
const listing = (name: string, tools: object[]) => fixture("from-file", folder.write(`${name}-tools.json`, tools));

describe("tools", () => {
  const full = {
    name: "find",
    title: "Find things",
    description: "Finds them",
    inputSchema: { type: "object", properties: { words: { type: "string" } }, required: ["words"] },
    outputSchema: { type: "object", properties: { found: { type: "number" } } },
    annotations: { readOnlyHint: true, openWorldHint: false },
    icons: [{ src: "data:image/png;base64,AAAA", mimeType: "image/png", sizes: ["48x48"] }],
    _meta: { "example.com/ui": { resourceUri: "ui://find" } },
  };

  test("are listed unchanged, and called with the agent's arguments without checking them", async () => {
    const { request, call } = await direct({ shop: listing("shop", [full]) });
    expect(await request("tools/list")).toEqual({ tools: [full] });
    const sent = [{ words: 5, more: [null, { a: "ü\u0000" }] }, {}];
    for (const args of sent) {
      expect(await call("find", args)).toEqual({ content: [], structuredContent: { name: "find", arguments: args } });
    }
    expect(await call("find")).toMatchObject({ structuredContent: { arguments: null } });
  });

  test("results are unchanged: content of every type, structured content, tool errors, _meta and unknown fields", async () => {
    const result = {
      content: [
        { type: "text", text: "words", annotations: { audience: ["user"], priority: 1 }, _meta: { a: 1 } },
        { type: "image", data: "AAAA", mimeType: "image/png" },
        { type: "audio", data: "AAAA", mimeType: "audio/wav" },
        { type: "resource", resource: { uri: "x:y", blob: "AAAA", _meta: { b: 2 } } },
        { type: "resource_link", uri: "x:z", name: "z", icons: [{ src: "https://example.com/z.png" }] },
        { type: "hologram", depth: 3 },
      ],
      structuredContent: { found: "not what the schema says" },
      isError: true,
      _meta: { "example.com/cost": 3 },
      "x-vendor": { kept: true },
    };
    const { request } = await direct({
      shop: scripted(folder, "shop", { answers: { "tools/list": { tools: [full] }, "tools/call": result } }),
    });
    const _meta = { "example.com/trace": "t1" };
    expect(await request("tools/call", { name: "find", arguments: {}, _meta })).toEqual(result);
    const [sent] = (await messagesTo(folder, "shop")).filter(({ method }) => method === "tools/call");
    expect(sent?.["params"]).toMatchObject({ name: "find", arguments: {}, _meta });
  });

  test("errors of a server are unchanged; if a server cannot be called, the model is told why", async () => {
    const data = { retry: true, of: ["x"] };
    const error = { code: -32_011, message: "MCP error -32011: the database is gone", data };
    const dying = fixture("flaky", folder.path);
    const { call } = await direct({
      shop: scripted(folder, "shop", { answers: { "tools/list": { tools: [full] }, "tools/call": { $error: error } } }),
      odd: fixture("odd", folder.path),
      dying,
    });
    expect(await failedRequest(call("find", {}))).toEqual(error);
    expect(await failedRequest(call("fimd", {}))).toEqual({
      code: -32_602,
      message: "Unknown tool: fimd. Did you mean find?",
      data: undefined,
    });
    const died = await call("end-process", {});
    expect(died["isError"]).toBe(true);
    expect(text(died)).toStartWith(
      'SERVER_UNAVAILABLE: odd.end-process: server "odd" is gone: its process was ended by SIGKILL',
    );
    // The next call starts it again.
    expect(await call("get-thing")).toEqual({ content: [{ type: "text", text: "dash" }] });
  });

  test.each([
    [-32_002, { uri: "file:///a", more: 1 }],
    [-32_602, { uri: "file:///a" }],
    [-32_022, { supported: ["2026-07-28"], requested: "2025-11-25", more: 1 }],
  ])("the error %d with the data %j is passed on for each kind of request", async (code, data) => {
    const error = { code, message: "not like this", data };
    const answers = {
      "tools/list": { tools: [full] },
      "resources/list": { resources: [{ uri: "file:///a", name: "a" }] },
      "tools/call": { $error: error },
      "resources/read": { $error: error },
    };
    const capabilities = { tools: {}, resources: {} };
    const { call, request } = await direct({ shop: scripted(folder, "shop", { capabilities, answers }) });
    await request("resources/list");
    expect(await failedRequest(call("find", {}))).toEqual(error);
    expect(await failedRequest(request("resources/read", { uri: "file:///a" }))).toEqual(error);
  });

  test("names are valid for every host, and calls by them reach the right tools", async () => {
    const tools = ["get.thing", "get/thing", "x".repeat(100), "search"].map((name) => ({ name, inputSchema }));
    const servers = { one: listing("one", tools), "two ü": listing("two", [{ name: "search", inputSchema }]) };
    const { request, call } = await direct(servers);
    const names = named((await request("tools/list"))["tools"]);
    expect(names).toMatchInlineSnapshot(`
      [
        "get_thing_99afbd1e",
        "get_thing_4378da4b",
        "one__search",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_09ecb6eb",
        "two___search",
      ]
    `);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const back = await Promise.all(names.map(async (name) => (await call(name, {}))["structuredContent"]));
    expect(named(back)).toEqual([...["get.thing", "get/thing", "search", "x".repeat(100)], "search"]);
  });

  test.each([
    [["--prefix", "always"], {}, ["one__search", "one__list", "two__search"]],
    [[], { prefix: "always" }, ["one__search", "one__list", "two__search"]],
    [["--prefix", "on-collision"], { prefix: "always" }, ["one__search", "list", "two__search"]],
  ])("%j %j sets the prefix of names", async (flags, config, names) => {
    const tool = (name: string) => ({ name, inputSchema });
    const one = listing("one", [tool("search"), tool("list")]);
    const { request } = await direct({ one, two: listing("two", [tool("search")]) }, { flags, config });
    expect(named((await request("tools/list"))["tools"]).sort()).toEqual(names.sort());
  });

  test("names do not depend on which servers are already known", async () => {
    const tool = { name: "search", inputSchema };
    const [one, two] = [listing("one", [tool]), listing("two", [tool])];
    const alone = await direct({ two });
    expect(await alone.call("search")).toMatchObject({ structuredContent: { name: "search" } });
    await alone.client.close();
    const both = await direct({ one, two });
    expect(await both.call("two__search")).toMatchObject({ structuredContent: { name: "search" } });
  });

  test("an invalid definition does not hide the others", async () => {
    const { client } = await direct({
      bad: scripted(folder, "bad", {
        answers: {
          "tools/list": { tools: [{ name: "odd", inputSchema: { anyOf: [] }, title: 5, icons: "x" }, 7, {}] },
        },
      }),
      good: listing("good", [full]),
    });
    const { tools } = await client.listTools();
    expect(named(tools)).toEqual(["odd", "find"]);
  });
});

describe("servers", () => {
  test("known servers are not started for initialize and tools/list", async () => {
    const servers = { one: protocol(), two: fixture("odd", folder.path) };
    const first = await direct(servers);
    const { tools } = await first.request("tools/list");
    await first.client.close();
    await processesLeft(folder.path);
    const second = await direct(servers);
    expect(second.client.getServerCapabilities()).toEqual({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
      extensions: { "io.modelcontextprotocol/skills": {} },
    });
    expect((await second.request("tools/list"))["tools"]).toEqual(tools);
    expect(processesWith(folder.path)).toEqual([]);
    await second.call("get-thing");
    expect(processesWith(folder.path).length).toBe(1);
  });

  test("servers that are broken, slow or lack a variable are named, and do not hide the others", async () => {
    const lacking = { ...protocol(), env: { KEY: "${NO_SUCH_VARIABLE}" } };
    const { client, request, hears } = await direct({
      works: listing("works", [{ name: "find", inputSchema }]),
      broken: fixture("crash-on-start", folder.path),
      lacking,
    });
    expect(client.getInstructions()).toMatchInlineSnapshot(`
      "Tools, resources and prompts of these MCP servers, passed through unchanged.
      - works
      - broken
      - lacking (not offered: needs NO_SUCH_VARIABLE)"
    `);
    expect(named((await request("tools/list"))["tools"])).toEqual(["find"]);
    const broken = await hears("notifications/message", ({ data }) => String(data).includes("broken"));
    expect(broken).toMatchInlineSnapshot(`
      {
        "data": "The tools of broken are missing from the list: did not start: its process exited with code 3; retried on the next call. Run its command from the config by hand to see more. To check it: claudikins doctor",
        "level": "warning",
        "logger": "claudikins",
      }
    `);
    const needs = await hears("notifications/message", ({ data }) => String(data).includes("lacking"));
    expect(needs["data"]).toMatchInlineSnapshot(
      `"The tools of lacking are missing from the list: needs NO_SUCH_VARIABLE: set this before starting claudikins"`,
    );
    // Its list is empty, unlike those of the others.
    expect(await request("prompts/list")).toEqual({ prompts: [] });
    expect(await request("resources/templates/list")).toEqual({ resourceTemplates: [] });
  });

  test("slow servers are not awaited, and list_changed follows when they answer", async () => {
    const gate = `${folder.path}/gate`;
    const script = {
      capabilities: { tools: {}, prompts: {} },
      answers: {
        initialize: { $after: gate },
        "tools/list": { tools: [{ name: "late", inputSchema }] },
        "prompts/list": { prompts: [{ name: "late" }] },
      },
    };
    const servers = {
      slow: scripted(folder, "slow", script),
      quick: listing("quick", [{ name: "find", inputSchema }]),
    };
    const { request, hears } = await direct(servers);
    const lists = async () => {
      const [{ tools }, { prompts }] = await Promise.all([request("tools/list"), request("prompts/list")]);
      return [named(tools), named(prompts)];
    };
    expect(await lists()).toEqual([["find"], []]);
    const { data } = await hears("notifications/message");
    expect(data).toBe(
      "The tools of slow are missing from the list: no answer for 10 s. It may still answer; to check: claudikins list --check",
    );
    folder.write("gate", "open");
    await Promise.all(["tools", "prompts"].map((what) => hears(`notifications/${what}/list_changed`)));
    expect(await lists()).toEqual([["late", "find"], ["late"]]);
  });

  test("unchanged tools cause no notification", async () => {
    const first = await direct({ one: protocol() });
    await first.request("tools/list");
    await Bun.sleep(200);
    expect(first.told).toEqual([]);
    await first.client.close();
    const { request, call, hears, told } = await direct({ one: protocol() });
    await request("tools/list");
    // The first call starts the server, whose tools are listed meanwhile.
    while (JSON.parse(text(await call("seen"))).lists === 0) await request("ping");
    await Bun.sleep(200);
    await call("add-tool", { name: "late" });
    await hears("notifications/tools/list_changed");
    expect(told.map(({ method }) => method)).toEqual(["notifications/tools/list_changed"]);
  });

  test("announce changes: list_changed of tools, resources and prompts", async () => {
    const { request, call, hears, told } = await direct({ one: protocol() });
    const names = async () => named((await request("tools/list"))["tools"]);
    expect(await names()).not.toContain("late");
    await call("add-tool", { name: "late" });
    await hears("notifications/tools/list_changed");
    expect(await names()).toContain("late");
    expect(text(await call("late"))).toBe('"this is late"');
    for (const what of ["resources", "prompts"]) {
      const method = `notifications/${what}/list_changed`;
      // A client that has not seen the list gets no notification of its change.
      await call("notify", { method });
      await request(`${what}/list`).catch(() => {});
      await call("notify", { method });
      await hears(method);
      expect(told.filter((each) => each.method === method).length).toBe(1);
    }
  });
});

describe("while a call runs", () => {
  test("progress is sent with the agent's token, in order, before the answer", async () => {
    const { request, told } = await direct({ one: protocol() });
    const _meta = { progressToken: "mine" };
    await request("tools/call", { name: "progress", arguments: { steps: 3 }, _meta });
    expect(told.filter(({ method }) => method === "notifications/progress").map(({ params }) => params)).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: "mine", progress, total: 3, message: `step ${progress}` })),
    );
    const [call] = (JSON.parse(text(await request("tools/call", { name: "seen" }))).meta ?? []) as object[];
    expect(call).toEqual({ progressToken: expect.any(Number) });
  });

  test("a call that reports progress may take longer than the server's time limit", async () => {
    const { request } = await direct({ one: { ...protocol(), callTimeoutMs: 2_000 } });
    const slow = { name: "progress", arguments: { steps: 6, ms: 500 }, _meta: { progressToken: 1 } };
    expect(text(await request("tools/call", slow))).toBe('"reported"');
    const silent = await request("tools/call", { name: "wait", arguments: { ms: 20_000 } });
    expect(text(silent)).toBe(
      'CALL_TIMEOUT: one.wait did not answer within 2 s\nHint: Raise "callTimeoutMs" of "one" in the config, or ask for less in one call.',
    );
  });

  test("cancelling it cancels the request to the server", async () => {
    const script = {
      answers: { "tools/list": { tools: [{ name: "hang", inputSchema }] }, "tools/call": { $never: true } },
    };
    const { request, client } = await direct({ one: scripted(folder, "one", script) });
    await request("tools/list");
    const cancel = new AbortController();
    const call = request("tools/call", { name: "hang" }, { signal: cancel.signal });
    const heard = async (method: string) => {
      for (;;) {
        const found = (await messagesTo(folder, "one")).find((each) => each["method"] === method);
        if (found) return found as { id: number; params: { requestId: number } };
        await client.ping();
      }
    };
    const { id } = await heard("tools/call");
    cancel.abort();
    await expect(call).rejects.toThrow();
    expect((await heard("notifications/cancelled")).params.requestId).toBe(id);
  });
});

describe("the log of servers", () => {
  const say = (level: string, data: unknown, more = {}) => ({
    method: "notifications/message",
    params: { level, data, ...more },
  });

  test("goes to the host with the server's name, from the level that the host set", async () => {
    const { call, request, hears, told } = await direct({ one: protocol() });
    await call("notify", say("debug", { any: ["thing"] }, { logger: "db" }));
    expect(await hears("notifications/message")).toEqual({
      level: "debug",
      logger: "one/db",
      data: { any: ["thing"] },
    });
    await request("logging/setLevel", { level: "warning" });
    for (const level of ["info", "loud", "warning"]) await call("notify", say(level, level));
    await hears("notifications/message", ({ level }) => level === "warning");
    expect(told.map(({ params }) => params?.["level"])).toEqual(["debug", "warning"]);
    expect(await failedRequest(request("logging/setLevel", { level: "loud" }))).toMatchObject({ code: -32_602 });
  });

  test("has the host's level in all servers with logging, including those started later", async () => {
    const script = {
      answers: { "tools/list": { tools: [{ name: "a", inputSchema }] }, "tools/call": { content: [] } },
    };
    const { request, call } = await direct({
      one: scripted(folder, "one", { ...script, capabilities: { tools: {}, logging: {} } }),
      two: scripted(folder, "two", { ...script, capabilities: { tools: {} } }),
    });
    await request("logging/setLevel", { level: "error" });
    await call("one__a");
    await call("two__a");
    await request("logging/setLevel", { level: "info" });
    const levels = async (name: string) =>
      (await messagesTo(folder, name))
        .filter(({ method }) => method === "logging/setLevel")
        .map(({ params }) => params);
    expect(await levels("one")).toEqual([{ level: "error" }, { level: "info" }]);
    expect(await levels("two")).toEqual([]);
  });
});

test("unknown methods and invalid parameters are errors", async () => {
  const { request } = await direct({ one: protocol() });
  const wrong: [string, object, number][] = [
    ["tools/fly", {}, -32_601],
    ["tools/call", {}, -32_602],
    ["tools/call", { name: "seen", arguments: "x" }, -32_602],
    ["tools/call", { name: "__proto__" }, -32_602],
    ["tools/list", { cursor: "from 9" }, -32_602],
    ["prompts/get", { name: "none" }, -32_602],
    ["resources/read", { uri: 7 }, -32_602],
    ["resources/read", { uri: "nobody:has/it" }, -32_002],
    ["completion/complete", { ref: { type: "ref/other" }, argument: { name: "a", value: "" } }, -32_602],
  ];
  for (const [method, params, code] of wrong) {
    expect([method, (await failedRequest(request(method, params))).code]).toEqual([method, code]);
  }
});
