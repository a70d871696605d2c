/** Claude Code as a host, if `TEST_SERVERS` is a folder in which it was installed, and a Messages API whose model follows a script. */
import { join } from "node:path";
import { type Ended, runProgram } from "./process.ts";
import type { TemporaryFolder } from "./temporary.ts";

/** The program. It may not exist. */
export const claude = join(process.env["TEST_SERVERS"] ?? "", "node_modules", ".bin", "claude");

/** Runs Claude Code with claudikins as its only MCP server, until its model has ended. */
export function claudeCode(folder: TemporaryFolder, entry: object, model: string, name = "mcp"): Promise<Ended> {
  const config = folder.write(`${name}.json`, { mcpServers: { claudikins: entry } });
  const command = [
    ...[claude, "-p", "Go.", "--mcp-config", config, "--strict-mcp-config"],
    ...["--allowedTools", "mcp__claudikins__execute_code", "--output-format", "json"],
  ];
  const env = {
    HOME: folder.path,
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "sk-ant-test",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  return runProgram(command, { cwd: folder.path, env });
}

interface Message {
  content: unknown;
}

export interface ScriptedModel extends AsyncDisposable {
  url: string;
  /** The results of the calls, as JSON. */
  results: string[];
}

/** A model that lets `execute_code` run the programs one after another, and then ends. `before` is awaited before each of them. */
export function scriptedModel(programs: string[], before = async (_at: number) => {}): ScriptedModel {
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
      if (answered.length > results.length) results.push(JSON.stringify(answered.at(-1)));
      const name = "mcp__claudikins__execute_code";
      const code = tools.some((tool) => tool.name === name) ? programs[answered.length] : undefined;
      if (code !== undefined) await before(answered.length);
      const block =
        code === undefined
          ? { type: "text", text: "That was all." }
          : { type: "tool_use", id: `toolu_${answered.length + 1}`, name, input: { code } };
      return new Response(streamOf(block, answered.length), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, results, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The events of an answer with one content block. Claude Code takes answers with one id for one answer. */
function streamOf(block: { type: string; text?: string; input?: object }, at: number): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: `msg_${at}`,
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
