/**
 * A server over HTTP in the process of the storm, which records every call. Tools: `act` may not be repeated, and `look` only reads. It announces
 * updates of resources and changes of its list of tools.
 */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport as Transport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
  SubscribeRequestSchema,
  type Tool,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";

interface Session {
  server: Server;
  transport: Transport;
  subscribed: Set<string>;
}

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: `Tool ${name}`,
  inputSchema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
  ...more,
});

export class Recorder implements AsyncDisposable {
  /** The key of each call of `act`, in order. */
  readonly acts: string[] = [];
  /** Whether programs that refuse to run may run now. */
  isMended = false;
  readonly #sessions = new Map<string, Session>();
  readonly #added: string[] = [];
  readonly #http = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    // A client that stands still gets its answer later.
    idleTimeout: 0,
    fetch: (request) => this.#answer(request),
  });

  get url(): string {
    return `http://127.0.0.1:${this.#http.port}/mcp`;
  }

  /** How often each key was acted upon. */
  get counts(): Map<string, number> {
    return new Map([...Map.groupBy(this.acts, (key) => key)].map(([key, all]) => [key, all.length]));
  }

  async touch(uri: string): Promise<void> {
    for (const { server, subscribed } of this.#sessions.values()) {
      if (subscribed.has(uri)) await server.sendResourceUpdated({ uri }).catch(() => {});
    }
  }

  async addTool(name: string): Promise<void> {
    this.#added.push(name);
    for (const { server } of this.#sessions.values()) await server.sendToolListChanged().catch(() => {});
  }

  async #answer(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? await this.#opened() : this.#sessions.get(id);
    return session ? session.transport.handleRequest(request) : new Response(null, { status: 404 });
  }

  async #opened(): Promise<Session> {
    const transport = new Transport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
    const session: Session = {
      server: new Server({ name: "recorder", version: "1" }, { capabilities }),
      transport,
      subscribed: new Set(),
    };
    const { server, subscribed } = session;
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: [
        tool("act"),
        tool("look", { annotations: { readOnlyHint: true } }),
        ...this.#added.map((name) => tool(name)),
      ],
    }));
    server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: [] }));
    server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
      subscribed.add(params.uri);
      return {};
    });
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => {
      subscribed.delete(params.uri);
      return {};
    });
    server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: given } }) => {
      const key = String(given?.["key"]);
      if (name === "act") this.acts.push(key);
      return { content: [], structuredContent: { key, isMended: this.isMended } };
    });
    await server.connect(transport as never);
    return session;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http.stop(true);
  }
}
