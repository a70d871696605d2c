/** Numbers that JavaScript cannot hold arrive exactly, in both directions and through every command. */

import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { exactNumber } from "../../src/base/exact-json.ts";
import { ownFolder } from "../support/own-folder.ts";
import { rawStdio } from "../support/raw-stdio.ts";
import { fixture } from "../support/servers.ts";
import { cli } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });
beforeEach(() => void folder.write("claudikins.json", { mcpServers: { s: fixture("exact", folder.path) } }));

const id = "17269385823764501234";
const delivered = { id, rows: [{ id: "-7108510333361982070", rate: "0.1234567890123456789", small: 42 }] };

const run = async (argv: string[]) => {
  const { stdout, stderr, exitCode } = await cli(argv, { cwd: folder.path });
  if (exitCode !== 0) throw new Error(stderr);
  return { stdout, stderr };
};
const outcome = async (code: string) => JSON.parse((await run(["exec", "--json", "-e", code])).stdout);
const value = async (code: string) => (await outcome(code)).value;

describe("a program", () => {
  test("gets them as texts with their digits, and its outcome says so once", async () => {
    const code = "return [await s.text(), await s.structured(), (await s.structured.raw()).structuredContent]";
    const { value: found, logs } = await outcome(code);
    expect(found).toEqual([delivered, delivered, delivered]);
    expect(logs).toEqual([
      {
        level: "info",
        text: "note: numbers from s.text that JavaScript cannot hold are strings with all their digits; pass them on as they are, or use BigInt(text).",
      },
    ]);
  });

  test.each([
    [
      "the text of a result",
      "const { id, rows } = await s.text();\nreturn s.send({ id, rate: rows[0].rate })",
      `{"id":${id},"rate":0.1234567890123456789}`,
    ],
    [
      "texts in a list whose items may be null",
      "const { id } = await s.text();\nreturn s.send({ ids: [id, null, 5] })",
      `{"ids":[${id},null,5]}`,
    ],
    ["a bigint", `return s.send({ id: ${id}n })`, `{"id":${id}}`],
    ["a small bigint", "return s.send({ id: 7n })", '{"id":7}'],
    ["a bigint for any schema", `return s.any({ where: { id: ${id}n } })`, `{"where":{"id":${id}}}`],
    [
      "a number in the call",
      `return s.send({ id: ${id}, ids: [-${id}], rate: 0.1234567890123456789 })`,
      `{"id":${id},"ids":[-${id}],"rate":0.1234567890123456789}`,
    ],
    ["a number in a variable", `const id = ${id};\nreturn s.send({ id })`, `{"id":${id}}`],
    ["a text in the call", `return s.send({ id: "${id}" })`, `{"id":${id}}`],
    ["callTool", `return callTool("s", "send", { id: "${id}" })`, `{"id":${id}}`],
    ["a text that any schema takes", `return s.any({ id: "${id}" })`, `{"id":"${id}"}`],
  ])("sends %s exactly", async (_, code, args) => {
    expect(await value(code)).toBe(`got ${args}`);
  });

  test("compares them with numbers that it writes", async () => {
    expect(await value(`const { id } = await s.text();\nreturn [id === ${id}, id == ${id}, ${id} + 1]`)).toEqual([
      true,
      true,
      Number(id),
    ]);
  });
});

test.each(["application/json", "text/event-stream"])("a server on the network may answer with %s", async (type) => {
  const rows = `{"id":${id}}`;
  let got = "";
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const body = await request.text();
      const { id: call, method, params } = JSON.parse(body);
      if (call === undefined) return new Response(null, { status: 202 });
      if (method === "tools/call") got = body;
      const tools = [{ name: "find", inputSchema: { properties: { id: { type: "integer", maximum: 5 } } } }];
      const results: Record<string, string> = {
        initialize: JSON.stringify({
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "h", version: "1" },
        }),
        "tools/list": JSON.stringify({ tools }).replace('"maximum":5', `"maximum":18446744073709551615`),
        "tools/call": `{"content":[],"structuredContent":${rows}}`,
      };
      const answer = `{"jsonrpc":"2.0","id":${call},"result":${results[method] ?? "{}"}}`;
      const text = type === "application/json" ? answer : `id: ${id}\nevent: message\ndata: ${answer}\n\n`;
      return new Response(text, { headers: { "content-type": type } });
    },
  });
  folder.write("claudikins.json", { mcpServers: { h: { url: `http://127.0.0.1:${server.port}/mcp` } } });
  expect(await value("const { id } = await h.find({});\nreturn [id, await h.find({ id })]")).toEqual([id, { id }]);
  expect(got).toContain(`"id":${id}`);
});

test("types say where they came as texts", async () => {
  const declared = async () => (await run(["list", "tools", "s", "--detailed"])).stdout;
  expect(await declared()).toContain("id?: number;");
  await value("return [await s.text(), await s.structured()]");
  expect(await declared()).toContain("id?: number | string;");
  expect(await declared()).toContain("{ id: string; rows: { id: string; rate: string; small: number }[] }");
});

describe("call", () => {
  test("prints them, and has them as texts in JSON", async () => {
    expect((await run(["call", "s.text"])).stdout).toContain(id);
    expect(JSON.parse((await run(["call", "s.structured", "--json"])).stdout).value).toEqual(delivered);
    expect((await run(["call", "s.structured", "--raw"])).stdout).toContain(`"structuredContent":{"id":${id},`);
  });

  test.each([
    ["a word", [`id=${id}`], `{"id":${id}}`],
    ["a negative word", [`id=-${id}`], `{"id":-${id}}`],
    ["JSON", [`id:=${id}`], `{"id":${id}}`],
    ["an object", [`{"id":${id},"rate":0.1234567890123456789}`], `{"id":${id},"rate":0.1234567890123456789}`],
  ])("sends %s exactly", async (_, words, args) => {
    expect((await run(["call", "s.send", ...words])).stdout.trim()).toBe(`got ${args}`);
  });
});

test("direct mode passes them on in both directions", async () => {
  await using host = rawStdio(folder, {}, { flags: ["--mode", "direct"] });
  const call = async (name: string, args: object) =>
    (await host.ask("tools/call", { name, arguments: args })).result as { content: [{ text: string }] };
  const args = { id: exactNumber(id), rate: exactNumber("0.1234567890123456789") };
  expect((await call("send", args)).content[0].text).toBe(`got {"id":${id},"rate":0.1234567890123456789}`);
  expect((await call("any", args)).content[0].text).toBe(`got {"id":${id},"rate":0.1234567890123456789}`);
  expect((await call("text", {})).content[0].text).toContain(`"id":${id}`);
});
