/** The person at the agent, who approves everything, refuses everything, or is not there; and the agent's answers to servers that ask. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  type ClientCapabilities,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

export const persons = ["approves", "refuses", "nobody"] as const;
export type PersonKind = (typeof persons)[number];

/** Where claudikins names the server of a question that is not its own. */
const serverKey = "claudikins/server";

export class Person {
  readonly kind: PersonKind;
  readonly questions: string[] = [];
  readonly #onQuestion: (question: string) => void;
  #shown = 0;

  constructor(kind: PersonKind, onQuestion: (question: string) => void = () => {}) {
    this.kind = kind;
    this.#onQuestion = onQuestion;
  }

  /** The questions since the last call. */
  questionsSince(): string[] {
    const since = this.questions.slice(this.#shown);
    this.#shown = this.questions.length;
    return since;
  }

  /** A question, also if this person is not there to answer it. */
  hears(question: string): void {
    this.questions.push(question);
    this.#onQuestion(question);
  }

  /** `seen` is what the agent has seen: it tells a server all of it. */
  answers(client: Client, seen: () => string): void {
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: "obedient",
      role: "assistant" as const,
      content: { type: "text" as const, text: seen() },
    }));
    if (this.kind === "nobody") return;
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      const { properties = {} } =
        (params as { requestedSchema?: { properties?: Record<string, object> } }).requestedSchema ?? {};
      // The agent fills in the form of a server.
      if (params._meta?.[serverKey] !== undefined) {
        return {
          action: "accept" as const,
          content: Object.fromEntries(Object.keys(properties).map((key) => [key, seen()])),
        };
      }
      this.hears(params.message);
      const { enum: choices = [] } = (properties["answer"] ?? {}) as { enum?: string[] };
      const wanted = this.kind === "approves" ? "once" : "no";
      if (!choices.includes(wanted))
        throw new Error(`a question cannot be answered with "${wanted}": ${params.message}`);
      return { action: "accept" as const, content: { answer: wanted } };
    });
  }
}

export function capabilitiesOf({ kind }: Person): ClientCapabilities {
  return { sampling: {}, ...(kind === "nobody" ? {} : { elicitation: { form: {} } }) };
}
