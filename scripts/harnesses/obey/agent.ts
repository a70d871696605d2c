/** An agent that does its task, and obeys every instruction in every text that it meets. */
import { openHost, type TestHost } from "../../../test/support/host.ts";
import type { TemporaryFolder } from "../../../test/support/temporary.ts";
import { capabilitiesOf, type Person } from "./person.ts";
import type { World } from "./world.ts";

/** A function of a step gets the text that the agent has seen in this session. */
export type Step =
  | { search: string }
  | { code: string | ((seen: string) => string) }
  /** A tool of a server, in direct mode. `HOME` in programs is the path of the files. */
  | { call: string; args: object | ((seen: string) => object) }
  /** Another request of the protocol, in direct mode. */
  | { request: string; params: object }
  /** Another agent, at the same servers. */
  | { session: "new" }
  | { change: (world: World) => void };

/** An instruction that the agent obeys when it meets its words. */
export interface Instruction {
  /** Words of the text, or a pattern whose groups the steps use. */
  cue: string | RegExp;
  steps: (found: string[], seen: string) => Step[];
}

export interface AgentOptions {
  folder: TemporaryFolder;
  world: World;
  command: readonly string[];
  mode: "code" | "direct";
  person: Person;
  instructions: readonly Instruction[];
}

export class Agent implements AsyncDisposable {
  /** Everything that it did and saw, for people. */
  readonly transcript: string[] = [];
  /** How many instructions it has obeyed. */
  obeyed = 0;
  readonly #options: AgentOptions;
  #host: TestHost | undefined;
  #seen = "";
  #open: Instruction[] = [];

  constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Does its task. Whatever it meets on the way and tells it to do something comes first. */
  async does(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      this.#see(await this.#do(step));
      for (let next = this.#nextInstruction(); next; next = this.#nextInstruction()) {
        this.obeyed += 1;
        await this.does(next);
      }
    }
  }

  /** The steps of an instruction that it has met and not obeyed yet. */
  #nextInstruction(): Step[] | undefined {
    for (const instruction of this.#open) {
      const { cue, steps } = instruction;
      const found = typeof cue === "string" ? (this.#seen.includes(cue) ? [cue] : null) : cue.exec(this.#seen);
      if (!found) continue;
      this.#open = this.#open.filter((each) => each !== instruction);
      return steps([...found], this.#seen);
    }
    return undefined;
  }

  async #do(step: Step): Promise<string> {
    const { world, person } = this.#options;
    if ("change" in step) {
      step.change(world);
      return "";
    }
    if ("session" in step) {
      await this.#leave();
      return "";
    }
    const host = await this.#connected();
    const listed = "call" in step ? await this.#nameOf(step.call, host) : "";
    const [name, params] = requestOf(step, this.#seen, JSON.stringify(world.home), listed);
    this.transcript.push(`→ ${name} ${JSON.stringify(params)}`);
    const answer = await host
      .request(name, params, { timeout: answerMs })
      .catch((error: Error) => ({ error: error.message }));
    const text = shownText(answer);
    if (text.includes(waits)) person.hears(text);
    this.transcript.push(...person.questionsSince().map((question) => `? ${question}`), `← ${text}`);
    return text;
  }

  /** The name that direct mode gives to `server.tool`: it has a prefix if several servers have such a tool. */
  async #nameOf(id: string, host: TestHost): Promise<string> {
    const { tools } = (await host.request("tools/list")) as unknown as { tools: { name: string }[] };
    const [server, tool = ""] = id.split(".");
    return tools.some(({ name }) => name === `${server}__${tool}`) ? `${server}__${tool}` : tool;
  }

  #see(text: string): void {
    this.#seen += `${text}\n`;
  }

  async #connected(): Promise<TestHost> {
    if (this.#host) return this.#host;
    const { folder, command, mode, person, instructions } = this.#options;
    this.#seen = "";
    this.#open = [...instructions];
    const env = { HOME: folder.path, XDG_CONFIG_HOME: `${folder.path}/config`, XDG_STATE_HOME: `${folder.path}/state` };
    this.#host = await openHost(folder, {
      command,
      flags: ["--mode", mode],
      env: { ...env, XDG_CACHE_HOME: `${folder.path}/cache` },
      capabilities: capabilitiesOf(person),
      prepare: (client) => person.answers(client, () => this.#seen),
    });
    this.#see(`${this.#host.client.getInstructions() ?? ""}`);
    if (mode === "direct") this.#see(JSON.stringify(await this.#host.request("tools/list")));
    return this.#host;
  }

  async #leave(): Promise<void> {
    await this.#host?.[Symbol.asyncDispose]();
    this.#host = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
  }
}

/** A program that waits for a person is answered earlier. */
const answerMs = 60_000;

function requestOf(
  step: Exclude<Step, { session: "new" } | { change: unknown }>,
  seen: string,
  home: string,
  listed: string,
): [string, object] {
  if ("request" in step) return [step.request, step.params];
  if ("search" in step) return ["tools/call", { name: "search_tools", arguments: { query: step.search } }];
  if ("call" in step) {
    const args = typeof step.args === "function" ? step.args(seen) : step.args;
    return ["tools/call", { name: listed, arguments: args }];
  }
  const code = typeof step.code === "function" ? step.code(seen) : step.code;
  return ["tools/call", { name: "execute_code", arguments: { code: code.replaceAll("HOME", home) } }];
}

/** The words about a call that nobody could be asked about. */
const waits = "waits until a person approves";

/** The text that a model sees of an answer. */
function shownText(answer: Record<string, unknown>): string {
  const { content } = answer as { content?: { text?: string }[] };
  return Array.isArray(content) ? content.map(({ text = "" }) => text).join("\n") : JSON.stringify(answer);
}
