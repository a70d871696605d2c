/** A model that gives its answers in order, and keeps the requests. */
import type { Model, ModelAnswer, ModelRequest } from "../../src/task-runner/model.ts";

/** Text is used as it is, objects become JSON, and errors are thrown; a function computes one of them from the request. */
export type Answer = string | object | Error | ((request: ModelRequest, signal: AbortSignal) => unknown);

export class ScriptedModel implements Model {
  readonly name = "scripted";
  readonly requests: ModelRequest[] = [];
  readonly #answers: Answer[];

  constructor(...answers: Answer[]) {
    this.#answers = answers;
  }

  async ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    this.requests.push(request);
    if (this.#answers.length === 0) throw new Error(`nobody expected to be asked: ${request.prompt}`);
    const next = this.#answers.shift();
    const answer = typeof next === "function" ? await next(request, signal) : next;
    if (answer instanceof Error) throw answer;
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    return { text, tokens: { prompt: 100, completion: 10 }, isEstimate: false };
  }

  /** The number of unused answers. */
  get left(): number {
    return this.#answers.length;
  }
}

export const choice = (name: string) => ({ choice: name });
