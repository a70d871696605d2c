/** Asks the person whether a tool may be called, by a form of the host that they use. */
import type { Answer, Asker } from "../policy/gate.ts";
import { type Host, hasForms } from "./host.ts";

/** Undefined where the host shows no forms. */
export function askerOf(host: Host | undefined): Asker | undefined {
  if (!hasForms(host)) return undefined;
  return {
    async ask(message, { server, tool }, signal) {
      const { action, content } = await host.elicit({ mode: "form", message, requestedSchema }, { server, signal });
      if (action !== "accept") return action === "decline" ? "declined" : "cancelled";
      const answer = answers.find((each) => each === content?.["answer"]);
      if (!answer) throw new Error(`the host gave an invalid answer for ${server}.${tool}`);
      return answer;
    },
  };
}

const answers: readonly Answer[] = ["once", "session", "no"];

/** With the names as hosts of every revision of the protocol know them. */
const requestedSchema = {
  type: "object" as const,
  properties: {
    answer: {
      type: "string" as const,
      title: "Allow this call?",
      enum: [...answers],
      enumNames: ["Yes, once", "Yes, this tool for the rest of the session", "No"],
    },
  },
  required: ["answer"],
};
