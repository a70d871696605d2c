import { expect, test } from "bun:test";
import type { JsonObject } from "../../../src/base/json-object.ts";
import { cli } from "../../cli/in-memory.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { apiOf, operation, parameter, RecordingApi, sourceOf, textOf } from "./made-api.ts";
import { documentOf } from "./read.ts";

const folder = ownFolder();

/** Answers 304 if the client has the current state of a path. */
function taggedApi(bodyOf: (path: string) => string = (path) => JSON.stringify({ path }), headers = {}): RecordingApi {
  return new RecordingApi(({ path, headers: asked }) => {
    const tag = `"${Bun.hash(bodyOf(path))}"`;
    const all = { etag: tag, "content-type": "application/json", "x-left": "10", ...headers };
    return asked["if-none-match"] === tag
      ? new Response(null, { status: 304, headers: { etag: tag, "x-left": "9" } })
      : new Response(bodyOf(path), { headers: all });
  });
}

async function reader(api: RecordingApi, options: Parameters<typeof sourceOf>[1] = {}) {
  const get = operation("GET", "/things/{id}", { name: "get", parameters: [parameter("id", "path")] });
  const post = operation("POST", "/things/{id}", { name: "post", parameters: [parameter("id", "path")] });
  const source = await sourceOf(apiOf(api.url, get, post), options);
  return async (program: string | undefined, args: JsonObject = { id: "1" }, tool = "get") =>
    source.call(tool, args, { signal: AbortSignal.timeout(30_000), ...(program === undefined ? {} : { program }) });
}

const conditions = ({ asked }: RecordingApi) => asked.map(({ headers }) => headers["if-none-match"] !== undefined);

test("a program that reads an address again gets the answer that it knows, if that has not changed", async () => {
  using api = taggedApi();
  const read = await reader(api);
  const [first, second] = [await read("a"), await read("a")];
  expect(conditions(api)).toEqual([false, true]);
  expect(second.structuredContent).toEqual({ path: "/things/1" });
  expect(textOf(second)).toBe(textOf(first));
  // The limits that an API tells are those of the last request.
  expect(second._meta?.["claudikins/http"]).toMatchObject({ status: 200, headers: { "x-left": "9" } });
});

test("a changed answer takes the place of the known one", async () => {
  let state = "one";
  using api = taggedApi(() => JSON.stringify({ state }));
  const read = await reader(api);
  await read("a");
  state = "two";
  expect((await read("a")).structuredContent).toEqual({ state: "two" });
  expect((await read("a")).structuredContent).toEqual({ state: "two" });
  expect(conditions(api)).toEqual([false, true, true]);
});

test("an answer is for one program and one address, and calls outside a program have none", async () => {
  using api = taggedApi();
  const read = await reader(api);
  await read("a");
  await read("b");
  await read("a", { id: "2" });
  await read(undefined);
  await read(undefined);
  await read("a", { id: "1" }, "post");
  expect(conditions(api)).toEqual([false, false, false, false, false, false]);
});

test("an answer that the API does not want to be kept is asked for again", async () => {
  for (const headers of [{ "cache-control": "private, no-store" }, { vary: "*" }]) {
    using api = taggedApi(undefined, headers);
    const read = await reader(api);
    await read("a");
    await read("a");
    expect(conditions(api)).toEqual([false, false]);
  }
});

test("a large answer is whole, and is not remembered", async () => {
  const text = "x".repeat(3_000_000);
  using api = taggedApi(() => JSON.stringify({ text }));
  const read = await reader(api);
  for (const each of [await read("a"), await read("a")])
    expect(JSON.parse(JSON.stringify(each.structuredContent)).text).toHaveLength(text.length);
  expect(conditions(api)).toEqual([false, false]);
});

test("the answers that are remembered have a bound", async () => {
  using api = taggedApi((path) => JSON.stringify({ path, text: "x".repeat(1_500_000) }));
  const read = await reader(api);
  for (let id = 0; id < 14; id++) await read("a", { id });
  await read("a", { id: 13 });
  await read("a", { id: 0 });
  expect(conditions(api).slice(-2)).toEqual([true, false]);
});

test("each run of a program starts without answers", async () => {
  using api = taggedApi();
  const responses = { 200: { description: "", content: { "application/json": { schema: { type: "object" } } } } };
  const document = documentOf({ "/things": { get: { operationId: "listThings", responses } } });
  folder.write("api.json", JSON.stringify(document));
  folder.write(
    ".config/claudikins/claudikins.json",
    JSON.stringify({ mcpServers: { shop: { openapi: `${folder.path}/api.json`, baseUrl: api.url } } }),
  );
  const code = "const all = [await shop.list_things(), await shop.list_things()]; return all.map(({ path }) => path)";
  for (let run = 0; run < 2; run++) {
    const { exitCode, stdout, stderr } = await cli(["exec", "--json", "-e", code], { cwd: folder.path });
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout).value).toEqual(["/things", "/things"]);
  }
  expect(conditions(api)).toEqual([false, true, false, true]);
});
