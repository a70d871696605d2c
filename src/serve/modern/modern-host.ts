/** Passes what servers ask to a host of MCP 2026-07-28, as input that one of its open requests requires. */
import type { ClientCapabilities, InputRequest } from "@modelcontextprotocol/server";
import { atMost } from "../../base/time-limit.ts";
import { onAbort, unlessAborted } from "../../servers/abort.ts";
import { plainForm } from "../../servers/connection/elicitation-form.ts";
import { type QuestionContext, type Responder, showsForms } from "../../servers/connection/responder.ts";
import { mayApprove, OpenRequests, type Sender } from "../legacy/legacy-host.ts";
import { type OpenRequest, requestEnded } from "./open-request.ts";

/** Time in which a host asks again for the outcome of a program that has a question for it. */
const hostReturnMs = 30_000;

type Answered<Method extends "sample" | "elicit" | "listRoots"> = ReturnType<NonNullable<Responder[Method]>>;

export class ModernHost implements Responder {
  /** What the host supports, as its last request said. */
  capabilities: ClientCapabilities;
  readonly #requests = new OpenRequests<OpenRequest>();

  readonly #closing: AbortSignal;
  /** Resolves when claudikins ends. */
  readonly #closed: Promise<void>;
  readonly #sender: () => Sender | undefined;

  /** Once `closing` is aborted, questions get no answer any more. `sender` returns whose request came last. */
  constructor(
    capabilities: ClientCapabilities,
    closing: AbortSignal,
    sender: () => Sender | undefined = () => undefined,
  ) {
    this.capabilities = capabilities;
    this.#closing = closing;
    this.#closed = new Promise((resolve) => onAbort(closing, resolve));
    this.#sender = sender;
  }

  mayApprove(answer?: object): Promise<boolean> {
    return mayApprove(answer, this.#sender());
  }

  /** Dispose of the result before the request is answered. `server` is the only server that the request is for. */
  begin(request: OpenRequest, server?: string): Disposable {
    return this.#requests.begin(request, server);
  }

  sample(params: Parameters<NonNullable<Responder["sample"]>>[0], asked: QuestionContext): Answered<"sample"> {
    return this.#ask({ method: "sampling/createMessage", params }, asked) as Answered<"sample">;
  }

  elicit(params: Parameters<NonNullable<Responder["elicit"]>>[0], asked: QuestionContext): Answered<"elicit"> {
    // A server of the older era names the visit of a page; this era has no notification that could use the name.
    const { elicitationId: _, ...rest } = params as typeof params & { elicitationId?: string };
    // A host of this era cannot say that it refuses a form.
    const form = "requestedSchema" in rest ? { requestedSchema: plainForm(rest.requestedSchema) } : {};
    const request = { method: "elicitation/create", params: { ...rest, ...form } } as InputRequest;
    return this.#ask(request, asked) as Answered<"elicit">;
  }

  listRoots(asked: QuestionContext): Answered<"listRoots"> {
    return this.#ask({ method: "roots/list" }, asked) as Answered<"listRoots">;
  }

  /**
   * If the request ends before the host has answered, another open request asks the host. A program goes on between two requests for its
   * outcome: its question waits for the second one. If the request ends because claudikins does, the question stays open until its call
   * is ended: a refusal would become the result of the call, and the program would continue with it elsewhere.
   */
  async #ask(question: InputRequest, { server, signal, name, origins = [] }: QuestionContext): Promise<unknown> {
    const returnsBy = performance.now() + (origins.length > 0 ? hostReturnMs : 0);
    for (;;) {
      const { next } = this.#requests;
      const open = this.#requests.openFor(server);
      const able = open.filter(({ capabilities }) => supports(question, capabilities));
      const meant = able.filter(({ signal: origin }) => origin === signal || origins.includes(origin));
      // If it may be for several, each gets as many questions as it may have raised.
      const [request] = (meant.length > 0 ? meant : able).sort((a, b) => a.questions - b.questions);
      if (!request) {
        if (this.#closing.aborted) await unlessAborted(new Promise<never>(() => {}), signal, "the question");
        const restMs = open.length > 0 ? 0 : returnsBy - performance.now();
        if (restMs <= 0) throw new Error(`the host has no open request that could ask ${question.method}`);
        await unlessAborted(atMost(restMs, Promise.race([next, this.#closed])), signal, "the question");
        continue;
      }
      // Where several servers may ask, a name could be meant to pass for another server's question.
      const key = this.#requests.isOnlyFor(request, server) ? name : undefined;
      const answer = await request.ask(question, signal, key);
      if (answer !== requestEnded) return answer;
    }
  }
}

/** Whether a host with these capabilities may be sent the question. */
function supports({ method, params }: InputRequest, capabilities: ClientCapabilities): boolean {
  switch (method) {
    case "elicitation/create":
      return params.mode === "url" ? capabilities.elicitation?.url !== undefined : showsForms(capabilities);
    case "sampling/createMessage":
      return capabilities.sampling !== undefined;
    default:
      return capabilities.roots !== undefined;
  }
}
