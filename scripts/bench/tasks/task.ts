/** A task that is played twice: with the servers' own tools, and with search_tools and execute_code. */
import type { Agent, Call, Reply } from "./agent.ts";

export interface Task {
  name: string;
  /** The user's request. */
  request: string;
  /** The expected answer of both. */
  answer: unknown;
  direct(agent: Agent): Promise<unknown>;
  code(agent: CodeAgent): Promise<unknown>;
}

/** The two tools of claudikins, for one task. */
export class CodeAgent {
  readonly #agent: Agent;
  /** The answers of its searches, and its programs. */
  readonly answers: string[] = [];
  readonly programs: string[] = [];

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** Whether the instructions show how these tools are called, so that a program can be written without a search. */
  shows(...tools: string[]): boolean {
    const blocks = this.#agent.shown.instructions.split("\n- ");
    return tools.every((id) => {
      const [server = "", tool = ""] = id.split(".");
      return blocks.some((block) => /^[\w-]+/.exec(block)?.[0] === server && block.includes(` ${tool}({`));
    });
  }

  /** Whether the instructions name these fields of results. */
  tells(...fields: string[]): boolean {
    return fields.every((field) => new RegExp(`\\b${field}\\b`).test(this.#agent.shown.instructions));
  }

  /** One search for all needs of a task, in one server or in all. */
  async search(queries: string[], server?: string): Promise<void> {
    const call: Call = ["claudikins", "search_tools", { queries, ...(server === undefined ? {} : { server }) }];
    const [reply] = await this.#agent.turn(call);
    this.answers.push(well(reply));
  }

  /** The value of the code, as the model reads it. */
  async execute(code: string): Promise<unknown> {
    this.programs.push(code.trim());
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

/** The text of a successful reply. */
export function well(reply: Reply | undefined): string {
  if (!reply || reply.failed) throw new Error(`a call failed: ${reply?.text}`);
  return reply.text;
}

/** The reply parsed as JSON, as the model reads it. */
// biome-ignore lint/suspicious/noExplicitAny: a script knows the values that it reads.
export const read = (reply: Reply | undefined): any => JSON.parse(well(reply));

/** One turn with one call. */
export async function ask(agent: Agent, ...call: Call): Promise<Reply> {
  return (await agent.turn(call))[0]!;
}
