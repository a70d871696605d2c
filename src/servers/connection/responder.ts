/** A responder answers what servers ask: the agent that is connected, or a person at a terminal. */
import type {
  ClientCapabilities,
  CreateMessageRequest,
  CreateMessageResult,
  CreateMessageResultWithTools,
  ElicitRequest,
  ElicitResult,
  ListRootsResult,
} from "@modelcontextprotocol/client";
import type { Answer } from "../../policy/approval-queue.ts";
import type { Caller } from "../../policy/flow/session-reads.ts";
import type { Asker } from "../../policy/questions.ts";

export interface QuestionContext {
  /** The name of the server that asks, as in the config. */
  server: string;
  /** Aborted when the answer is no longer needed. */
  signal: AbortSignal;
  /** The name that a server of revision 2026-07-28 gives the question, if a host may see it. */
  name?: string | undefined;
  /** The signals of the agent's requests that the server works for, as far as they are known. */
  origins?: readonly AbortSignal[] | undefined;
  /** The agents that made the calls that the server works for. */
  callers?: readonly Caller[] | undefined;
}

/** The caller validates the answers. An error is passed on to the server. */
export interface Responder {
  /** Read whenever a server is connected. A capability is announced only if its method below exists. */
  readonly capabilities: Pick<ClientCapabilities, "sampling" | "elicitation" | "roots">;
  /** The server's name is in `_meta`, under `serverKey`. */
  sample?(
    params: CreateMessageRequest["params"],
    asked: QuestionContext,
  ): Promise<CreateMessageResult | CreateMessageResultWithTools>;
  /** The message begins with the server's name. */
  elicit?(params: ElicitRequest["params"], asked: QuestionContext): Promise<ElicitResult>;
  listRoots?(asked: QuestionContext): Promise<ListRootsResult>;
  /** Whether whoever gave this answer may say whether a call is made; without an answer, whoever is there. Missing: yes. */
  mayApprove?(answer?: object): Promise<boolean>;
  /** The URL elicitation with this id is complete. */
  elicited?(elicitationId: string): void;
}

/** Whether a person can be shown a form. */
export function hasForms(
  responder: Responder | undefined,
): responder is Responder & Required<Pick<Responder, "elicit">> {
  return responder?.elicit !== undefined && showsForms(responder.capabilities);
}

/** Whether an agent supports forms. One that names no kind of elicitation does. */
export function showsForms({ elicitation }: Responder["capabilities"]): boolean {
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Key in the `_meta` of every request that is passed on. Its value is the server's name. */
export const serverKey = "claudikins/server";

/** The beginning of the keys that claudikins gives questions to hosts of revision 2026-07-28. Servers cannot choose such a key. */
export const ownKeys = "claudikins.";

/** A server's id of a page, as agents see it: two servers may use the same id, and a server's name may contain a colon. */
export function pageIdOf(server: string, elicitationId: unknown): string {
  return `${encodeURIComponent(server)}:${elicitationId}`;
}

/** Asks by a form whether a tool may be called. Undefined if the responder shows no forms. */
export function askerOf(responder: Responder | undefined): Asker | undefined {
  if (!hasForms(responder)) return undefined;
  return {
    async ask(message, { server, tool }, signal, origin) {
      const params = { mode: "form" as const, message, requestedSchema };
      const given = await responder.elicit(params, { server, signal, origins: origin && [origin] });
      const { action, content } = given;
      // Whoever could be asked may have lost the right, or may have left the answer to another token.
      if (action !== "cancel" && (await responder.mayApprove?.(given)) === false) {
        throw new Error("the person who answered may not approve calls");
      }
      if (action !== "accept") return action === "decline" ? { state: "denied", all: true } : undefined;
      const answer = answers.get(content?.["answer"]);
      if (!answer) throw new Error(`the host gave an invalid answer for ${server}.${tool}`);
      return answer;
    },
  };
}

const answers: ReadonlyMap<unknown, Answer> = new Map<unknown, Answer>([
  ["once", { state: "approved", scope: "once" }],
  ["session", { state: "approved", scope: "session" }],
  ["no", { state: "denied" }],
]);

const requestedSchema = choiceForm("Allow this call?", {
  once: "Yes, once",
  session: "Yes, this tool for the rest of the session",
  no: "No",
});

/**
 * The schema of a form with one choice, whose key is the value of `answer`. `enumNames` is the older of the two forms that label
 * choices; agents of every revision of MCP know it.
 */
export function choiceForm(title: string, choices: Record<string, string>) {
  const answer = { type: "string" as const, title, enum: Object.keys(choices), enumNames: Object.values(choices) };
  return { type: "object" as const, properties: { answer }, required: ["answer"] };
}
