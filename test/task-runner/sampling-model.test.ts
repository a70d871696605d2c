/** The host's model: its requests, and hosts and people who refuse or do not answer. */
import { describe, expect, test } from "bun:test";
import { ProtocolError } from "@modelcontextprotocol/server";
import { estimateTokens } from "../../src/base/token-estimate.ts";
import type { Responder } from "../../src/servers/connection/responder.ts";
import { samplingModel } from "../../src/task-runner/sampling-model.ts";

type Sample = NonNullable<Responder["sample"]>;

const request = { system: "Pick.", prompt: "a or b?", schema: { type: "object" }, schemaName: "choice", maxTokens: 50 };
const never = () => new AbortController().signal;
const saying =
  (content: unknown): Sample =>
  async () =>
    ({ role: "assistant", model: "m", content }) as never;
const failing =
  (error: unknown): Sample =>
  async () => {
    throw error;
  };

test("a request contains the schema in words, and its tokens are estimated", async () => {
  const asked: unknown[] = [];
  const model = samplingModel(async (params, by) => {
    asked.push(params, by.server);
    return saying({ type: "text", text: ' {"choice":"a"} ' })(params, by);
  });
  const systemPrompt = `Pick.\n\nAnswer with one JSON object and nothing else. It must match this JSON Schema:\n{"type":"object"}`;
  expect(await model.ask(request, never())).toEqual({
    text: '{"choice":"a"}',
    tokens: {
      prompt: Math.round(estimateTokens(`${systemPrompt}\na or b?`)),
      completion: Math.round(estimateTokens('{"choice":"a"}')),
    },
    isEstimate: true,
  });
  expect(asked).toEqual([
    {
      messages: [{ role: "user", content: { type: "text", text: "a or b?" } }],
      systemPrompt,
      maxTokens: 50,
      temperature: 0,
      modelPreferences: { costPriority: 1, speedPriority: 1, intelligencePriority: 0.3 },
    },
    "claudikins",
  ]);
});

test("several text blocks are joined to one answer", async () => {
  const blocks = [
    { type: "text", text: '{"a"' },
    { type: "image", data: "" },
    { type: "text", text: ":1}" },
  ];
  expect(await samplingModel(saying(blocks)).ask(request, never())).toMatchObject({ text: '{"a":1}' });
});

describe("a request fails", () => {
  test.each<[string, Sample, string]>([
    ["if the person refuses", failing(new ProtocolError(-1, "User rejected")), "MODEL_REFUSED"],
    ["if the host refuses", failing(new ProtocolError(-32_600, "no")), "MODEL_REFUSED"],
    ["if the host has no sampling", failing(new ProtocolError(-32_601, "unknown")), "MODEL_UNAVAILABLE"],
    ["if the host fails", failing(new Error("gone")), "MODEL_UNAVAILABLE"],
    ["if the answer is empty", saying({ type: "text", text: " " }), "MODEL_ANSWER_INVALID"],
    ["if the answer is not text", saying({ type: "image", data: "", mimeType: "image/png" }), "MODEL_ANSWER_INVALID"],
  ])("%s", async (_, sample, code) => {
    expect(
      await samplingModel(sample)
        .ask(request, never())
        .catch((error) => error),
    ).toMatchObject({ code });
  });

  test("at once if it is cancelled", async () => {
    const ended = new AbortController();
    const sample: Sample = (_, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const asking = samplingModel(sample)
      .ask(request, ended.signal)
      .catch((error) => error);
    ended.abort();
    expect(await asking).toMatchObject({ code: "CANCELLED" });
    expect(
      await samplingModel(sample)
        .ask(request, ended.signal)
        .catch((error) => error),
    ).toMatchObject({
      code: "CANCELLED",
    });
  });
});
