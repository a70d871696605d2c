/** The executable between a host and servers that send requests, progress and changes: every message that is not an answer. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CancelledNotificationSchema,
  type ClientCapabilities,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  type JSONRPCMessage,
  ListRootsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { executable } from "../support/claudikins.ts";
import { networkFixture } from "../support/network.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { everything, fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

// The first test builds the executable.
setDefaultTimeout(120_000);

let folder: TemporaryFolder;
let host: Client;
/** Messages from claudikins, in order. */
const received: JSONRPCMessage[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await host.close();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

/** `serve` with these servers, and a host with these capabilities. */
async function serve(
  mcpServers: object,
  capabilities: ClientCapabilities,
  prepare = (_: Client) => {},
  variables: Record<string, string> = {},
) {
  folder.write("claudikins.json", { mcpServers });
  host = new Client({ name: "host", version: "1" }, { capabilities });
  prepare(host);
  const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data`, ...variables });
  const command = executable();
  const transport = new StdioClientTransport({ command, args: ["serve"], cwd: folder.path, env, stderr: "pipe" });
  transport.onmessage = (message) => void received.push(message);
  stderr = "";
  transport.stderr?.on("data", (chunk) => {
    stderr += chunk;
    look();
  });
  await host.connect(transport);
}

let stderr = "";
let look = () => {};

/** Resolves when claudikins' log contains the text. */
async function logged(text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  look = () => stderr.includes(text) && resolve();
  look();
  await promise;
}

/** The value of the code, as text. */
async function execute(code: string, more: object = {}): Promise<string> {
  const { content } = await host.callTool({ name: "execute_code", arguments: { code, ...more } });
  return (content as { text: string }[])[0]!.text.replace(/\n\n\[[^\n]*\]$/, "");
}

const asker = () => fixture("protocol", "stdio", folder.path);
const form = {
  message: "How many?",
  requestedSchema: { type: "object", properties: { count: { type: "integer", default: 3 } } },
};
const ask = (method: string, params: object) => `return asker.ask(${JSON.stringify({ method, params })})`;
const question = { messages: [{ role: "user", content: { type: "text", text: "2 + 2?" } }], maxTokens: 10 };

describe.each(["stdio", "http"])("a server over %s", (way) => {
  test("sends requests to the host, and gets its answers", async () => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    const asked: unknown[] = [];
    const entry = server ? { url: `http://127.0.0.1:${server.port}/` } : asker();
    await serve({ asker: entry }, { sampling: {}, elicitation: {}, roots: { listChanged: true } }, (client) => {
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        asked.push(params.messages, params._meta);
        return { role: "assistant", model: "m", content: { type: "text", text: "four" } };
      });
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: {} };
      });
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
    });
    expect(await execute(ask("sampling/createMessage", question))).toContain('"text": "four"');
    expect(await execute(ask("elicitation/create", form))).toContain('"content": {"count": 3}');
    expect(await execute(ask("roots/list", {}))).toContain("file:///work");
    await host.sendRootsListChanged();
    expect(await execute("return (await asker.seen()).rootsChanged")).toBe("1");
    expect(asked).toEqual([question.messages, { "claudikins/server": "asker" }, "[asker] How many?"]);
  });

  test("learns that the host lacks a capability", async () => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    await serve({ asker: server ? { url: `http://127.0.0.1:${server.port}/` } : asker() }, {});
    expect(await execute("return asker.capabilities()")).toBe("{}");
    expect(await execute(ask("sampling/createMessage", question))).toMatchInlineSnapshot(
      `"{"error": {"code": -32601, "message": "MCP error -32601: claudikins: the host does not support sampling"}}"`,
    );
    expect(await execute(ask("roots/list", {}))).toMatchInlineSnapshot(
      `"{"error": {"code": -32601, "message": "MCP error -32601: claudikins: the host does not support roots"}}"`,
    );
  });
});

test("the time limit of an execution pauses while a person answers", async () => {
  await serve({ asker: asker() }, { elicitation: {} }, (client) => {
    client.setRequestHandler(ElicitRequestSchema, async () => {
      await Bun.sleep(5_000);
      return { action: "accept", content: { count: 5 } };
    });
  });
  await execute("return asker.seen()");
  expect(await execute(ask("elicitation/create", form), { timeout_ms: 4_000 })).toContain('"count": 5');
  // And continues afterwards.
  const late = `await asker.ask(${JSON.stringify({ method: "elicitation/create", params: form })}); await new Promise(() => setTimeout(() => {}, 60_000))`;
  expect(await execute(late, { timeout_ms: 4_000 })).toContain("Failed (timeout)");
});

test("cancelling a call cancels the server's request at the host", async () => {
  const asked = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<unknown>();
  await serve({ asker: asker() }, { elicitation: {} }, (client) => {
    client.setRequestHandler(ElicitRequestSchema, () => {
      asked.resolve();
      return new Promise(() => {});
    });
    client.setNotificationHandler(CancelledNotificationSchema, ({ params }) => cancelled.resolve(params.requestId));
  });
  const cancel = new AbortController();
  const params = { name: "execute_code", arguments: { code: ask("elicitation/create", form) } };
  const call = host.callTool(params, undefined, { signal: cancel.signal });
  await asked.promise;
  cancel.abort();
  await expect(call).rejects.toThrow();
  // Hosts that use the SDK ignore the id 0.
  expect(await cancelled.promise).toBeGreaterThan(0);
});

test("sampling, elicitation and roots work with server-everything", async () => {
  await serve({ everything: everything() }, { sampling: {}, elicitation: {}, roots: {} }, (client) => {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: "assistant",
      model: "m",
      content: { type: "text", text: "sampled words" },
    }));
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: "accept",
      content: { name: params.message.slice(0, 12), check: true },
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: "file:///work", name: "work" }] }));
  });
  expect(await execute("return (await tools.list('everything')).map(({ id }) => id)")).toContain("sampling");
  expect(await execute("return everything['trigger-sampling-request']({ prompt: 'say', maxTokens: 5 })")).toContain(
    "sampled words",
  );
  expect(await execute("return everything['trigger-elicitation-request']({})")).toContain("[everything]");
  expect(await execute("return everything['get-roots-list']({})")).toContain("file:///work");
});

/** The progress that the host gets for one call, in order, and the result of the call. */
async function watched(code: string): Promise<{ heard: { progress: number; message: string }[]; text: string }> {
  received.length = 0;
  const params = { name: "execute_code", arguments: { code } };
  const { content } = await host.callTool(params, undefined, { onprogress: () => {} });
  await host.ping();
  const answer = received.findIndex((message) => "result" in message);
  const notices = received.filter((message) => "method" in message && message.method === "notifications/progress");
  // None after the answer.
  expect(received.slice(0, answer)).toEqual(notices);
  const heard = notices.map(
    (notice) => ("params" in notice ? notice.params : {}) as { progress: number; message: string },
  );
  return {
    heard: heard.map(({ progress, message }) => ({ progress, message })),
    text: (content as { text: string }[])[0]!.text,
  };
}

const rising = (heard: { progress: number }[]) =>
  heard.every(({ progress }, at) => Number.isInteger(progress) && progress > (heard[at - 1]?.progress ?? 0));

describe("progress", () => {
  test.each(["stdio", "http"])(
    "over %s reaches a host that asks for it: calls, and messages of servers",
    async (way) => {
      // Nobody is asked whether the tools of this server may get what its other tools return.
      const entry = { labels: { "*": [] } };
      await using server =
        way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
      await serve({ asker: { ...entry, ...(server ? { url: `http://127.0.0.1:${server.port}/` } : asker()) } }, {});
      const { heard, text } = await watched(`return asker.progress({ steps: 1, words: "reading\\npage" })`);
      expect(text).toStartWith("reported");
      expect(heard).toEqual([
        { progress: 1, message: "asker.progress: 1/1 reading page 1" },
        { progress: 2, message: "asker.progress: done" },
      ]);
      const many = await watched(
        `await asker.progress({ steps: 1_000 }); await asker["needs-page"]().catch(() => {}); return asker.progress({ steps: 0 })`,
      );
      expect(rising(many.heard)).toBe(true);
      // The host gets only some of many concurrent reports, but always the last.
      expect(many.heard.length).toBeLessThan(200);
      expect(many.heard.at(-1)).toEqual({ progress: 1_003, message: "asker.progress: done" });
    },
  );

  test("is always requested from servers, because it restarts their time limit", async () => {
    await serve({ asker: asker() }, {});
    expect(await execute("return [await asker.progress({ steps: 3 }), (await asker.seen()).meta]")).toMatch(
      /^\["reported", \[\{"progressToken": \d+\}\]\]$/,
    );
  });

  test("reaches the host during a long operation of server-everything", async () => {
    await serve({ everything: everything() }, {});
    const { heard, text } = await watched(
      `return everything["trigger-long-running-operation"]({ duration: 1, steps: 4 })`,
    );
    expect(text).toContain("completed");
    expect(rising(heard)).toBe(true);
    expect(heard.map(({ message }) => message)).toEqual([
      ...[1, 2, 3, 4].map((step) => `everything.trigger-long-running-operation: ${step}/4`),
      "everything.trigger-long-running-operation: done",
    ]);
  });
});

describe.each(["stdio", "http"])("changes of a server over %s", (way) => {
  test("reach the next search and waiting code, and its log goes to stderr only", async () => {
    await using server =
      way === "http" ? await networkFixture("http", { program: "protocol", args: [folder.path] }) : undefined;
    await serve({ asker: server ? { url: `http://127.0.0.1:${server.port}/` } : asker() }, {}, undefined, {
      CLAUDIKINS_LOG: "info",
    });
    const updates = `const updates = asker.resources.subscribe("file:///a"); const next = updates.next();
      await asker.wait({ ms: 100 }); await asker["touch-resource"]({ uri: "file:///a" }); return (await next).value.uri`;
    expect(await execute(updates)).toBe("file:///a");
    await execute(`return asker["add-tool"]({ name: "weigh_parcel" })`);
    await logged("asker has changed");
    const { content } = await host.callTool({ name: "search_tools", arguments: { query: "weigh a parcel" } });
    expect(content).toMatchObject([{ text: expect.stringContaining("asker.weigh_parcel") }]);
    expect(await execute("return asker.weigh_parcel()")).toBe("this is weigh_parcel");
    await execute(
      `return asker.notify({ method: "notifications/message", params: { level: "warning", data: "low\\nink" } })`,
    );
    await logged("asker: low ink");
  });
});

test("gen ends even if a server never stops announcing changes", async () => {
  await serve({ asker: fixture("protocol", "stdio", folder.path, "endless") }, {});
  const { exitCode, stdout } = await runProgram([executable(), "gen", "--json"], { cwd: folder.path });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ servers: [{ server: "asker", tools: 14 }] });
});
