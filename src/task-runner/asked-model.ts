/** The model for one task. Its requests are counted for the receipt. */

import { ClaudikinsError } from "../base/errors.ts";
import { unlessAborted } from "../servers/abort.ts";
import type { Model, ModelRequest, TaskReceipt, TaskStep } from "./model.ts";

export class AskedModel {
  readonly #model: Model;
  readonly #signal: AbortSignal;
  readonly steps: TaskStep[] = [];
  #calls = 0;
  readonly #tokens = { prompt: 0, completion: 0, isEstimate: false };

  constructor(model: Model, signal: AbortSignal) {
    this.#model = model;
    this.#signal = signal;
  }

  get name(): string {
    return this.#model.name;
  }

  /** Returns the text of the answer. Throws what the model throws, and CANCELLED. */
  async ask(request: ModelRequest): Promise<string> {
    refuseCancelled(this.#signal);
    this.#calls += 1;
    const asked = this.#model.ask(request, this.#signal);
    const { text, tokens, isEstimate } = await unlessAborted(asked, this.#signal, "The request to the model");
    this.#tokens.prompt += tokens.prompt;
    this.#tokens.completion += tokens.completion;
    this.#tokens.isEstimate ||= isEstimate;
    return text;
  }

  /** Runs one step of the receipt and counts its requests. `work` fills in the step. The receipt contains failed steps too. */
  async step<T>(begun: Pick<TaskStep, "level" | "options">, work: (step: TaskStep) => Promise<T>): Promise<T> {
    const step: TaskStep = { ...begun, choice: "", skipped: false, tokens: 0, ms: 0 };
    this.steps.push(step);
    const [startedAt, calls, tokens] = [performance.now(), this.#calls, this.#sum];
    try {
      return await work(step);
    } finally {
      step.tokens = this.#sum - tokens;
      step.ms = Math.round(performance.now() - startedAt);
      if (this.#calls - calls > 1) step.retried = true;
    }
  }

  get #sum(): number {
    return this.#tokens.prompt + this.#tokens.completion;
  }

  get receipt(): Pick<TaskReceipt, "model" | "steps" | "modelCalls" | "tokens"> {
    return { model: this.name, steps: this.steps, modelCalls: this.#calls, tokens: { ...this.#tokens } };
  }
}

/** Throws CANCELLED. */
export function refuseCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new ClaudikinsError("CANCELLED", "The task was cancelled");
}

/** The error for a model whose corrected answer was wrong again. */
export function unusable({ name }: AskedModel, what: string): ClaudikinsError {
  return new ClaudikinsError("MODEL_ANSWER_INVALID", `${name} ${what}, twice`, {
    hint: "Name the server and the tool in the task, or use a larger model.",
  });
}
