/** A model at work, played from a script: its turns go over real MCP connections, and what enters its context is counted. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Entry } from "../../support/servers.ts";

const maxBufferSize = 256 * 1_048_576;

/** A server's name and its tool's, and the arguments. */
export type Call = [server: string, tool: string, args: Record<string, unknown>];

export interface Reply {
  text: string;
  failed: boolean;
}

/** What one task has cost. */
export interface Cost {
  /** What the model wrote and what it was shown: the request, its calls, their results. */
  workTokens: number;
  /** Requests to the model: a turn of calls each, and the last one for the answer. */
  roundTrips: number;
  /** All that was sent to the model over these requests, since each carries the whole context. */
  processedTokens: number;
  /** What the tools took, without the model. */
  ms: number;
}

export class Agent implements AsyncDisposable {
  readonly #clients: Map<string, Client>;
  /** What stands in the context before any work: definitions and instructions. */
  readonly definitionTokens: number;
  #work = 0;
  #processed = 0;
  #turns = 0;
  #ms = 0;

  private constructor(clients: Map<string, Client>, definitions: string) {
    this.#clients = clients;
    this.definitionTokens = countTokens(definitions);
  }

  /** A host with these servers, all of them started before any work. */
  static async start(servers: Record<string, Entry>, cwd: string): Promise<Agent> {
    const names = Object.keys(servers).sort();
    const connected = await Promise.all(names.map((name) => connect(servers[name]!, cwd)));
    const texts = await Promise.all(connected.map((client, index) => definitionsOf(names[index]!, client)));
    return new Agent(new Map(names.map((name, index) => [name, connected[index]!])), texts.join("\n"));
  }

  /** A task begins: what was counted before is forgotten, and the context is a new one. */
  begin(request: string): void {
    [this.#work, this.#processed, this.#turns, this.#ms] = [countTokens(request), 0, 0, 0];
  }

  /** One turn of the model, with all of its calls at once. */
  async turn(...calls: Call[]): Promise<Reply[]> {
    this.#send();
    const startedAt = performance.now();
    const replies = await Promise.all(calls.map((call) => this.#call(call)));
    this.#ms += performance.now() - startedAt;
    for (const [index, [server, tool, args]] of calls.entries()) {
      const written = JSON.stringify({ name: shownName(server, tool), arguments: args });
      this.#work += countTokens(written) + countTokens(replies[index]!.text);
    }
    return replies;
  }

  /** The last request to the model, which gives the answer; both ways give the same one, so that it is not counted. */
  end(): Cost {
    this.#send();
    return { workTokens: this.#work, roundTrips: this.#turns, processedTokens: this.#processed, ms: this.#ms };
  }

  #send(): void {
    this.#turns += 1;
    this.#processed += this.definitionTokens + this.#work;
  }

  async #call([server, name, args]: Call): Promise<Reply> {
    const client = this.#clients.get(server);
    if (!client) throw new Error(`no server ${server}`);
    const { content, isError } = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
    const blocks = content as { type: string; text?: string }[];
    return { text: blocks.map(({ type, text }) => text ?? `[${type}]`).join("\n"), failed: isError === true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.close()));
  }
}

/** As hosts show the tools of several servers. */
const shownName = (server: string, tool: string) => `mcp__${server}__${tool}`;

async function connect(entry: Entry, cwd: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ ...entry, cwd, stderr: "ignore", maxBufferSize }));
  return client;
}

/** What a host hands to the model: names, descriptions and schemas of the arguments, and the instructions. */
async function definitionsOf(server: string, client: Client): Promise<string> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const shown = tools.map(({ name, description, inputSchema }) => ({
    name: shownName(server, name),
    description,
    input_schema: inputSchema,
  }));
  return `${JSON.stringify(shown)}\n${client.getInstructions() ?? ""}`;
}
