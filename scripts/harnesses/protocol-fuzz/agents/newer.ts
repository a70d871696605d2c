/**
 * An agent of 2026-07-28 on stdin and stdout: answers questions late, twice, to keys that nobody asked with, and with the answers and
 * states of earlier rounds. In some calls it knows tasks.
 */
import type { InputRequest } from "@modelcontextprotocol/client";
import { envelope } from "../../../../test/support/modern-host.ts";
import { Random } from "../../random.ts";
import { type Answer, type Elicitation, onceAnswer, type Person } from "../person.ts";
import { hostileKey } from "../questions.ts";
import { timed } from "../waits.ts";
import { type Agent, type CallOptions, textOf } from "./agent.ts";
import { type Message, Wire } from "./wire.ts";

const tasksExtension = "io.modelcontextprotocol/tasks";

/** Rounds of a call that is answered at random. Later questions are cancelled. */
const maxRounds = 6;

const delays = [0, 30, 150, 300, 400];

interface Round extends Record<string, unknown> {
  inputRequests?: Record<string, InputRequest>;
  requestState?: string;
  taskId?: string;
  status?: string;
}

export class NewerAgent implements Agent, AsyncDisposable {
  readonly #wire: Wire;
  readonly #person: Person;

  constructor(command: string[], options: { cwd: string; env: object }, person: Person) {
    this.#person = person;
    this.#wire = new Wire(command, options, () => {});
  }

  get pid(): number {
    return this.#wire.pid;
  }

  /** This revision has no ping. */
  ping(): Promise<number> {
    return timed(() => this.#ask("server/discover", {}, {}));
  }

  async call(name: string, args: object, { random, signal }: CallOptions = {}): Promise<string | undefined> {
    const knowsTasks = random?.chance(0.3) ?? false;
    const capabilities = {
      ...(random ? { elicitation: { form: {} }, sampling: {}, roots: {} } : {}),
      ...(knowsTasks ? { extensions: { [tasksExtension]: {} } } : {}),
    };
    const params = { name, arguments: args };
    const first = await this.#ask("tools/call", params, capabilities, signal);
    const { resultType, taskId } = Object(first?.result);
    if (resultType === "task")
      return await this.#followTask(String(taskId), capabilities, random ?? new Random(1, 1), signal);
    return await this.#answerRounds(first, params, capabilities, random ?? new Random(1, 1), signal);
  }

  terminate(): Promise<number> {
    return this.#wire.terminate();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#wire[Symbol.asyncDispose]();
  }

  #ask(method: string, params: object, capabilities: object, signal?: AbortSignal): Promise<Message | undefined> {
    return this.#wire.request(method, { ...params, _meta: envelope(capabilities, "fuzz") }, signal);
  }

  async #answerRounds(
    first: Message | undefined,
    params: object,
    capabilities: object,
    random: Random,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    let message = first;
    const earlier: Record<string, Answer> = {};
    const states: string[] = [];
    for (let round = 0; !signal?.aborted; round++) {
      const { inputRequests, requestState } = Object(message?.result) as Round;
      if (Object(message?.result).resultType !== "input_required") break;
      const isLast = round >= maxRounds;
      const own = isLast ? cancelled(inputRequests) : this.#answers(inputRequests, random);
      if (!isLast) await Bun.sleep(random.pick(delays));
      const inputResponses = isLast ? own : { ...extra(random, earlier, inputRequests), ...own };
      Object.assign(earlier, own);
      // Before the right state, one that was used already.
      if (random.chance(0.1) && states.length > 0) {
        const used = { ...params, inputResponses, requestState: random.pick(states) };
        await this.#ask("tools/call", used, capabilities, signal);
      }
      const next = { ...params, inputResponses, requestState };
      const answer = this.#ask("tools/call", next, capabilities, signal);
      if (random.chance(0.2)) void this.#ask("tools/call", next, capabilities, signal);
      if (requestState !== undefined) states.push(requestState);
      message = await answer;
    }
    return textOf(message);
  }

  async #followTask(
    taskId: string,
    capabilities: object,
    random: Random,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const earlier: Record<string, Answer> = {};
    for (let round = 0; !signal?.aborted; round++) {
      const state = await this.#ask("tasks/get", { taskId }, capabilities, signal);
      const { status, inputRequests, result, error } = Object(state?.result) as Round;
      if (status === undefined || status === "completed" || status === "failed" || status === "cancelled") {
        return textOf({ result, error: error ?? state?.error });
      }
      await Bun.sleep(status === "input_required" ? random.pick(delays) : 30);
      if (status !== "input_required") continue;
      const own = round >= maxRounds ? cancelled(inputRequests) : this.#answers(inputRequests, random);
      const inputResponses = { ...extra(random, earlier, inputRequests), ...own };
      Object.assign(earlier, own);
      await this.#ask("tasks/update", { taskId, inputResponses }, capabilities, signal);
    }
    return undefined;
  }

  /** Some questions get no answer in this round. */
  #answers(questions: Record<string, InputRequest> = {}, random: Random): Record<string, Answer> {
    const kept = Object.entries(questions).filter(() => random.chance(0.85));
    return Object.fromEntries(
      kept.flatMap(([key, question]) => {
        const answer = this.#person.answer(question as Elicitation, random);
        return answer ? [[key, answer] as const] : [];
      }),
    );
  }
}

/** Answers to keys of earlier rounds, and to keys that nobody has asked with; none to a question of this round. */
function extra(random: Random, earlier: Record<string, Answer>, asked: object = {}): Record<string, Answer> {
  const answers = {
    ...(random.chance(0.5) ? earlier : {}),
    ...(random.chance(0.6) ? { [hostileKey(random)]: onceAnswer, [hostileKey(random)]: onceAnswer } : {}),
  };
  return Object.fromEntries(Object.entries(answers).filter(([key]) => !Object.hasOwn(asked, key)));
}

function cancelled(questions: Record<string, InputRequest> = {}): Record<string, Answer> {
  return Object.fromEntries(Object.keys(questions).map((key) => [key, { action: "cancel" }]));
}
