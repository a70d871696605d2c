/** A host's first requests get the same answers as from the SDK's server, and later messages are passed on, in any chunks. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { PassThrough } from "node:stream";
import {
  type McpRequestContext,
  Server,
  type ServerCapabilities,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { answerFirst, protocolVersions } from "../../src/serve/stdio.ts";
import { anyHost, cacheHint, toolsFor } from "../../src/serve/surface/surface.ts";
import { withTasks } from "../../src/servers/connection/tasks-extension.ts";
import { claudikinsCommand } from "../support/command.ts";
import { envelope } from "../support/modern-host.ts";
import { testEnvironment } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

const inputSchema = { type: "object" as const };
const known = {
  serverInfo: { name: "s", title: "S", version: "1" },
  /** Hosts with sampling are told more. */
  capabilitiesFor: (host: object): ServerCapabilities =>
    "sampling" in host ? { tools: {}, resources: {}, extensions: { "x/y": {} } } : { tools: {} },
  instructions: "Some.",
  tools: [{ name: "one", inputSchema }],
  toolsWithSampling: [
    { name: "one", inputSchema },
    { name: "two", inputSchema },
  ],
};

const line = (message: object) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const initialize = (protocolVersion: unknown = "2025-06-18", id: unknown = 0, more: object = {}) =>
  line({
    id,
    method: "initialize",
    params: { protocolVersion, capabilities: { roots: {} }, clientInfo: { name: "c", version: "1" }, ...more },
  });
const initialized = line({ method: "notifications/initialized" });
const list = (id: unknown = 1, params?: object) => line({ id, method: "tools/list", ...(params ? { params } : {}) });
const ping = line({ id: 2, method: "ping" });
const call = line({ id: 3, method: "tools/call", params: { name: "one", arguments: {} } });

interface Heard {
  answers: unknown[];
  /** The text that is left to the SDK. */
  left: string;
  initializeId: unknown;
}

async function hear(chunks: (string | Buffer)[]): Promise<Heard> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const begun = answerFirst(stdin, stdout, known, new AbortController().signal);
  for (const chunk of chunks) {
    stdin.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { input, initializeId } = await begun;
  stdin.end();
  const left = await new Response(input as unknown as ReadableStream).text();
  stdout.end();
  const said = await new Response(stdout as unknown as ReadableStream).text();
  return { answers: linesOf(said), left, initializeId };
}

const linesOf = (text: string) => text.split("\n").flatMap((each) => (each ? [JSON.parse(each)] : []));

/** The answers of an SDK server with the same capabilities and tools, in both eras. */
async function answersOfSdk(text: string): Promise<unknown[]> {
  const { serverInfo, instructions } = known;
  const host = text.includes('"sampling"') ? { sampling: {} } : {};
  const newServer = ({ era }: Pick<McpRequestContext, "era">) => {
    const cacheHints = { "tools/list": cacheHint, "server/discover": cacheHint };
    const own = known.capabilitiesFor(host);
    const capabilities = era === "modern" ? withTasks(own) : own;
    const server = new Server(serverInfo, { capabilities, instructions, cacheHints });
    server.setRequestHandler("tools/list", (_, { mcpReq: { envelope: sent } }) => ({
      tools: toolsFor(known, sent ? anyHost : server.getClientCapabilities()),
    }));
    return server;
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = serveStdio(newServer, { transport: new StdioServerTransport(input as never, output as never) });
  const count = text.split("\n").filter((each) => each.includes('"id"')).length;
  const answers: unknown[] = [];
  const all = new Promise<void>((resolve) => {
    output.on("data", (chunk: Buffer) => {
      answers.push(...linesOf(chunk.toString()));
      if (answers.length === count) resolve();
    });
  });
  input.write(text);
  await all;
  await server.close();
  return answers;
}

test("the protocol versions are those of the SDK, in its order", () => {
  expect(protocolVersions).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
});

describe("the first answers are those of the SDK for", () => {
  test.each([...protocolVersions, "2099-01-01", "", "x"])("a host of version %p", async (version) => {
    const text = initialize(version) + initialized + list() + ping + list("a", {});
    const { answers, left, initializeId } = await hear([text]);
    expect(answers).toEqual(await answersOfSdk(text));
    expect(answers.length).toBe(4);
    expect(left).toBe(initialize(version) + initialized);
    expect(initializeId).toBe(0);
  });

  test.each([
    ["a host with sampling", { sampling: {} }, ["one", "two"]],
    ["a host without sampling", { elicitation: {} }, ["one"]],
  ])("%s", async (_, capabilities, names) => {
    const text = initialize("2025-06-18", 0, { capabilities }) + initialized + list();
    const { answers } = await hear([text]);
    expect(answers).toEqual(await answersOfSdk(text));
    expect((answers[1] as { result: { tools: object[] } }).result.tools).toMatchObject(names.map((name) => ({ name })));
  });
});

describe("the first answers to a host of 2026-07-28 are those of the SDK for", () => {
  const discover = (id: unknown, capabilities?: object) =>
    line({ id, method: "server/discover", params: { _meta: envelope(capabilities) } });
  const modernList = (id: unknown, capabilities?: object) => list(id, { _meta: envelope(capabilities) });

  test.each<[string, string, unknown[]]>([
    ["a probe and a list", discover("d") + modernList(1), ["d", 1]],
    ["a list without a probe", modernList(1), [1]],
    ["a host with sampling", discover(1, { sampling: {} }) + modernList(2, { sampling: {} }), [1, 2]],
    ["a probe, and then the older era", discover(1) + initialize("2025-11-25", 2) + initialized + list(3), [1, 2, 3]],
  ])("%s", async (_, text, ids) => {
    const { answers } = await hear([text]);
    expect(answers.map((answer) => (answer as { id: unknown }).id)).toEqual(ids);
    expect(answers).toEqual(await answersOfSdk(text));
  });

  const metaWithout = (key: string) =>
    Object.fromEntries(Object.entries(envelope()).filter(([name]) => !name.endsWith(key)));
  test.each<[string, string]>([
    ["no capabilities", list(1, { _meta: metaWithout("clientCapabilities") })],
    ["another version", list(1, { _meta: { ...envelope(), "io.modelcontextprotocol/protocolVersion": "2099-01-01" } })],
    ["a progress token", list(1, { _meta: { ...envelope(), progressToken: 1 } })],
    ["a cursor", list(1, { _meta: envelope(), cursor: "x" })],
    ["a call", line({ id: 1, method: "tools/call", params: { _meta: envelope(), name: "one", arguments: {} } })],
  ])("leave %s to it", async (_, text) => {
    expect(await hear([discover(0) + text])).toMatchObject({ answers: [{ id: 0 }], left: text });
  });
});

describe("left to the SDK with all later messages is", () => {
  const begin = initialize() + initialized;
  test.each<[string, string]>([
    ["a call", call + ping],
    ["a call that follows at once", call + list(5) + call],
    ["a list with a cursor", list(1, { cursor: "x" })],
    ["a list with a progress token", list(1, { _meta: { progressToken: 1 } })],
    ["a second initialize", initialize("2025-06-18", 7) + ping],
    ["another request", line({ id: 9, method: "resources/list" })],
    ["another notification", line({ method: "notifications/roots/list_changed" }) + list()],
    ["a broken line", `{nonsense\n${list()}`],
    ["an empty line", `\n${list()}`],
    ["a batch", `[${line({ id: 1, method: "ping" }).trim()}]\n`],
    ["an invalid id", list(null) + list(1.5)],
    ["another protocol", '{"jsonrpc":"1.0","id":1,"method":"ping"}\n'],
    ["invalid parameters", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}\n'],
    ["half a line", '{"jsonrpc":"2.0","id":1,"meth'],
    [
      "a line of 100 KB",
      line({ id: 4, method: "tools/call", params: { name: "one", arguments: { a: "ä".repeat(5e4) } } }),
    ],
  ])("%s", async (_, rest) => {
    const { answers, left, initializeId } = await hear([begin + ping + rest]);
    expect(answers.map((answer) => (answer as { id: unknown }).id)).toEqual([0, 2]);
    expect(left).toBe(begin + rest);
    expect(initializeId).toBe(0);
  });

  test.each<[string, string]>([
    ["a list before initialize", list() + initialize()],
    ["an initialize without a client", initialize("2025-06-18", 0, { clientInfo: undefined })],
    ["an initialize without a version", initialize(undefined, 0, { protocolVersion: undefined })],
    ["an initialize without capabilities", initialize("2025-06-18", 0, { capabilities: undefined })],
    ["initialized before initialize", initialized + initialize()],
  ])("%s", async (_, text) => {
    expect(await hear([text])).toEqual({ answers: [], left: text, initializeId: undefined });
  });
});

test("messages may be split at any byte, even within a character", async () => {
  const text = Buffer.from(initialize("2025-06-18", "ä€🚀") + initialized + ping + list("ü") + call + ping);
  const whole = await hear([text]);
  expect(whole.answers.length).toBe(3);
  for (const size of [1, 2, 3, 7, 50]) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.subarray(at * size, (at + 1) * size),
    );
    expect(await hear(chunks)).toEqual(whole);
  }
});

test("the end of the input rejects the wait", async () => {
  const over = new AbortController();
  const stdin = new PassThrough();
  const begun = answerFirst(stdin, new PassThrough(), known, over.signal);
  stdin.write(initialize());
  over.abort();
  expect(await begun).toMatchObject({ input: expect.anything() });
});

describe("serve", () => {
  /** Everything that serve writes when it gets this text and then the end of its input. */
  async function serve(text: string): Promise<{ said: unknown[]; exitCode: number }> {
    using folder = temporaryFolder();
    const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
    const child = Bun.spawn([...claudikinsCommand, "serve"], { cwd: folder.path, env, stdin: "pipe", stdout: "pipe" });
    child.stdin.write(text);
    child.stdin.flush();
    const wanted = text.split("\n").filter((each) => each.includes('"id"')).length;
    const said: unknown[] = [];
    const decoder = new TextDecoder();
    let rest = "";
    if (wanted === 0) await child.stdin.end();
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      said.push(...lines.map((each) => JSON.parse(each)));
      if (said.length >= wanted) break;
    }
    await child.stdin.end();
    return { said, exitCode: await child.exited };
  }

  test("answers each request once", async () => {
    const run = (id: number) =>
      line({ id, method: "tools/call", params: { name: "execute_code", arguments: { code: `return ${id}` } } });
    const { said, exitCode } = await serve(initialize() + initialized + list() + run(4) + list(5) + ping);
    expect(exitCode).toBe(0);
    const byId = new Map(said.map((each) => [(each as { id: unknown }).id, (each as { result: unknown }).result]));
    expect([...byId.keys()].sort()).toEqual([0, 1, 2, 4, 5]);
    expect(said.length).toBe(5);
    expect(byId.get(5)).toEqual(byId.get(1));
    expect(JSON.stringify(byId.get(4))).toContain('"4\\n');
  });

  test("ends when its input ends before any request", async () => {
    expect(await serve("")).toEqual({ said: [], exitCode: 0 });
  });
});
