/**
 * Peers that are too large to be installed with the tests: Claude Code as a host, and context7 as a server of both eras.
 * `TEST_SERVERS` is a folder in which they were installed:
 *
 *     npm install @anthropic-ai/claude-code@2.1.330 @upstash/context7-mcp@4.1.1
 */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Pool } from "../../src/clients/pool.ts";
import { claudikinsCommand } from "../support/command.ts";
import { httpServe } from "../support/http-serve.ts";
import { freePort } from "../support/network.ts";
import { openPool, surroundings } from "../support/pool.ts";
import { processesLeft, runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const packages = join(process.env["TEST_SERVERS"] ?? "", "node_modules");
const claude = join(packages, ".bin", "claude");
const context7 = join(packages, "@upstash", "context7-mcp", "dist", "index.js");
const isInstalled = (file: string) => process.env["TEST_SERVERS"] !== undefined && existsSync(file);
const skipped = (file: string) => (isInstalled(file) ? "" : " (skipped: TEST_SERVERS has no such package)");

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

interface Message {
  content: unknown;
}

/** A Messages API whose model calls `execute_code` once and then ends. */
function scriptedModel(code: string) {
  const results: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (!request.url.includes("/messages")) return Response.json({});
      const { messages = [], tools = [] } = (await request.json()) as {
        messages: Message[];
        tools: { name: string }[];
      };
      const answered = messages.flatMap(({ content }) =>
        JSON.stringify(content).includes('"tool_result"') ? [content] : [],
      );
      if (answered.length > 0) results.push(JSON.stringify(answered.at(-1)));
      const name = "mcp__claudikins__execute_code";
      const isAsked = answered.length === 0 && tools.some((tool) => tool.name === name);
      const block = isAsked
        ? { type: "tool_use", id: "toolu_1", name, input: { code } }
        : { type: "text", text: "That was all." };
      return new Response(streamOf(block), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, results, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The events of an answer with one content block. */
function streamOf(block: { type: string; text?: string; input?: object }): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage,
  };
  const isText = block.type === "text";
  const delta = isText
    ? { type: "text_delta", text: block.text }
    : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
  const stop = { stop_reason: isText ? "end_turn" : "tool_use", stop_sequence: null };
  const events = [
    { type: "message_start", message },
    {
      type: "content_block_start",
      index: 0,
      content_block: isText ? { type: "text", text: "" } : { ...block, input: {} },
    },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

describe.skipIf(!isInstalled(claude))(`Claude Code${skipped(claude)}`, () => {
  test.each(["stdio", "http"])("runs a program over %s in which an old server asks for roots", async (way) => {
    folder.write("claudikins.json", {
      mcpServers: { older: fixture("protocol", "stdio", folder.path), newer: fixture("modern", "reject", folder.path) },
    });
    const code = `return [await newer.era({}), await newer.places({}), await older.ask({ method: "roots/list", params: {} })]`;
    await using model = scriptedModel(code);
    await using door = way === "http" ? await httpServe(folder) : undefined;
    const [command, ...args] = [...claudikinsCommand, "serve", "--trust"];
    const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
    const entry = door ? { type: "http", url: door.url } : { type: "stdio", command, args, env };
    const config = folder.write("mcp.json", { mcpServers: { claudikins: entry } });
    const { exitCode } = await runProgram(
      [
        ...[claude, "-p", "Go.", "--mcp-config", config, "--strict-mcp-config"],
        ...["--allowedTools", "mcp__claudikins__execute_code", "--output-format", "json"],
      ],
      {
        cwd: folder.path,
        env: {
          HOME: folder.path,
          ANTHROPIC_BASE_URL: model.url,
          ANTHROPIC_API_KEY: "sk-ant-test",
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        },
      },
    );
    expect(exitCode).toBe(0);
    expect(model.results.join()).toContain("modern");
    expect(model.results.join().split(`file://${folder.path}`)).toHaveLength(3);
  });
});

describe.skipIf(!isInstalled(context7))(`context7${skipped(context7)}`, () => {
  const names = async (pool: Pool) => (await pool.listTools("context7")).map(({ name }) => name);

  test.each(["2025", "2026"] as const)("is connected and listed over stdio in the era %s", async (era) => {
    const entries = { context7: { command: "node", args: [context7] } };
    await using pool = openPool(entries, surroundings(folder.path));
    pool.storedRevision = () => (era === "2026" ? "2026-07-28" : "2025-11-25");
    expect(await names(pool)).toContain("resolve-library-id");
  });

  test.each(["2025", "2026"] as const)("is connected and listed over HTTP in the era %s", async (era) => {
    const port = String(await freePort());
    const server = Bun.spawn(["node", context7, "--transport", "http", "--port", port], {
      env: testEnvironment({ HOME: folder.path }),
      stdout: "ignore",
      stderr: "ignore",
    });
    const entries = { context7: { url: `http://127.0.0.1:${port}/mcp` } };
    await using pool = openPool(entries, surroundings(folder.path));
    pool.storedRevision = () => (era === "2026" ? "2026-07-28" : "2025-11-25");
    try {
      const deadline = performance.now() + 30_000;
      while (!(await names(pool).catch((): string[] => [])).includes("resolve-library-id")) {
        expect(performance.now()).toBeLessThan(deadline);
        await Bun.sleep(50);
      }
    } finally {
      server.kill();
      await server.exited;
    }
  });
});
