/** `call`: arguments in all their forms, where results go, and what is refused. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { everything, fixture } from "../support/servers.ts";
import { ledgerOf } from "../support/session.ts";
import { type CliOptions, cli, page } from "./in-memory.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const folder = ownFolder({ endsProcesses: true });

const run = (argv: string[], options: CliOptions = {}) => cli(["call", ...argv], { cwd: folder.path, ...options });
const shown = async (argv: string[], options: CliOptions = {}) =>
  page(["call", ...argv], await run(argv, options), folder.path);

const record = () => join(folder.path, "got.jsonl");

/** A server with these tools that writes down the calls it receives. */
const recording = (tools: object[], mark = "tools") => ({
  ...fixture("recording", record(), folder.write(`${mark}.json`, tools)),
  definitions: "trust",
});

/** The arguments of the calls since the last time this function was called. */
function got(): object[] {
  if (!existsSync(record())) return [];
  const lines = readFileSync(record(), "utf8").trim().split("\n");
  rmSync(record());
  return lines.map((line) => JSON.parse(line).args);
}

function configure(mcpServers: Record<string, object>): void {
  folder.write("claudikins.json", { mcpServers });
}

const odd = () => fixture("odd", folder.path);

const find = {
  name: "find-it",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "What to look for. In any words." },
      limit: { type: "integer", default: 20, minimum: 1, description: "At most so many" },
      tags: { type: "array", items: { type: "string" } },
      state: { enum: ["open", "closed"] },
      deep: { type: "boolean" },
      where: { type: "object", properties: { name: { type: "string" } } },
    },
    required: ["query"],
    additionalProperties: false,
  },
};

describe("arguments", () => {
  beforeEach(() => configure({ rec: recording([find]) }));

  /** The arguments that the tool received. */
  async function gotBy(words: string[], options: CliOptions = {}): Promise<unknown> {
    const { exitCode, stderr } = await run(["rec.find-it", ...words], options);
    return exitCode === 0 ? got()[0] : stderr;
  }

  test("are converted to the types in the tool's schema", async () => {
    expect(await gotBy(["query=5", "limit=5", "tags=a", "tags=5", "deep=true", "where.name=x", "state=open"])).toEqual({
      query: "5",
      limit: 5,
      tags: ["a", "5"],
      deep: true,
      where: { name: "x" },
      state: "open",
    });
    expect(await gotBy(["query==a=b"])).toEqual({ query: "=a=b" });
    expect(await gotBy(['query:="5"', 'tags:=["x"]', "limit:=7"])).toEqual({ query: "5", tags: ["x"], limit: 7 });
    expect(await gotBy(["--", "query=--json"])).toEqual({ query: "--json" });
    expect(await gotBy(["query=-"])).toEqual({ query: "-" });
  });

  test("can be given together: as JSON, from files, or from standard input", async () => {
    folder.write("args.json", { query: "file", limit: 3 });
    folder.write("long.txt", "long\ntext\n");
    folder.write("tags.json", ["a", "b"]);
    const json = '{"query":"given","limit":2}';
    expect(await gotBy([json])).toEqual({ query: "given", limit: 2 });
    expect(await gotBy(["--args", json])).toEqual({ query: "given", limit: 2 });
    expect(await gotBy(["@args.json"])).toEqual({ query: "file", limit: 3 });
    expect(await gotBy(["--args", "@args.json", "limit=4"])).toEqual({ query: "file", limit: 4 });
    expect(await gotBy(["limit=4", `@${join(folder.path, "args.json")}`])).toEqual({ query: "file", limit: 4 });
    expect(await gotBy(["-"], { stdin: '{"query":"typed"}\n' })).toEqual({ query: "typed" });
    expect(await gotBy(["--args", "-", "limit=1"], { stdin: '{"query":"typed"}' })).toEqual({
      query: "typed",
      limit: 1,
    });
    expect(await gotBy(["query=@long.txt", "tags:=@tags.json"])).toEqual({ query: "long\ntext\n", tags: ["a", "b"] });
  });

  test("are not read from standard input unless asked for", async () => {
    const stdin = '{"query":"not this"}';
    expect(await gotBy(["query=this"], { stdin })).toEqual({ query: "this" });
    expect(await gotBy([], { stdin })).toContain('the argument "query" is missing');
  });

  test("wrong arguments are named with the signature, and nothing is called", async () => {
    const wrong = [
      ["limit=many", "query=x"],
      ["query=x", "lmit=5"],
      ["query=x", "state=opne"],
      [],
      ["query=x", "limit=0"],
      ["query=a", "query=b"],
    ];
    const texts: string[] = [];
    for (const words of wrong) texts.push(`${words.join(" ")}\n${await gotBy(words)}`);
    expect(texts.join("\n")).toMatchInlineSnapshot(`
      "limit=many query=x
      error: rec.find_it: "limit" takes a whole number, got "many" (limit=many)

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>

      query=x lmit=5
      error: rec.find_it: there is no argument "lmit". Did you mean limit?

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>

      query=x state=opne
      error: rec.find_it: "state" must be one of "open", "closed", got "opne". Did you mean "open"?

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>


      error: rec.find_it: the argument "query" is missing

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>

      query=x limit=0
      error: rec.find_it: "limit" must be >= 1

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>

      query=a query=b
      error: rec.find_it: "query" is given 2 times but takes text (query=a query=b)

      hint: rec.find_it(args: { query: string; limit?: number /* default 20 */; tags?: string[]; state?: "open" | "closed"; deep?: boolean; where?: { name?: string } }): Promise<unknown>
      "
    `);
    expect(got()).toEqual([]);
  });

  test("invalid words are refused before a server is started", async () => {
    folder.write("none.json", "{");
    folder.write("list.json", []);
    configure({ rec: { command: "no-such-command" } });
    const wrong = [
      ["query=x", "more"],
      ["query=x", "limit:5"],
      ["limit:=five"],
      ["{query: 1}"],
      ["--args", "[1]"],
      ["@missing.json"],
      ["query=@missing.txt"],
      ["limit:=@none.json"],
      ["@list.json"],
      ["@"],
      ["-", "--args", "-"],
      ["=5"],
    ];
    const texts: string[] = [];
    for (const words of wrong) {
      const { exitCode, stdout, stderr } = await run(["rec.find-it", ...words]);
      expect([words, exitCode, stdout]).toEqual([words, 2, ""]);
      texts.push(`${words.join(" ")}\n${stderr.replaceAll(folder.path, "FOLDER")}`);
    }
    expect(texts.join("\n")).toMatchInlineSnapshot(`
      "query=x more
      error: "more" is not an argument

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      query=x limit:5
      error: "limit:5" is not an argument

      hint: Did you mean limit=5? Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      limit:=five
      error: limit:=five is not JSON: JSON Parse error: Unexpected identifier "five"

      hint: To pass it as text: limit=five

      {query: 1}
      error: {query: 1} is not JSON: JSON Parse error: Expected '}'

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      --args [1]
      error: --args must be a JSON object with the tool's arguments by name

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      @missing.json
      error: Cannot read missing.json, given as "@missing.json": the file does not exist

      query=@missing.txt
      error: Cannot read missing.txt, given as "query=@missing.txt": the file does not exist

      hint: To pass the text itself: query:='"@missing.txt"'

      limit:=@none.json
      error: none.json (from limit:=@none.json) is not JSON: JSON Parse error: Expected '}'

      @list.json
      error: list.json must be a JSON object with the tool's arguments by name

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      @
      error: "@" has no file name after the @

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.

      - --args -
      error: Standard input can be read only once, but - is given twice

      =5
      error: =5 is not JSON: JSON Parse error: Unexpected token '='

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.
      "
    `);
  });

  test("with dashes are refused as unknown flags", async () => {
    expect(await gotBy(["--query", "x"])).toBe(
      "error: Unknown flag --query\n\nhint: To pass it as an argument, leave out the dashes: query=value. For all flags and arguments: claudikins call --help\n",
    );
    expect(await gotBy(["query=x", "--limit=5"])).toContain("limit=value");
  });

  test("are checked against the server's current schema before they are refused", async () => {
    expect(await gotBy(["query=x"])).toEqual({ query: "x" });
    const properties = { ...find.inputSchema.properties, limit: { type: "string" }, more: { type: "number" } };
    recording([{ ...find, inputSchema: { ...find.inputSchema, properties } }]);
    expect(await gotBy(["query=x", "limit=many", "more=5"])).toEqual({ query: "x", limit: "many", more: 5 });
  });
});

describe("names", () => {
  const tools = [{ name: "b.c" }, { name: "c" }, { name: "get-it" }, { name: "delete_it" }];

  test("are accepted as in the config and as in code, in one word or two, even with dots", async () => {
    configure({ "my.rec": recording(tools), my: recording([{ name: "rec" }], "my"), "re-c": recording(tools) });
    const words = [
      ["my.rec.c"],
      ["my.rec.b.c"],
      ["my.rec", "b.c"],
      ["my_rec.get_it"],
      ["re-c", "get-it"],
      ["re_c.get_it"],
      // The server my.rec needs a tool; the next word is one.
      ["my.rec"],
      ["my", "rec"],
    ];
    const called: string[] = [];
    for (const each of words) {
      const { exitCode, stdout, stderr } = await run([...each, "--json"]);
      expect([each, exitCode, stderr]).toEqual([each, 0, ""]);
      const { server, tool, value } = JSON.parse(stdout);
      called.push(`${each.join(" ")} → ${server} ${tool}: ${value}`);
    }
    expect(called).toEqual([
      "my.rec.c → my.rec c: did c",
      "my.rec.b.c → my.rec b.c: did b.c",
      "my.rec b.c → my.rec b.c: did b.c",
      "my_rec.get_it → my.rec get-it: did get-it",
      "re-c get-it → re-c get-it: did get-it",
      "re_c.get_it → re-c get-it: did get-it",
      "my.rec → my rec: did rec",
      "my rec → my rec: did rec",
    ]);
  });

  test("similar names are suggested, but never called", async () => {
    configure({ rec: recording(tools), other: recording([{ name: "unlike" }], "other") });
    await cli(["gen"], { cwd: folder.path });
    const texts: string[] = [];
    for (const words of [
      ["rec.get-itt"],
      ["rec", "getit"],
      ["rce.get-it"],
      ["get_it"],
      ["delete"],
      ["rec"],
      ["rec."],
      ["rec__get_it"],
      ["nothing.like.it"],
      ["re", "get-it"],
      ["rec.get-it", "other"],
    ]) {
      const { exitCode, stdout, stderr } = await run(words);
      expect([words, exitCode, stdout]).toEqual([words, 2, ""]);
      texts.push(`${words.join(" ")}\n${stderr}`);
    }
    expect(texts.join("\n")).toMatchInlineSnapshot(`
      "rec.get-itt
      error: rec has no tool "get-itt"

      hint: Did you mean rec.get-it?

      rec getit
      error: rec has no tool "getit"

      hint: Did you mean rec.get-it?

      rce.get-it
      error: No server is called "rce"

      hint: Did you mean rec.get-it?

      get_it
      error: No server is called "get_it"

      hint: Did you mean rec.get-it?

      delete
      error: No server is called "delete"

      hint: Did you mean rec.delete_it?

      rec
      error: rec is a server: add the name of a tool

      hint: Available: rec.b.c, rec.c, rec.delete_it, rec.get-it

      rec.
      error: rec is a server: add the name of a tool

      hint: Available: rec.b.c, rec.c, rec.delete_it, rec.get-it

      rec__get_it
      error: No server is called "rec__get_it"

      hint: Did you mean rec.get-it?

      nothing.like.it
      error: No server is called "nothing"

      hint: Servers: rec, other

      re get-it
      error: No server is called "re"

      hint: Did you mean rec.get-it?

      rec.get-it other
      error: "other" is not an argument

      hint: Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.
      "
    `);
    expect(got()).toEqual([]);
  });

  test("denied tools are refused, and not suggested", async () => {
    configure({ rec: { ...recording(tools), deny: ["delete_it"] } });
    expect(await shown(["rec.delete_it"])).toMatchInlineSnapshot(`
      "$ claudikins call rec.delete_it
      --- stderr
      error: rec.delete_it is denied in the config by mcpServers.rec.deny[0], "delete_it"
      --- exit code 2
      "
    `);
    expect((await run(["rec.delete_itt"])).stderr).not.toContain("delete_it?");
    expect(got()).toEqual([]);
  });
});

describe("the result", () => {
  beforeEach(() => configure({ odd: odd(), seen: fixture("seen", folder.path) }));

  test.each<[string, string]>([
    ["odd.get-thing", "dash\n"],
    ["odd.two.dots", '{\n  "dotted": true\n}\n'],
    ["odd.structured", '{\n  "answer": 42\n}\n'],
    ["odd.legacy", '{\n  "old": true\n}\n'],
    ["odd.empty", "[]\n"],
    ["seen.words-only", "[not JSON\n"],
  ])("%s is printed for people", async (tool, stdout) => {
    expect(await run([tool])).toEqual({ exitCode: 0, stdout, stderr: "" });
  });

  test("is one document with --json", async () => {
    const { stdout, ...rest } = await run(["odd.structured", "--json"]);
    expect(rest).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toBe('{"ok":true,"server":"odd","tool":"structured","value":{"answer":42}}\n');
  });

  test("is unchanged with --raw", async () => {
    const { stdout, ...rest } = await run(["odd.structured", "--raw"]);
    expect(rest).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      content: [{ type: "text", text: "ignored" }],
      structuredContent: { answer: 42 },
    });
    const failed = await run(["odd.failing", "--raw"]);
    expect([failed.exitCode, failed.stderr, JSON.parse(failed.stdout)]).toEqual([
      5,
      "",
      { content: [{ type: "text", text: "the tool says no" }], isError: true },
    ]);
    expect((await run(["odd.legacy", "--raw"])).stdout).toBe('{"content":[],"toolResult":{"old":true}}\n');
  });

  test("is complete even if it is large", async () => {
    const { stdout } = await run(["seen.large", "characters=300000", "--json"]);
    expect(JSON.parse(stdout).value).toHaveLength(150_001);
    const text = await run(["odd.get-thing", "size=3000000"]);
    expect(text.stdout).toHaveLength(3_000_001);
  });

  test("does not print images", async () => {
    expect(await run(["odd.image"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "[image image/png, 3 bytes]\nTo save it: --output <file>\n",
    });
    const watched = await run(["odd.image", "--json"], { terminal: true });
    expect(watched.stdout).not.toContain("AAAA");
    expect(JSON.parse(watched.stdout).value).toEqual([
      { type: "image", mimeType: "image/png", omitted: "3 bytes: save with --output <file>" },
    ]);
    expect((await run(["odd.image", "--raw"], { terminal: true })).stdout).not.toContain("AAAA");
    // Another program gets the image.
    expect(JSON.parse((await run(["odd.image", "--json"])).stdout).value[0].data).toBe("AAAA");
    expect(JSON.parse((await run(["odd.image", "--raw"])).stdout).content[0].data).toBe("AAAA");
  });
});

describe("--output", () => {
  const text = (name: string) => readFileSync(join(folder.path, name), "utf8");
  beforeEach(() => configure({ odd: odd() }));

  test("writes text as text, and data as JSON", async () => {
    expect(await run(["odd.get-thing", "--output", "thing.txt"])).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "Wrote thing.txt (text/plain, 4 bytes)\n",
    });
    expect(text("thing.txt")).toBe("dash");
    await run(["odd.structured", "-o", "thing.txt"]);
    expect(JSON.parse(text("thing.txt"))).toEqual({ answer: 42 });
    expect((await run(["odd.structured", "--raw", "-o", "raw.json"])).stdout).toBe("");
    expect(JSON.parse(text("raw.json")).content).toHaveLength(1);
    const { stdout, stderr } = await run(["odd.get-thing", "--json", "-o", "thing.txt"]);
    expect([JSON.parse(stdout), stderr]).toEqual([
      {
        ok: true,
        server: "odd",
        tool: "get-thing",
        value: "dash",
        files: [{ file: "thing.txt", mimeType: "text/plain", bytes: 4 }],
      },
      "",
    ]);
  });

  test("writes an image to the file, and text beside it to stdout", async () => {
    configure({ everything: everything() });
    const { stdout, stderr } = await run(["everything.get-tiny-image", "--output", "logo.png"]);
    expect(stdout).toBe("Here's the image you requested:\nThe image above is the MCP logo.\n");
    expect(stderr).toBe("Wrote logo.png (image/png, 4,033 bytes)\n");
    expect(readFileSync(join(folder.path, "logo.png")).subarray(1, 4).toString()).toBe("PNG");
    const json = JSON.parse((await run(["everything.get-tiny-image", "--json", "-o", "again.png"])).stdout);
    expect(json.value[1]).toEqual({ type: "image", mimeType: "image/png", file: "again.png" });
    expect(json.files).toEqual([{ file: "again.png", mimeType: "image/png", bytes: 4_033 }]);
  });

  test("numbers several files, with an extension for each type", async () => {
    const content = [
      { type: "image", data: "AAAA", mimeType: "image/jpeg" },
      { type: "audio", data: "AAAA", mimeType: "audio/wav" },
      { type: "resource", resource: { uri: "it://a", blob: "AAAAAA==", mimeType: "application/pdf; x=1" } },
      { type: "resource", resource: { uri: "it://b", blob: "AAAA", mimeType: "\u001b[31m/../x" } },
      { type: "resource", resource: { uri: "it://c", text: "words" } },
      { type: "resource_link", uri: "it://d", name: "d" },
    ];
    const tools = [{ name: "all", inputSchema: { type: "object" } }];
    const answers = { "tools/list": { tools }, "tools/call": { content } };
    const script = folder.write("script.json", { answers });
    configure({ it: fixture("scripted", script) });
    mkdirSync(join(folder.path, "out"));
    const { stdout, stderr } = await run(["it.all", "-o", "out/part.x"]);
    expect(stderr).toBe(
      [
        "Wrote out/part-1.jpg (image/jpeg, 3 bytes)",
        "Wrote out/part-2.wav (audio/wav, 3 bytes)",
        "Wrote out/part-3.pdf (application/pdf; x=1, 4 bytes)",
        "Wrote out/part-4.bin (application/octet-stream, 3 bytes)",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(stdout)).toEqual(content.slice(4));
  });

  test("is refused before the call if the path cannot be written", async () => {
    configure({ rec: recording([{ name: "do" }]) });
    mkdirSync(join(folder.path, "there"));
    symlinkSync("there", join(folder.path, "link"));
    expect(await shown(["rec.do", "--output", "there"])).toMatchInlineSnapshot(`
      "$ claudikins call rec.do --output there
      --- stderr
      error: Cannot write there: it is a folder

      hint: Name a file in it: --output there/result
      --- exit code 2
      "
    `);
    for (const place of ["there", "there/", "link", "new/", ".", "missing/file.txt", "claudikins.json/x"]) {
      expect([place, (await run(["rec.do", "--output", place])).exitCode]).toEqual([place, 2]);
    }
    expect(await shown(["rec.do", "--output", "missing/file.txt"])).toMatchInlineSnapshot(`
      "$ claudikins call rec.do --output missing/file.txt
      --- stderr
      error: Cannot write missing/file.txt: its folder does not exist

      hint: Create it first: mkdir -p missing
      --- exit code 2
      "
    `);
    expect(got()).toEqual([]);
    expect((await run(["rec.do", "--output", "/dev/null"])).exitCode).toBe(0);
  });
});

test.skipIf(!existsSync("/dev/full"))(
  "call --output says on a full disk that the tool was already called",
  async () => {
    configure({ rec: recording([{ name: "do" }]) });
    const { exitCode, stdout, stderr } = await run(["rec.do", "--output", "/dev/full"]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^error: Cannot write \/dev\/full: .*\n\nhint: The tool was already called: check what it did/,
    );
    expect(got()).toHaveLength(1);
  },
);

describe("failures", () => {
  test.each<[number, string, string, Record<string, object>, string[]?]>([
    [5, "TOOL_FAILED", "odd.failing", { odd: fixture("odd") }],
    [5, "TOOL_FAILED", "odd.rpc-error", { odd: fixture("odd") }],
    [4, "SERVER_UNAVAILABLE", "broken.x", { broken: fixture("crash-on-start") }],
    [4, "SERVER_UNAVAILABLE", "odd.end-process", { odd: fixture("odd") }],
    [4, "CALL_TIMEOUT", "odd.hang", { odd: fixture("odd") }, ["--timeout", "100"]],
    [4, "CALL_TIMEOUT", "odd.hang", { odd: { ...fixture("odd"), callTimeoutMs: 100 } }],
    [4, "CALL_TIMEOUT", "slow.x", { slow: fixture("never-starts") }, ["--timeout", "300ms"]],
    [2, "NEEDS_VARIABLE", "needy.x", { needy: { command: "x", env: { A: "${NOT_SET}" } } }],
    [2, "TOOL_NOT_FOUND", "odd.nope", { odd: fixture("odd") }],
    [2, "SERVER_NOT_FOUND", "nope.x", { odd: fixture("odd") }],
    [2, "CONFIG_INVALID", "odd.x", { odd: { command: 5 } }],
    [2, "USAGE", "odd.empty", { odd: fixture("odd") }, ["--raw", "--timeout", "soon"]],
  ])("exit with code %i for %s: %s", async (exitCode, code, tool, servers, more = []) => {
    configure(servers);
    const ended = await run([tool, ...more]);
    expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([exitCode, "", expect.stringMatching(/^error: /)]);
    const asJson = await run([tool, "--json", ...more.filter((word) => word !== "--raw")]);
    expect([asJson.exitCode, asJson.stdout]).toEqual([exitCode, ""]);
    expect(asJson.stderr.trimEnd()).not.toContain("\n");
    expect(JSON.parse(asJson.stderr).error.code).toBe(code);
  });

  test("--raw and --json exclude each other", async () => {
    expect((await run(["x.y", "--raw", "--json"])).stderr).toContain("Use --raw or --json, not both");
  });

  test("an interruption exits with code 130", async () => {
    configure({ odd: odd() });
    const ended = await run(["odd.hang"], { interrupted: AbortSignal.timeout(300) });
    expect([ended.exitCode, ended.stdout]).toEqual([130, ""]);
    // On a slow machine, the server has not received the call yet.
    expect(ended.stderr).toMatch(/^error: .* was cancelled/);
  });
});

test("--timeout may exceed the limit of the config, and a call that it ends counts as a failure", async () => {
  configure({ seen: { ...fixture("seen", folder.path), callTimeoutMs: 1_000 } });
  expect((await run(["seen.wait", "ms=1500", "--timeout", "1m"])).stdout).toBe("waited\n");
  expect((await run(["seen.wait", "ms=600000", "--timeout", "50ms"])).stderr).toBe(
    "error: seen.wait did not answer within 50 ms\n\nhint: Raise --timeout, or ask for less in one call.\n",
  );
  expect((await ledgerOf(folder.path))?.tools.get("seen")?.get("wait")).toMatchObject({ calls: 2, failures: 1 });
});

test("stats count calls, their failures, and the text that led to them", async () => {
  configure({ odd: odd() });
  await run(["odd.structured"]);
  await run(["odd.structured", "via:skill"]);
  await run(["odd.failing"]);
  await run(["odd.nope"]);
  const counts = await ledgerOf(folder.path);
  const odds = counts?.tools.get("odd");
  expect(odds?.get("structured")).toMatchObject({ calls: 2, failures: 0, takenChars: 0 });
  expect(odds?.get("failing")).toMatchObject({ calls: 1, failures: 1 });
  expect([...(counts?.hooks ?? [])]).toEqual([["shell skill", 1]]);
});

test("the observed type of a result is shown the next time", async () => {
  configure({ odd: odd() });
  await run(["odd.two.dots"]);
  const { stdout } = await cli(["list", "tools", "odd", "--detailed"], { cwd: folder.path });
  expect(stdout).toContain("Promise<{ dotted: boolean }> /* observed */");
});

describe("--interactive", () => {
  beforeEach(() => configure({ rec: recording([find, { name: "plain" }]) }));

  test("asks for missing arguments, required ones first, until they are valid", async () => {
    const answers = ["", "words", "0", "many", "5", '["a","b"]', "7", "2", "", "{", '{"name":"x"}'];
    const { exitCode, stdout, stderr } = await run(["rec.find-it", "-i"], {
      answers,
      terminal: true,
      env: { NO_COLOR: "1" },
    });
    expect([exitCode, stdout]).toEqual([0, "did find-it\n"]);
    expect(got()).toEqual([{ query: "words", limit: 5, tags: ["a", "b"], state: "closed", where: { name: "x" } }]);
    expect(stderr).toMatchInlineSnapshot(`
      "
      query (text): What to look for.
      query:   a value is required
      query: 
      limit (a whole number; press Enter for 20): At most so many
      limit:   "limit" must be >= 1
      limit:   "limit" takes a whole number, got "many"
      limit: 
      tags (a list; press Enter to skip)
      tags: 
      state (one of these; press Enter to skip)
        1  open
        2  closed
      state:   "state" must be one of "open", "closed", got "7".
      state: 
      deep (true or false; press Enter to skip)
      deep: 
      where (a JSON object; press Enter to skip)
      where:   "where" is not JSON: JSON Parse error: Expected '}'
      where: "
    `);
  });

  test("does not ask for given arguments, and asks nothing if the tool takes none", async () => {
    const answers = ["", "", "true"];
    await run(["rec.find-it", "-i", "where.name=x", '{"query":"a","limit":1}'], { answers, terminal: true });
    expect(got()).toEqual([{ query: "a", limit: 1, where: { name: "x" }, deep: true }]);
    const { stderr } = await run(["rec.plain", "-i"], { answers: [], terminal: true });
    expect(stderr).toContain("The tool takes no other arguments.");
    expect(got()).toEqual([{}]);
  });

  test("offers the default of a required argument", async () => {
    const properties = { size: { type: "integer", default: 5 }, unit: { type: "string", default: "mb" } };
    configure({ rec: recording([{ name: "set", inputSchema: { type: "object", properties, required: ["size"] } }]) });
    const { stderr } = await run(["rec.set", "-i"], { answers: ["", ""], terminal: true });
    expect(stderr).toContain("size (a whole number; press Enter for 5)");
    expect(got()).toEqual([{ size: 5 }]);
  });

  test("calls nothing if the input ends", async () => {
    const { exitCode } = await run(["rec.find-it", "-i"], { answers: ["words"], terminal: true });
    expect([exitCode, got()]).toEqual([130, []]);
  });

  test("is refused without a terminal", async () => {
    expect(await shown(["rec.find-it", "--interactive"])).toMatchInlineSnapshot(`
      "$ claudikins call rec.find-it --interactive
      --- stderr
      error: --interactive needs a terminal

      hint: Pass the arguments on the command line: claudikins call --help
      --- exit code 2
      "
    `);
  });
});
