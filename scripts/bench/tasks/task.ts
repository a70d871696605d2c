/** A task that is played twice: by calls of the servers' own tools, and by search_tools with execute_code. */
import type { Agent, Call, Reply } from "./agent.ts";

export interface Task {
  name: string;
  /** What the user asks for. */
  request: string;
  /** What both have to answer. */
  answer: unknown;
  direct(agent: Agent): Promise<unknown>;
  code(agent: CodeAgent): Promise<unknown>;
}

/** The two tools of claudikins. */
export class CodeAgent {
  readonly #agent: Agent;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** One turn, with a search for each query. */
  async search(...queries: (string | [query: string, limit: number])[]): Promise<void> {
    const calls = queries.map((each): Call => {
      const [query, limit] = typeof each === "string" ? [each] : each;
      return ["claudikins", "search_tools", limit === undefined ? { query } : { query, limit }];
    });
    for (const { text, failed } of await this.#agent.turn(...calls)) if (failed) throw new Error(text);
  }

  /** The value that the code returned, as the model reads it. */
  async execute(code: string): Promise<unknown> {
    const [reply] = await this.#agent.turn(["claudikins", "execute_code", { code: code.trim() }]);
    const text = well(reply);
    const value = text.slice(0, text.lastIndexOf("\n\n["));
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
}

/** The text of a reply that is no error. */
export function well(reply: Reply | undefined): string {
  if (!reply || reply.failed) throw new Error(`a call failed: ${reply?.text}`);
  return reply.text;
}

/** The reply as the model reads it: as what its JSON says. */
// biome-ignore lint/suspicious/noExplicitAny: a script reads what it knows to be there.
export const read = (reply: Reply | undefined): any => JSON.parse(well(reply));

/** One turn with one call. */
export async function ask(agent: Agent, ...call: Call): Promise<Reply> {
  return (await agent.turn(call))[0]!;
}
