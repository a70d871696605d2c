/** The MCP front door over HTTP: many sessions at one address, each with a transport of its own. */
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Toolbox } from "../../flows/toolbox.ts";
import { hostOf } from "../host.ts";
import { createSession } from "../session.ts";

export interface FrontDoorOptions {
  host: string;
  /** 0: any that is free. */
  port: number;
}

const path = "/mcp";

interface Session {
  transport: WebStandardStreamableHTTPServerTransport;
  close(): Promise<void>;
}

export class FrontDoor {
  readonly #toolbox: Toolbox;
  readonly #server: Bun.Server<undefined>;
  readonly #sessions = new Map<string, Session>();
  readonly #closing = new AbortController();

  /** Listens from now on. */
  constructor(toolbox: Toolbox, { host, port }: FrontDoorOptions) {
    this.#toolbox = toolbox;
    this.#server = Bun.serve({
      hostname: host,
      port,
      fetch: (request, server) => {
        // Streams are silent for as long as there is nothing to say.
        server.timeout(request, 0);
        return this.#answer(request);
      },
    });
  }

  get url(): string {
    return new URL(path, this.#server.url).href;
  }

  /** Ends all sessions; executions that run then are cancelled. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#sessions.values()].map((session) => session.close()));
    await this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== path) return problem(404, `There is nothing here: MCP is spoken at ${path}`);
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = this.#sessions.get(id);
      return session ? session.transport.handleRequest(request) : problem(404, "Session not found", -32001);
    }
    const body = request.method === "POST" ? await request.json().catch(() => undefined) : undefined;
    if (!isInitializeRequest(body)) return problem(400, "The first message of a session is initialize");
    const { sampling, elicitation, roots } = body.params.capabilities;
    const transport = await this.#begin(Boolean(sampling ?? elicitation ?? roots));
    return transport.handleRequest(request, { parsedBody: body });
  }

  /** A session whose host may be asked something has connections of its own, so that no other one's servers ask it. */
  async #begin(canBeAsked: boolean): Promise<WebStandardStreamableHTTPServerTransport> {
    const toolbox = canBeAsked ? this.#toolbox.withOwnPool() : this.#toolbox;
    const server = createSession(toolbox, this.#closing.signal);
    if (canBeAsked) toolbox.pool.host = hostOf(server);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, { transport, close: () => server.close() }),
    });
    await server.connect(transport);
    server.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
      if (canBeAsked) void toolbox[Symbol.asyncDispose]();
    };
    return transport;
  }
}

function problem(status: number, message: string, code = -32000): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}
