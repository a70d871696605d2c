/** A model at work, played from a script: its turns go over real MCP connections, and what enters its context is counted. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Entry } from "../../../test/support/servers.ts";
import { shownName, toolsOf } from "../host.ts";

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
  /** Of it, what the user asked for. */
  requestTokens: number;
  /** Requests to the model: a turn of calls each, and the last one for the answer. */
  roundTrips: number;
  /** All that was sent to the model over these requests, since each carries the whole context. */
  processedTokens: number;
  /** The tools that were called, as the host shows their names. */
  used: Set<string>;
  /** What the tools took, without the model. */
  ms: number;
}

export class Agent implements AsyncDisposable {
  readonly #clients: Map<string, Client>;
  /** What stands in the context before any work: definitions and instructions. */
  readonly definitionTokens: number;
  /** The same, each tool by itself under the name that is shown, and the instructions. */
  readonly shown: Shown;
  #request = 0;
  #work = 0;
  #processed = 0;
  #turns = 0;
  #ms = 0;
  #used = new Set<string>();

  private constructor(clients: Map<string, Client>, ofServers: Shown[]) {
    this.#clients = clients;
    this.shown = {
      definitions: new Map(ofServers.flatMap(({ definitions }) => [...definitions])),
      instructions: ofServers.map(({ instructions }) => instructions).join("\n"),
    };
    const texts = ofServers.map(
      ({ definitions, instructions }) => `[${[...definitions.values()].join(",")}]\n${instructions}`,
    );
    this.definitionTokens = countTokens(texts.join("\n"));
  }

  /** A host with these servers, all of them started before any work. */
  static async start(servers: Record<string, Entry>, cwd: string): Promise<Agent> {
    const names = Object.keys(servers).sort();
    const connected = await Promise.all(names.map((name) => connect(servers[name]!, cwd)));
    const shown = await Promise.all(connected.map((client, index) => shownOf(names[index]!, client)));
    return new Agent(new Map(names.map((name, index) => [name, connected[index]!])), shown);
  }

  /** A task begins: what was counted before is forgotten, and the context is a new one. */
  begin(request: string): void {
    this.#request = countTokens(request);
    [this.#work, this.#processed, this.#turns, this.#ms] = [this.#request, 0, 0, 0];
    this.#used = new Set();
  }

  /** One turn of the model, with all of its calls at once. */
  async turn(...calls: Call[]): Promise<Reply[]> {
    this.#send();
    const startedAt = performance.now();
    const replies = await Promise.all(calls.map((call) => this.#call(call)));
    this.#ms += performance.now() - startedAt;
    for (const [index, [server, tool, args]] of calls.entries()) {
      const name = shownName(server, tool);
      this.#used.add(name);
      this.#work += countTokens(writtenCall(name, args)) + countTokens(replies[index]!.text);
    }
    return replies;
  }

  /** The last request to the model, which gives the answer; both ways give the same one, so that it is not counted. */
  end(): Cost {
    this.#send();
    return {
      workTokens: this.#work,
      requestTokens: this.#request,
      roundTrips: this.#turns,
      processedTokens: this.#processed,
      used: this.#used,
      ms: this.#ms,
    };
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

async function connect(entry: Entry, cwd: string): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ ...entry, cwd, stderr: "ignore", maxBufferSize }));
  return client;
}

/** A call as a model writes it. */
export const writtenCall = (name: string, args: object) => JSON.stringify({ name, arguments: args });

/** What a host hands to the model: names, descriptions and schemas of the arguments, and the instructions. */
export interface Shown {
  definitions: Map<string, string>;
  instructions: string;
}

async function shownOf(server: string, client: Client): Promise<Shown> {
  const definitions = (await toolsOf(client)).map(({ name, description, inputSchema }): [string, string] => {
    const shown = shownName(server, name);
    return [shown, JSON.stringify({ name: shown, description, input_schema: inputSchema })];
  });
  return { definitions: new Map(definitions), instructions: client.getInstructions() ?? "" };
}
