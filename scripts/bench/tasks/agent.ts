/** A scripted model: its turns use real MCP connections, and everything that enters its context is counted. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import type { Entry } from "../../../test/support/servers.ts";
import { shownName, toolsOf } from "../host.ts";

const maxBufferSize = 256 * 1_048_576;

/** A server's name, its tool's name, and the arguments. */
export type Call = [server: string, tool: string, args: Record<string, unknown>];

export interface Reply {
  text: string;
  failed: boolean;
}

/** The cost of one task. */
export interface Cost {
  /** The text that the model wrote and read: the request, its calls, their results. */
  workTokens: number;
  /** The part of it that is the user's request. */
  requestTokens: number;
  /** Requests to the model: one per turn of calls, and one for the answer. */
  roundTrips: number;
  /** Everything that was sent to the model, since each request repeats the whole context. */
  processedTokens: number;
  /** The tools that were called, by the names that the host shows. */
  used: Set<string>;
  /** The time of the tools, without the model. */
  ms: number;
}

export class Agent implements AsyncDisposable {
  readonly #clients: Map<string, Client>;
  /** The context before any work: definitions and instructions. */
  readonly definitionTokens: number;
  /** The same, with each tool under its shown name. */
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

  /** A host with these servers, which are all started before any work. */
  static async start(servers: Record<string, Entry>, cwd: string): Promise<Agent> {
    const names = Object.keys(servers).sort();
    const connected = await Promise.all(names.map((name) => connect(servers[name]!, cwd)));
    const shown = await Promise.all(connected.map((client, index) => shownOf(names[index]!, client)));
    return new Agent(new Map(names.map((name, index) => [name, connected[index]!])), shown);
  }

  /** Begins a task with a new context, and resets the counts. */
  begin(request: string): void {
    this.#request = countTokens(request);
    [this.#work, this.#processed, this.#turns, this.#ms] = [this.#request, 0, 0, 0];
    this.#used = new Set();
  }

  /** One turn of the model with all of its concurrent calls. */
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

  /** The last request to the model, which returns the answer. It is the same both ways, so it is not counted. */
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

/** A call as the model writes it. */
export const writtenCall = (name: string, args: object) => JSON.stringify({ name, arguments: args });

/** The parts that a host shows to the model: names, descriptions, schemas of arguments, and instructions. */
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
