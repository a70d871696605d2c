/** The server `model`, with which programs ask a model. It is in the config if the config allows it, and runs in this process. */
import { defaultServerTimes } from "./defaults.ts";
import type { ServerPolicy } from "./policy.ts";
import { selfCommand } from "./self.ts";

/** What programs may ask of the model. */
export interface AskModel {
  /** Requests of one program, with the programs that it calls. */
  calls: number;
  /** Tokens of one answer. */
  maxTokens: number;
}

export const modelServerName = "model";

/** Time for an answer, with a second attempt. An endpoint has a time limit of its own, and the wait for a person does not count. */
const modelCallMs = 300_000;

/** Requests that are sent to the model at once. Others wait. */
const maxModelCallsInFlight = 8;

/** Others see what the model is given, and what it answers may come from a stranger whose text it was given. */
const labelLine = {
  labels: [{ pattern: "*", labels: ["untrusted", "public"] as const }],
  line: "askModel",
};

/** `policy`: the common rules of the config. They can give the tool other labels. */
export function modelServer(policy: ServerPolicy = { allow: [], deny: [], confirm: [], own: undefined }) {
  const [command, ...args] = selfCommand("model");
  return {
    name: modelServerName,
    isModel: true as const,
    command,
    args,
    env: {},
    cwd: undefined,
    disabled: false,
    category: "models",
    description: "asks a model inside of a program, to classify, extract or summarize",
    ...defaultServerTimes,
    callTimeoutMs: modelCallMs,
    maxCallsInFlight: maxModelCallsInFlight,
    needs: [],
    policy: { ...policy, labels: [...(policy.labels ?? []), labelLine] },
  };
}
