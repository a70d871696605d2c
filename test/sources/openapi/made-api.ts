/** A small API as `readApi` returns it, and an HTTP server that records what it is asked. */
import type { CallToolResult } from "@modelcontextprotocol/client";
import type { JsonObject } from "../../../src/base/json-object.ts";
import { type SenderOptions, sourceSender } from "../../../src/servers/network/source-sender.ts";
import type { Api, Operation, Parameter } from "../../../src/sources/openapi/api.ts";
import { type ApiOptions, apiSource } from "../../../src/sources/openapi/source.ts";

export interface Asked {
  method: string;
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
  form?: FormData;
}

type Answer = Response | ((asked: Asked) => Response | Promise<Response>);

/** Answers each request with the next of `answers`, and later ones with the last. */
export class RecordingApi implements Disposable {
  readonly asked: Asked[] = [];
  readonly #server: ReturnType<typeof Bun.serve>;
  readonly #answers: Answer[];

  constructor(...answers: Answer[]) {
    this.#answers = answers;
    this.#server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 60,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url);
        const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data");
        const asked: Asked = {
          method: request.method,
          path: `${pathname}${search}`,
          headers: Object.fromEntries(request.headers),
          body: isForm ? "" : await request.text(),
          ...(isForm ? { form: (await request.formData()) as FormData } : {}),
        };
        this.asked.push(asked);
        const answer = this.#answers.length > 1 ? this.#answers.shift()! : this.#answers[0]!;
        return typeof answer === "function" ? await answer(asked) : (answer.clone() as Response);
      },
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get last(): Asked {
    return this.asked.at(-1)!;
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

export function parameter(name: string, place: Parameter["in"], more: Partial<Parameter> = {}): Parameter {
  const style = place === "query" || place === "cookie" ? "form" : "simple";
  return { argument: name, name, in: place, style, explode: style === "form", allowReserved: false, ...more };
}

export function operation(method: string, path: string, more: Partial<Operation> = {}): Operation {
  const responses = { "200": { kind: "json" } } as const;
  return { name: "operation", method, path, parameters: [], responses, security: [], ...more };
}

export function apiOf(server: string, ...operations: Operation[]): Api {
  const tools = operations.map(({ name }) => ({ name, inputSchema: { type: "object" as const } }));
  return { title: "Made", version: "1", servers: [server], tools, operations, securitySchemes: {}, problems: [] };
}

type Options = Partial<ApiOptions> & { sending?: Partial<SenderOptions> };

/** Calls the only operation of an API at the server. */
export async function called(
  server: string,
  each: Operation,
  args: JsonObject = {},
  { sending, ...options }: Options = {},
  more: Partial<Api> = {},
): Promise<CallToolResult> {
  const source = await sourceOf({ ...apiOf(server, each), ...more }, { ...options, ...(sending ? { sending } : {}) });
  return source.call(each.name, args, { signal: AbortSignal.timeout(30_000) });
}

export function sourceOf(api: Api, { sending, ...options }: Options = {}) {
  return apiSource(api, {
    entry: "shop",
    baseUrl: undefined,
    auth: undefined,
    maySignIn: false,
    files: undefined,
    sender: async (origins) =>
      sourceSender({
        endpoint: { headers: {} },
        origins,
        access: undefined,
        alwaysSignsIn: false,
        sentBy: undefined,
        ...sending,
      }),
    ...options,
  });
}

export function textOf({ content }: CallToolResult): string {
  const { text } = JSON.parse(JSON.stringify(content))[0] as { text: string };
  return text;
}
