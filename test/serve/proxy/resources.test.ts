/** Resources, templates, prompts and completion in direct mode reach the server that has them, even if several have the same. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { failedRequest, messagesTo, openHost, scripted, type TestHost } from "../../support/host.ts";
import { processesLeft } from "../../support/process.ts";
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

async function direct(mcpServers: object): Promise<TestHost> {
  folder.write("claudikins.json", { mcpServers });
  host = await openHost(folder, { flags: ["--mode", "direct"] });
  return host;
}

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} };
const resource = (uri: string, more = {}) => ({ uri, name: `of ${uri}`, ...more });
const of = (server: string, uri: string) => ({
  contents: [
    { uri, text: `${uri} of ${server}`, mimeType: "text/plain", _meta: { from: server } },
    { uri: `${uri}/below`, blob: "AAAA" },
  ],
});

/** A server with these resources and templates, which can read those and the ones in `more`. */
function library(name: string, uris: string[], templates: string[] = [], more: string[] = [], other = {}) {
  const readable = Object.fromEntries([...uris, ...more].map((uri) => [uri, of(name, uri)]));
  return scripted(folder, name, {
    capabilities,
    answers: {
      "tools/list": { tools: [] },
      "resources/list": { resources: uris.map((uri) => resource(uri, { size: 3, annotations: { priority: 1 } })) },
      "resources/templates/list": { resourceTemplates: templates.map((uriTemplate) => ({ uriTemplate, name: "t" })) },
      "resources/read": { $by: "uri", ...readable },
      "resources/subscribe": {},
      "resources/unsubscribe": {},
      ...other,
    },
  });
}

const uris = ({ resources }: Record<string, unknown>) => (resources as { uri: string }[]).map(({ uri }) => uri);
const requestsTo = async (name: string, method: string) =>
  (await messagesTo(folder, name)).filter((message) => message["method"] === method).map(({ params }) => params);

describe("resources", () => {
  test("are listed and read unchanged, with the server's name before addresses that several servers have", async () => {
    const { request } = await direct({
      one: library("one", ["file:///same", "memo://1"]),
      "two ü": library("two", ["file:///same", "memo://2"]),
    });
    const listed = await request("resources/list");
    expect(listed).toEqual({
      resources: [
        resource("file:///same", { uri: "claudikins://one/file:///same", size: 3, annotations: { priority: 1 } }),
        resource("memo://1", { size: 3, annotations: { priority: 1 } }),
        resource("file:///same", {
          uri: "claudikins://two%20%C3%BC/file:///same",
          size: 3,
          annotations: { priority: 1 },
        }),
        resource("memo://2", { size: 3, annotations: { priority: 1 } }),
      ],
    });
    expect(await request("resources/read", { uri: "memo://2" })).toEqual(of("two", "memo://2"));
    const uri = "claudikins://two%20%C3%BC/file:///same";
    const { contents } = of("two", "file:///same");
    expect(await request("resources/read", { uri })).toEqual({ contents: [{ ...contents[0], uri }, contents[1]] });
    // The address without a name means that of the first server.
    expect(await request("resources/read", { uri: "file:///same" })).toEqual(of("one", "file:///same"));
    expect(await failedRequest(request("resources/read", { uri: "claudikins://one/memo://2" }))).toEqual({
      code: -32_002,
      message: "Resource not found",
      data: undefined,
    });
  });

  test("are read from servers with a matching template or scheme, and from no others, if no server lists them", async () => {
    const { request } = await direct({
      one: library("one", ["file:///a"], [], ["file:///hidden"]),
      two: library("two", ["db://a"], ["db://table/{name}"], ["db://table/x", "db://b"]),
      three: library("three", ["other:a"]),
    });
    for (const [uri, server] of Object.entries({ "db://table/x": "two", "file:///hidden": "one", "db://b": "two" })) {
      expect(await request("resources/read", { uri })).toEqual(of(server, uri));
    }
    expect(await requestsTo("three", "resources/read")).toEqual([]);
    expect(await failedRequest(request("resources/read", { uri: "nobody:knows" }))).toEqual({
      code: -32_002,
      message: "No server has the resource nobody:knows",
      data: { uri: "nobody:knows" },
    });
  });

  test("are read from the server of a result that links to them", async () => {
    const linking = (name: string) =>
      library(name, [], [], ["note:1"], {
        "tools/list": { tools: [{ name: "make", inputSchema: { type: "object" } }] },
        "tools/call": { content: [{ type: "resource_link", uri: "note:1", name: "note" }] },
      });
    const { request, call } = await direct({ one: linking("one"), two: linking("two") });
    const linked = async (name: string) => ((await call(name))["content"] as { uri: string }[])[0]!.uri;
    expect(await linked("two__make")).toBe("note:1");
    expect(await request("resources/read", { uri: "note:1" })).toEqual(of("two", "note:1"));
    // The address already means something of the other server.
    const uri = "claudikins://one/note:1";
    expect(await linked("one__make")).toBe(uri);
    const [first, ...rest] = of("one", "note:1").contents;
    expect(await request("resources/read", { uri })).toEqual({ contents: [{ ...first, uri }, ...rest] });
    expect(await request("resources/read", { uri: "note:1" })).toEqual(of("two", "note:1"));
  });

  test("can be subscribed to, and updates have the address that the host knows", async () => {
    const { request, call, told, hears } = await direct({
      one: fixture("protocol", "stdio", folder.path),
      two: fixture("protocol", "stdio", folder.path),
      three: library("three", ["x:y"], [], [], {}),
    });
    await request("resources/list");
    const uri = "claudikins://two/file:///a";
    await request("resources/subscribe", { uri });
    await request("resources/subscribe", { uri });
    await call("one__touch-resource", { uri: "file:///a" });
    await call("two__touch-resource", { uri: "file:///a" });
    expect(await hears("notifications/resources/updated")).toEqual({ uri });
    await call("two__touch-resource", { uri: "file:///a/below" });
    expect(await hears("notifications/resources/updated", (each) => each["uri"] !== uri)).toEqual({
      uri: `${uri}/below`,
    });
    await request("resources/unsubscribe", { uri });
    await call("two__touch-resource", { uri: "file:///a" });
    expect(told.length).toBe(2);
    const seen = async (name: string) => JSON.parse(textOf(await call(`${name}__seen`))).subscriptions;
    expect(await seen("one")).toEqual([]);
    expect(await seen("two")).toEqual(["+file:///a", "-file:///a"]);
    await request("resources/subscribe", { uri: "x:y" });
    expect(await requestsTo("three", "resources/subscribe")).toEqual([{ uri: "x:y" }]);
    expect((await failedRequest(request("resources/subscribe", { uri: "nobody:knows" }))).code).toBe(-32_002);
  });

  test("cannot be subscribed to if their server has no subscriptions", async () => {
    const script = { capabilities: { resources: {} }, answers: { "resources/list": { resources: [resource("x:y")] } } };
    const { request } = await direct({ one: scripted(folder, "one", script) });
    expect((await failedRequest(request("resources/subscribe", { uri: "x:y" }))).message).toBe(
      'Server "one" does not support resource subscriptions\nHint: Poll the resource instead.',
    );
  });

  test("are listed in pages, whatever the size of the servers' own pages", async () => {
    const all = Array.from({ length: 2_500 }, (_, index) => resource(`x:${index}`));
    const pages = Array.from({ length: 25 }, (_, page) => ({ resources: all.slice(page * 100, (page + 1) * 100) }));
    const answers = { "resources/list": { $pages: pages }, "tools/list": { tools: [] } };
    const { request } = await direct({ one: scripted(folder, "one", { capabilities, answers }) });
    const first = await request("resources/list");
    const second = await request("resources/list", { cursor: first["nextCursor"] });
    const third = await request("resources/list", { cursor: second["nextCursor"] });
    expect([first, second, third].flatMap(uris)).toEqual(all.map(({ uri }) => uri));
    expect(third["nextCursor"]).toBeUndefined();
    // The index for searches also reads the first pages.
    const asked = (await requestsTo("one", "resources/list")).map((params) => JSON.stringify(params));
    expect(new Set(asked).size).toBe(25);
    expect((await failedRequest(request("resources/list", { cursor: "from 2500" }))).code).toBe(-32_602);
  });
});

const textOf = (result: Record<string, unknown>) => (result["content"] as { text: string }[])[0]?.text ?? "";

describe("templates, prompts and completion", () => {
  const prompt = {
    name: "review",
    title: "Review",
    description: "Reviews",
    arguments: [{ name: "path", required: true }],
    icons: [{ src: "https://example.com/i.png" }],
    _meta: { a: 1 },
  };
  const messages = [
    { role: "user", content: { type: "resource", resource: { uri: "x:y", text: "z", _meta: { b: 1 } } } },
  ];
  const completion = (server: string) => ({ completion: { values: [server], total: 1, hasMore: false } });
  const writer = (name: string) =>
    library(name, [], ["doc://{id}", `${name}://{id}`], [], {
      "prompts/list": { prompts: [prompt, prompt, { name: `only ${name}` }] },
      "prompts/get": { description: `of ${name}`, messages, _meta: { c: 1 } },
      "completion/complete": completion(name),
    });

  test("are unchanged, and reach their servers", async () => {
    const { request } = await direct({ one: writer("one"), two: writer("two") });
    expect(await request("prompts/list")).toEqual({
      prompts: [
        { ...prompt, name: "one__review" },
        { name: "only_one" },
        { ...prompt, name: "two__review" },
        { name: "only_two" },
      ],
    });
    const got = await request("prompts/get", { name: "two__review", arguments: { path: "/a" } });
    expect(got).toEqual({ description: "of two", messages, _meta: { c: 1 } });
    expect(await requestsTo("two", "prompts/get")).toEqual([
      { name: "review", arguments: { path: "/a" }, _meta: { progressToken: expect.any(Number) } },
    ]);
    expect(await request("resources/templates/list")).toEqual({
      resourceTemplates: ["claudikins://one/doc://{id}", "one://{id}", "claudikins://two/doc://{id}", "two://{id}"].map(
        (uriTemplate) => ({ uriTemplate, name: "t" }),
      ),
    });
    const argument = { name: "id", value: "4" };
    const complete = (ref: object) => request("completion/complete", { ref, argument, context: { arguments: {} } });
    expect(await complete({ type: "ref/prompt", name: "two__review" })).toEqual(completion("two"));
    expect(await complete({ type: "ref/resource", uri: "claudikins://two/doc://{id}" })).toEqual(completion("two"));
    expect(await complete({ type: "ref/resource", uri: "one://{id}" })).toEqual(completion("one"));
    const sent = { argument, context: { arguments: {} } };
    expect(await requestsTo("two", "completion/complete")).toEqual([
      { ref: { type: "ref/prompt", name: "review" }, ...sent },
      { ref: { type: "ref/resource", uri: "doc://{id}" }, ...sent },
    ]);
  });

  test("can be used before they are listed", async () => {
    const { request } = await direct({ one: writer("one") });
    expect(await request("prompts/get", { name: "review" })).toMatchObject({ description: "of one" });
    const ref = { type: "ref/resource", uri: "doc://{id}" };
    expect(await request("completion/complete", { ref, argument: { name: "id", value: "" } })).toEqual(
      completion("one"),
    );
  });

  test("have no values for a server without completions", async () => {
    const script = { capabilities: { prompts: {} }, answers: { "prompts/list": { prompts: [prompt] } } };
    const { request } = await direct({ one: scripted(folder, "one", script) });
    const ref = { type: "ref/prompt", name: "review" };
    const argument = { name: "path", value: "" };
    expect(await request("completion/complete", { ref, argument })).toEqual({ completion: { values: [] } });
    expect(await requestsTo("one", "completion/complete")).toEqual([]);
  });
});
