/** The SDK's server of direct mode. It sends the errors of other servers unchanged. */
import { type JSONRPCMessage, type RequestId, Server, type Transport } from "@modelcontextprotocol/server";
import { WatchedTransport } from "../../clients/watched-transport.ts";
import { HostError, resourceNotFound } from "./answers.ts";

type Answer = NonNullable<Server["fallbackRequestHandler"]>;

export class DirectServer extends Server {
  /** Requests whose answer is the error `resourceNotFound`. The SDK would send the code of a later revision instead. */
  readonly #notFound = new Set<RequestId>();

  /** Answers all requests for which the SDK has no handler. */
  answerWith(answer: Answer): void {
    this.fallbackRequestHandler = async (request, context) => {
      try {
        return await answer(request, context);
      } catch (error) {
        if (error instanceof HostError && error.code === resourceNotFound && !context.mcpReq.signal.aborted) {
          this.#notFound.add(context.mcpReq.id);
        }
        throw error;
      }
    };
  }

  override connect(transport: Transport): Promise<void> {
    return super.connect(new WatchedTransport(transport, { sent: (message) => this.#restore(message) }));
  }

  #restore(message: JSONRPCMessage): void {
    if ("error" in message && message.id !== undefined && this.#notFound.delete(message.id)) {
      message.error.code = resourceNotFound;
    }
  }
}
