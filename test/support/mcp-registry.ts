/**
 * A stand-in for an MCP registry. The official one cannot be reached from tests, and its server is written in Go, so this one is written
 * from its OpenAPI description (2025-12-01): paths, parameters, pages, and the form of answers. It checks its own answers.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

export interface Published {
  server: { name: string; version: string; description: string; [key: string]: unknown };
  status?: "active" | "deprecated" | "deleted";
  statusMessage?: string;
}

export interface RegistryOptions {
  /** The newest version of a server last. */
  servers?: Published[];
  /** The version of the API in the paths. */
  api?: string;
  /** A path in front of the API. */
  base?: string;
  /** Only the list is there, as in static registries. */
  listOnly?: boolean;
  pageSize?: number;
  /** Answers instead of the registry. */
  answer?: (request: Request, url: URL) => Response | undefined | Promise<Response | undefined>;
  /** Answers with anything, for hostile registries. */
  unchecked?: boolean;
}

export class StandInRegistry implements Disposable {
  readonly requests: { path: string; headers: Headers }[] = [];
  readonly #server: Bun.Server<undefined>;
  readonly #options: RegistryOptions;

  constructor(options: RegistryOptions = {}) {
    this.#options = options;
    this.#server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  }

  get url(): string {
    return `${this.#server.url.origin}${this.#options.base ?? ""}`;
  }

  get host(): string {
    return this.#server.url.host;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    this.requests.push({ path: url.pathname + url.search, headers: request.headers });
    const own = await this.#options.answer?.(request, url);
    if (own) return own;
    const { api = "v0.1", base = "", listOnly = false } = this.#options;
    const root = `${base}/${api}/servers`;
    if (url.pathname === root) return this.#list(url.searchParams);
    // Names and versions are encoded, so a slash in them is none of the path.
    const [name, word, version] = url.pathname
      .slice(root.length + 1)
      .split("/")
      .map(decodeURIComponent);
    if (!url.pathname.startsWith(`${root}/`) || word !== "versions" || listOnly) return notFound();
    const all = this.#all.filter(({ server, _meta }) => server.name === name && this.#isShown(_meta, url.searchParams));
    if (version === undefined) return all.length === 0 ? notFound() : this.#page(all);
    const found = all.find(({ server, _meta }) =>
      version === "latest" ? _meta[official].isLatest : server.version === version,
    );
    return found ? this.#checked(found, isServer) : notFound();
  }

  get #all() {
    const { servers = [] } = this.#options;
    const last = new Map(servers.map(({ server }) => [server.name, server.version]));
    return servers.map(({ server, status = "active", statusMessage }) => ({
      server: { $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", ...server },
      _meta: {
        [official]: {
          status,
          ...(statusMessage === undefined ? {} : { statusMessage }),
          publishedAt: "2025-11-02T10:00:00Z",
          updatedAt: "2025-11-02T10:00:00Z",
          isLatest: last.get(server.name) === server.version,
        },
      },
    }));
  }

  #isShown(meta: ReturnType<() => { [official]: { status: string } }>, query: URLSearchParams): boolean {
    return meta[official].status !== "deleted" || query.get("include_deleted") === "true";
  }

  #list(query: URLSearchParams): Response {
    const limit = Math.min(Number(query.get("limit") ?? 30), this.#options.pageSize ?? 100);
    const [search, version] = [query.get("search")?.toLowerCase(), query.get("version")];
    const all = this.#all.filter(
      ({ server, _meta }) =>
        this.#isShown(_meta, query) &&
        (search === undefined || `${server.name} ${server.description}`.toLowerCase().includes(search)) &&
        (version === null || (version === "latest" ? _meta[official].isLatest : server.version === version)),
    );
    const cursors = all.map(({ server }) => `${server.name}:${server.version}`);
    const from = query.has("cursor") ? cursors.indexOf(query.get("cursor") ?? "") + 1 : 0;
    const more = from + limit < all.length;
    return this.#page(all.slice(from, from + limit), more ? cursors[from + limit - 1] : undefined);
  }

  #page(servers: object[], nextCursor?: string): Response {
    const metadata = { ...(nextCursor === undefined ? {} : { nextCursor }), count: servers.length };
    return this.#checked({ servers, metadata }, isList);
  }

  #checked(answer: object, isValid: ValidateFunction): Response {
    if (!this.#options.unchecked && !isValid(answer)) {
      return Response.json(
        { detail: `the stand-in answers wrongly: ${JSON.stringify(isValid.errors)}` },
        { status: 500 },
      );
    }
    return Response.json(answer);
  }
}

const official = "io.modelcontextprotocol.registry/official";

const notFound = () => Response.json({ title: "Not Found", status: 404, detail: "Server not found" }, { status: 404 });

const input = {
  type: "object",
  properties: {
    description: { type: "string" },
    isRequired: { type: "boolean" },
    isSecret: { type: "boolean" },
    format: { enum: ["string", "number", "boolean", "filepath"] },
    value: { type: "string" },
    default: { type: "string" },
    placeholder: { type: "string" },
    choices: { type: "array", items: { type: "string" } },
  },
};
const withVariables = {
  ...input,
  properties: { ...input.properties, variables: { type: "object", additionalProperties: input } },
};
const named = {
  ...withVariables,
  required: ["name"],
  properties: { ...withVariables.properties, name: { type: "string" } },
};
const argument = {
  anyOf: [
    {
      ...withVariables,
      required: ["type"],
      properties: { ...withVariables.properties, type: { const: "positional" } },
      anyOf: [{ required: ["valueHint"] }, { required: ["value"] }],
    },
    { ...named, required: ["type", "name"], properties: { ...named.properties, type: { const: "named" } } },
  ],
};
const listOf = (items: object) => ({ type: "array", items });
const address = {
  type: "object",
  required: ["type", "url"],
  properties: {
    type: { enum: ["streamable-http", "sse"] },
    url: { type: "string", pattern: "^(https?://[^\\s]+|\\{[a-zA-Z_][a-zA-Z0-9_]*\\}[^\\s]*)$" },
    headers: listOf(named),
    variables: { type: "object", additionalProperties: input },
  },
};
const response = {
  type: "object",
  required: ["server"],
  properties: {
    server: {
      type: "object",
      required: ["name", "description", "version"],
      properties: {
        name: { type: "string", pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", minLength: 3, maxLength: 200 },
        description: { type: "string", minLength: 1, maxLength: 100 },
        title: { type: "string", minLength: 1, maxLength: 100 },
        version: { type: "string", maxLength: 255 },
        websiteUrl: { type: "string" },
        repository: { type: "object", required: ["url", "source"] },
        packages: listOf({
          type: "object",
          required: ["registryType", "identifier", "transport"],
          properties: {
            registryType: { type: "string" },
            registryBaseUrl: { type: "string" },
            identifier: { type: "string" },
            version: { type: "string", minLength: 1, not: { const: "latest" } },
            runtimeHint: { type: "string" },
            transport: { anyOf: [{ type: "object", properties: { type: { const: "stdio" } } }, address] },
            runtimeArguments: listOf(argument),
            packageArguments: listOf(argument),
            environmentVariables: listOf(named),
          },
        }),
        remotes: listOf(address),
      },
    },
    _meta: {
      type: "object",
      properties: {
        [official]: {
          type: "object",
          properties: { status: { enum: ["active", "deprecated", "deleted"] }, isLatest: { type: "boolean" } },
        },
      },
    },
  },
};

const ajv = new Ajv2020({ strict: false });
const isServer: ValidateFunction = ajv.compile(response);
const isList: ValidateFunction = ajv.compile({
  type: "object",
  required: ["servers"],
  properties: {
    servers: listOf(response),
    metadata: { type: "object", properties: { nextCursor: { type: "string" } } },
  },
});
