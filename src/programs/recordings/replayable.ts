/** Makes a recording ready for a replay: its calls with the answers as a program gets them. */

import { withExactTexts } from "../../base/exact-json.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { textOf } from "../../sandbox/binding-value.ts";
import type { BindingValue } from "../../sandbox/contract.ts";
import { isJson } from "../../servers/result.ts";
import type { RecordedToolCall, Recording } from "./format.ts";
import type { AnswerableCall } from "./replay.ts";

export interface ReplayableCall extends AnswerableCall {
  /** Its place among the calls of the recording. */
  place: number;
  args: JsonObject;
  /** Answers that had come when it was sent. */
  after: number;
}

export function replayableCalls({ calls }: Recording): ReplayableCall[] {
  return calls.map((call, place) => {
    const { server, tool, ms, after = place, answer: wanted = place + 1, arguments: args } = call;
    const answer = answerOf(call);
    const order = answer ? wanted : Number.POSITIVE_INFINITY;
    return { server, tool, ms, order, place, args, answer, after };
  });
}

export function answerOf({
  result,
  content,
  error,
}: Pick<RecordedToolCall, "result" | "content" | "error">): AnswerableCall["answer"] {
  if (error) return { error: { name: "ToolError", ...error } };
  if (content) return { value: { blocks: JSON.stringify(content) } };
  if (result === undefined) return undefined;
  return { value: typeof result === "string" ? { text: result } : { json: withExactTexts(JSON.stringify(result)) } };
}

/** The same the other way round: an answer as a recording has it. */
export function recordedAnswer(
  answer: NonNullable<AnswerableCall["answer"]>,
): Pick<RecordedToolCall, "result" | "content" | "error"> {
  if ("error" in answer) {
    const { name: _, ...error } = answer.error;
    return { error };
  }
  const { value } = answer;
  const text = textOf(value);
  if ("blocks" in value) return { content: JSON.parse(text) };
  const isText = "text" in value || ("jsonOrText" in value && !isJson(text));
  return { result: isText ? text : JSON.parse(text) };
}

/** The value of a text that a record has: a program got the value of JSON, and other texts as they are. */
export function valueOfText(text: string): BindingValue {
  return isJson(text) ? { json: withExactTexts(text) } : { text };
}
