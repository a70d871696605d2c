/** A local endpoint that is compatible with OpenAI's chat completions: it answers by a script, and checks its requests. */

export interface LlmRequest {
  headers: Record<string, string>;
  body: {
    model: string;
    messages: { role: string; content: string }[];
    response_format?: {
      type: string;
      json_schema?: { name: string; strict: boolean; schema: Record<string, unknown> };
    };
    max_tokens?: number;
    max_completion_tokens?: number;
    temperature?: number;
    reasoning_effort?: string;
  };
}

export interface Reply {
  /** The text of the model's answer. */
  text?: string;
  finish?: string;
  refusal?: string;
  usage?: object | null;
  /** The status to answer with instead. */
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Never answers. */
  hangs?: boolean;
}

export type Script = readonly Reply[] | ((request: LlmRequest) => Reply | object);

export interface Llm extends AsyncDisposable {
  /** The address for the config. */
  baseUrl: string;
  /** All requests, in order. */
  requests: LlmRequest[];
  /** The problems of requests; usually empty. */
  problems: string[];
  /** Resolves after this number of requests. */
  asked(times: number): Promise<void>;
}

/** Starts the endpoint; a `key` of null means that no key is expected. The last reply of a list is repeated. An object without any of a reply's fields is an answer in JSON. */
export function startLlm(script: Script, key: string | null = "test-key-1234567"): Llm {
  const requests: LlmRequest[] = [];
  const problems: string[] = [];
  const waiting = new Set<() => void>();
  const replies = typeof script === "function" ? [] : [...script];
  const next = (request: LlmRequest): Reply => {
    if (typeof script !== "function") return (replies.length > 1 ? replies.shift() : replies[0]) ?? {};
    const reply = script(request);
    return isReply(reply) ? reply : { text: JSON.stringify(reply) };
  };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      const body = (await request.json()) as LlmRequest["body"];
      const asked = { headers, body };
      requests.push(asked);
      problems.push(...wrongWith(request.method, pathname, asked, key));
      for (const look of waiting) look();
      const reply = next(asked);
      if (reply.hangs)
        return await new Promise<Response>((_, reject) => request.signal.addEventListener("abort", reject));
      return responseOf(reply, body.model);
    },
  });
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    requests,
    problems,
    async asked(times) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => requests.length >= times && resolve();
      waiting.add(look);
      look();
      await promise.finally(() => waiting.delete(look));
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const replyKeys = ["text", "status", "hangs", "refusal", "finish", "usage", "body"];
const isReply = (reply: Reply | object): reply is Reply => Object.keys(reply).some((key) => replyKeys.includes(key));

function wrongWith(method: string, path: string, { headers, body }: LlmRequest, key: string | null): string[] {
  const problems: string[] = [];
  const expect = (holds: boolean, what: string) => holds || problems.push(what);
  expect(method === "POST" && path === "/v1/chat/completions", `asked for ${method} ${path}`);
  expect(headers["authorization"] === (key === null ? undefined : `Bearer ${key}`), "another key");
  expect(headers["content-type"] === "application/json", "not JSON");
  expect(typeof body.model === "string" && body.model !== "", "no model");
  expect(body.messages.map(({ role }) => role).join() === "system,user", "other messages");
  expect(
    body.messages.every(({ content }) => typeof content === "string" && content !== ""),
    "an empty message",
  );
  expect(
    (body.max_tokens === undefined) !== (body.max_completion_tokens === undefined),
    "no limit, or two limits of an answer",
  );
  const { type, json_schema } = body.response_format ?? { type: "none" };
  if (type === "json_schema") {
    expect(/^[\w-]{1,64}$/.test(json_schema?.name ?? ""), "a schema without a name");
    expect(
      !json_schema?.strict || json_schema.schema["additionalProperties"] === false,
      "a strict schema that is none",
    );
  }
  const words = body.messages.map(({ content }) => content).join(" ");
  if (type === "json_object") expect(words.includes("JSON"), "JSON mode without the word");
  // Headers by which the library would describe the machine.
  expect(!Object.keys(headers).some((name) => /stainless|openai/i.test(name)), "headers of the library");
  return problems;
}

function responseOf(reply: Reply, model: string): Response {
  const { status = 200, headers = {}, body } = reply;
  if (status !== 200 || body !== undefined) {
    const text = typeof body === "string" ? body : JSON.stringify(body ?? { error: { message: `no: ${status}` } });
    return new Response(text, { status, headers: { "content-type": "application/json", ...headers } });
  }
  const { text = "", finish = "stop", refusal, usage = { prompt_tokens: 100, completion_tokens: 7 } } = reply;
  return Response.json({
    id: "c",
    object: "chat.completion",
    created: 1,
    model,
    choices: [
      {
        index: 0,
        finish_reason: finish,
        message: { role: "assistant", content: text, ...(refusal ? { refusal } : {}) },
      },
    ],
    ...(usage === null ? {} : { usage }),
  });
}
