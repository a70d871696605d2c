/** A model behind an OpenAI endpoint: its requests, and every way in which it may not answer. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { type Llm, type LlmEntry, llmOf } from "../../src/config/llm.ts";
import type { ModelAnswer, ModelRequest } from "../../src/task-runner/model.ts";
import { openAiModel } from "../../src/task-runner/openai-model.ts";
import { type LlmRequest, type Reply, type Script, startLlm } from "../support/llm.ts";
import { failureOf } from "../support/pool.ts";

setDefaultTimeout(60_000);

const key = "f9a8c7e6d5b4a3f2";
const strict = {
  type: "object",
  properties: { choice: { type: "string", enum: ["a", "b"] } },
  required: ["choice"],
  additionalProperties: false,
};
const request: ModelRequest = {
  system: "Pick.",
  prompt: "a or b?",
  schema: strict,
  isStrict: true,
  schemaName: "choice",
  maxTokens: 50,
};
const answer = '{"choice":"a"}';
const ok: Reply = { text: answer };
const never = () => new AbortController().signal;
let count = 0;

/** A model of its own, since what is learned about one model does not apply to another. */
function llm(baseUrl: string, more: LlmEntry = {}): Llm {
  count += 1;
  return llmOf({ baseUrl, model: `m${count}`, apiKey: "${A_KEY}", ...more }, { A_KEY: key });
}

const logged: string[] = [];
const note = (message: string) => void logged.push(message);
const log = { debug: note, info: note, warn: note };

const modelOf = (of: Llm) => openAiModel(of, { log, firstPauseMs: 1 });

async function asked(script: Script, more: LlmEntry = {}, wanted = request) {
  await using server = startLlm(script, key);
  const model = modelOf(llm(server.baseUrl, more));
  const given = await model.ask(wanted, never()).catch((error: unknown) => error as ClaudikinsError);
  expect(server.problems).toEqual([]);
  return { given, requests: server.requests };
}

const failure = (given: unknown) => {
  if (!(given instanceof ClaudikinsError)) throw new Error(`it did not fail: ${JSON.stringify(given)}`);
  return {
    code: given.code,
    message: given.message.replace(/\bm\d+\b/g, "M").replace(/127\.0\.0\.1:\d+/g, "HOST"),
    hint: given.hint,
  };
};

describe("a request", () => {
  test("has the key, the model, the messages and the schema, and nothing from the environment", async () => {
    process.env["OPENAI_CUSTOM_HEADERS"] = "x-openai-custom: 1";
    process.env["OPENAI_ORG_ID"] = "org-1";
    try {
      const { given, requests } = await asked([ok], { headers: { "X-Title": "t" } });
      expect(given).toEqual({ text: answer, tokens: { prompt: 100, completion: 7 }, isEstimate: false });
      expect(requests.map(({ body }) => body)).toEqual([
        {
          model: expect.stringMatching(/^m\d+$/),
          messages: [
            { role: "system", content: "Pick." },
            { role: "user", content: "a or b?" },
          ],
          max_tokens: 1_074,
          temperature: 0,
          response_format: { type: "json_schema", json_schema: { name: "choice", strict: true, schema: strict } },
        },
      ]);
      expect(requests[0]?.headers).toMatchObject({
        "x-title": "t",
        "user-agent": expect.stringMatching(/^claudikins/),
      });
    } finally {
      delete process.env["OPENAI_CUSTOM_HEADERS"];
      delete process.env["OPENAI_ORG_ID"];
    }
  });

  test("has the fields of its preset", async () => {
    const { requests } = await asked([ok], { preset: "cerebras" });
    expect(requests[0]?.body).toMatchObject({ max_completion_tokens: 1_074, reasoning_effort: "low" });
    expect(requests[0]?.body).not.toHaveProperty("temperature");
  });

  test("repeats the schema in words if it cannot be strict", async () => {
    const loose = { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] };
    const { requests } = await asked([ok], {}, { ...request, schema: loose, isStrict: false });
    expect(requests[0]?.body.response_format?.json_schema?.strict).toBe(false);
    expect(requests[0]?.body.messages[0]?.content).toContain(JSON.stringify(loose));
  });

  test("has estimated tokens if the endpoint reports none", async () => {
    const { given } = await asked([{ text: answer, usage: null }]);
    expect(given).toMatchObject({ isEstimate: true });
    const { prompt, completion } = (given as ModelAnswer).tokens;
    expect(prompt).toBeGreaterThan(3);
    expect(completion).toBeGreaterThan(3);
  });
});

describe("a request is repeated", () => {
  test.each<[string, Reply[]]>([
    ["after 429 with Retry-After", [{ status: 429, headers: { "retry-after": "0" } }, ok]],
    ["after 429 with Retry-After in milliseconds", [{ status: 429, headers: { "retry-after-ms": "3" } }, ok]],
    ["after 429 without Retry-After", [{ status: 429 }, ok]],
    ["after three failures", [{ status: 500 }, { status: 503 }, { status: 529 }, ok]],
    ["after an empty answer", [{ text: "" }, ok]],
    ["after an incomplete answer", [{ text: '{"choi', finish: "length" }, ok]],
  ])("%s", async (_, script) => {
    const { given, requests } = await asked(script);
    expect(given).toMatchObject({ text: answer });
    expect(requests).toHaveLength(script.length);
  });

  test("with a higher token limit after an incomplete answer, and both are counted", async () => {
    const { given, requests } = await asked([{ text: '{"', finish: "length" }, ok]);
    expect(given).toMatchObject({ tokens: { prompt: 200, completion: 14 } });
    expect(requests[1]?.body.max_tokens).toBeGreaterThan(2 * (requests[0]?.body.max_tokens ?? 0));
  });
});

describe("a request fails", () => {
  const error = (message: string, more: object = {}) => ({ error: { message, ...more } });
  test.each<[string, Reply[], number, string, string]>([
    [
      "500s until given up",
      [{ status: 500 }],
      4,
      "MODEL_UNAVAILABLE",
      "cannot be used: it reports a server error (500): no: 500",
    ],
    [
      "429 until given up",
      [{ status: 429 }],
      4,
      "MODEL_UNAVAILABLE",
      "cannot be used: too many requests (429): no: 429",
    ],
    [
      "429 for too long",
      [{ status: 429, headers: { "retry-after": "3600" } }],
      1,
      "MODEL_UNAVAILABLE",
      "cannot be used: too many requests (429): no: 429, and it asks to wait 3600 s",
    ],
    [
      "no credit",
      [{ status: 429, body: error("You exceeded your quota", { code: "insufficient_quota" }) }],
      1,
      "MODEL_UNAVAILABLE",
      "cannot be used: no credit is left (429): You exceeded your quota",
    ],
    ["401", [{ status: 401, body: error("bad key") }], 1, "AUTH_REQUIRED", "does not accept the key (401): bad key"],
    [
      "a list with an error, as Gemini has it",
      [{ status: 404, body: [error("no such thing")] }],
      1,
      "MODEL_UNAVAILABLE",
      "or the address is wrong (404): no such thing",
    ],
    [
      "400 for the key, as Gemini has it",
      [{ status: 400, body: [error("API key not valid.", { details: [{ reason: "API_KEY_INVALID" }] })] }],
      1,
      "AUTH_REQUIRED",
      "does not accept the key (400): API key not valid.",
    ],
    ["not modified", [{ status: 304, body: "" }], 1, "MODEL_UNAVAILABLE", "the key is not sent there (304)"],
    ["403", [{ status: 403, body: error("no") }], 1, "AUTH_REQUIRED", "refuses access with this key (403): no"],
    [
      "404",
      [{ status: 404, body: error("no such model") }],
      1,
      "MODEL_UNAVAILABLE",
      "cannot be used: there is no model M, or the address is wrong (404): no such model",
    ],
    ["a refusal", [{ refusal: "I cannot" }], 1, "MODEL_REFUSED", "refused to answer"],
    ["a content filter", [{ text: "", finish: "content_filter" }], 1, "MODEL_REFUSED", "refused to answer"],
    ["empty twice", [{ text: " " }], 2, "MODEL_ANSWER_INVALID", "gave an empty answer"],
    ["cut twice", [{ text: "{", finish: "length" }], 2, "MODEL_ANSWER_INVALID", "gave an incomplete answer"],
    ["a web page", [{ body: "<html>" }], 1, "MODEL_UNAVAILABLE", "cannot be used: its answer is not JSON"],
    [
      "other JSON",
      [{ body: { hello: 1 } }],
      1,
      "MODEL_UNAVAILABLE",
      "cannot be used: the response is not a chat completion",
    ],
    [
      "a redirection",
      [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }],
      1,
      "MODEL_UNAVAILABLE",
      "cannot be used: it redirects to another address, and the key is not sent there (307): no: 307",
    ],
  ])("%s", async (_, script, times, code, message) => {
    const { given, requests } = await asked(script);
    expect(failure(given)).toMatchObject({ code });
    expect(failure(given).message).toEndWith(message);
    expect(requests).toHaveLength(times);
  });

  test("with a hint that names the variable of the key, after 401", async () => {
    const { given } = await asked([{ status: 401 }]);
    expect(failure(given).hint).toBe("Set A_KEY to a valid key.");
  });

  test("if nothing listens at the address", async () => {
    const of = llm("http://127.0.0.1:9/v1");
    const error = await modelOf(of)
      .ask(request, never())
      .catch((thrown: unknown) => thrown);
    expect(failure(error)).toEqual({
      code: "MODEL_UNAVAILABLE",
      message: "The model HOST/M cannot be used: nothing listens at http://HOST",
      hint: 'Start it, or correct "llm.baseUrl" in the config.',
    });
  });

  test("with the missing variable of the key, before anything is sent", () => {
    const of = llmOf({ preset: "cerebras" }, {});
    expect(failure(catching(() => modelOf(of)))).toEqual({
      code: "NEEDS_VARIABLE",
      message: "The model cerebras/gpt-oss-120b needs CEREBRAS_API_KEY in the environment",
      hint: "Set CEREBRAS_API_KEY before starting claudikins.",
    });
  });

  test("if its address is invalid after its variable is filled in", () => {
    const of = llmOf({ baseUrl: "${AT}", model: "m" }, { AT: "ftp://secret" });
    expect(failure(catching(() => modelOf(of))).code).toBe("CONFIG_INVALID");
  });

  test("if it takes too long", async () => {
    const { given, requests } = await asked([{ hangs: true }], { timeoutMs: 50 });
    expect(failure(given)).toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining("no answer within 50 ms"),
    });
    expect(requests).toHaveLength(1);
  });

  // The pause is longer than that.
  const atOnce = 10_000;

  test.each<[string, Reply]>([
    ["during a request", { hangs: true }],
    ["during a pause", { status: 429, headers: { "retry-after": "20" } }],
  ])(
    "at once if it is cancelled %s",
    async (_, reply) => {
      await using server = startLlm([reply]);
      const [ended, failed] = [new AbortController(), Promise.withResolvers<void>()];
      const model = openAiModel(llm(server.baseUrl), { log: { ...log, debug: () => failed.resolve() } });
      const asking = model.ask(request, ended.signal).catch((thrown: unknown) => thrown);
      await server.asked(1);
      if (!reply.hangs) await failed.promise;
      ended.abort();
      expect(failure(await asking).code).toBe("CANCELLED");
      expect(server.requests).toHaveLength(1);
    },
    atOnce,
  );
});

describe("an option that the endpoint refuses is left out from then on", () => {
  const formatOf = ({ body }: LlmRequest) => body.response_format?.type ?? "none";
  const refusing =
    (...refused: string[]) =>
    (each: LlmRequest): Reply =>
      refused.includes(formatOf(each)) ? { status: 400, body: { error: { message: "response_format: no" } } } : ok;

  test.each([
    [["json_schema"], ["json_schema", "json_object"], "json_object"],
    [["json_schema", "json_object"], ["json_schema", "json_object", "none"], "none"],
  ])("%p", async (refused, first, then) => {
    await using server = startLlm(refusing(...refused), key);
    const of = llm(server.baseUrl);
    expect(await modelOf(of).ask(request, never())).toMatchObject({ text: answer });
    expect(server.requests.map(formatOf)).toEqual(first);
    expect(server.requests.at(-1)?.body.messages[0]?.content).toContain(JSON.stringify(strict));
    await modelOf(of).ask(request, never());
    expect(server.requests.slice(first.length).map(formatOf)).toEqual([then]);
    expect(server.problems).toEqual([]);
  });

  test("but one refused schema does not affect others", async () => {
    const odd = { ...request, schemaName: "odd" };
    await using server = startLlm(({ body }) =>
      body.response_format?.json_schema?.name === "odd" ? { status: 400, body: { error: { message: "no" } } } : ok,
    );
    const model = modelOf(llm(server.baseUrl));
    for (const each of [request, odd, request]) expect(await model.ask(each, never())).toMatchObject({ text: answer });
    expect(server.requests.map(formatOf)).toEqual(["json_schema", "json_schema", "json_object", "json_schema"]);
  });

  test.each<[string, object, (body: LlmRequest["body"]) => boolean]>([
    ["max_tokens", { message: "Unsupported parameter", param: "max_tokens" }, (body) => body.max_tokens !== undefined],
    ["temperature", { message: "Unsupported value: 'temperature'" }, (body) => body.temperature !== undefined],
  ])("%s", async (_, error, isRefused) => {
    const { given, requests } = await asked(({ body }) => (isRefused(body) ? { status: 400, body: { error } } : ok));
    expect(given).toMatchObject({ text: answer });
    expect(requests).toHaveLength(2);
    expect(formatOf(requests[1]!)).toBe("json_schema");
  });

  test("but a request that is always refused fails", async () => {
    const { given, requests } = await asked([{ status: 400, body: { error: { message: "the prompt is too long" } } }]);
    expect(failure(given).message).toEndWith("it refused the request (400): the prompt is too long");
    expect(requests.length).toBeLessThan(6);
  });
});

describe("a compressed answer of 200 MB", () => {
  test.each([200, 400, 503])("is read up to 16 MB with status %d", async (status) => {
    const asked: string[] = [];
    const packed = gzipSync(Buffer.alloc(200 * 1_048_576, "[1,"));
    await using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        asked.push(request.url);
        return new Response(packed, { status, headers: { "content-encoding": "gzip" } });
      },
    });
    const error = await failureOf(modelOf(llm(`${server.url}v1`)).ask(request, never()));
    expect(failure(error)).toEqual({
      code: "MODEL_UNAVAILABLE",
      message: "The model HOST/M cannot be used: it answered with more than 16 MB",
      hint: 'Check that "llm.baseUrl" is the address of a chat completions endpoint.',
    });
    expect(asked.length).toBe(1);
  });
});

test("the key is in no error and no log, whatever the endpoint answers", async () => {
  // Shortening the text would leave half of the key.
  for (const before of [180, 190, 195]) {
    const { given } = await asked([{ status: 404, body: { error: { message: `${"x".repeat(before)}${key}` } } }]);
    expect(failure(given).message).not.toContain(key.slice(0, 4));
  }
  const words = `Incorrect API key provided: ${key}, Bearer ${key}, ${key.slice(0, 8)}****`;
  for (const status of [400, 401, 404, 429, 500]) {
    const { given } = await asked([{ status, body: { error: { message: words, code: key, param: key } } }]);
    expect(given).toBeInstanceOf(ClaudikinsError);
    expect(Bun.inspect(given)).not.toContain(key);
    expect(failure(given).message).toContain("Incorrect API key");
  }
  expect(logged.length).toBeGreaterThan(20);
  expect(logged.join()).not.toContain(key);
});

function catching(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
