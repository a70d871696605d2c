/** The receipt of a task in one line, for the terminal and for models. */
import { grouped } from "../outcome-text.ts";
import type { TaskOutcome } from "./model.ts";

/** `[demo.get_order · 2 calls of cerebras/gpt-oss-120b, 1,204 tokens · 812 ms]`. */
export function taskReceiptText({ tool_used, receipt }: Pick<TaskOutcome, "tool_used" | "receipt">): string {
  const { model, modelCalls, tokens, totalMs } = receipt;
  const sum = `${tokens.isEstimate ? "about " : ""}${grouped(tokens.prompt + tokens.completion)} tokens`;
  const asked = `${modelCalls} ${modelCalls === 1 ? "call" : "calls"} of ${model}`;
  const parts = [
    ...(tool_used === undefined ? [] : [tool_used]),
    modelCalls === 0 ? asked : `${asked}, ${sum}`,
    `${grouped(totalMs)} ms`,
  ];
  return `[${parts.join(" · ")}]`;
}
