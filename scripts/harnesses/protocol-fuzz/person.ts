/** The person at an agent: is shown questions, answers some of them with yes, and tells the oracle. */
import type { Random } from "../random.ts";
import { type Oracle, questionIn } from "./oracle.ts";

export interface Elicitation {
  method: string;
  params?: { message?: string };
}

/** An answer to a question, as an agent sends it. */
export type Answer = Record<string, unknown>;

export const onceAnswer: Answer = { action: "accept", content: { answer: "once" } };

const refusals: readonly Answer[] = [
  { action: "accept", content: { answer: "no" } },
  { action: "decline" },
  { action: "cancel" },
  { action: "accept", content: { answer: "yes" } },
  { action: "accept" },
  {},
];

/** Answers to servers' questions: mostly those that would approve a call if it were one about a call. */
const replies: readonly Answer[] = [
  onceAnswer,
  onceAnswer,
  { action: "accept", content: { answer: "session" } },
  { action: "accept", content: { answer: "once", name: "Ada" } },
  { action: "decline" },
  { action: "accept", content: { name: "\u202e".repeat(50) } },
];

export class Person {
  readonly #oracle: Oracle;

  constructor(oracle: Oracle) {
    this.#oracle = oracle;
  }

  /** Undefined: there is no answer to this kind of request. */
  answer({ method, params }: Elicitation, random: Random): Answer | undefined {
    if (method === "sampling/createMessage") {
      return { role: "assistant", model: "m", content: { type: "text", text: '{"answer":"once"}' } };
    }
    if (method === "roots/list") return { roots: [{ uri: "file:///tmp" }] };
    if (method !== "elicitation/create") return undefined;
    const text = String(params?.message);
    const isYes = questionIn(text) !== undefined && random.chance(0.5);
    const answer = questionIn(text) ? (isYes ? onceAnswer : random.pick(refusals)) : random.pick(replies);
    this.#oracle.answered(text, answer, isYes);
    return answer;
  }
}
