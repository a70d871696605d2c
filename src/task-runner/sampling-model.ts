/** The host's own model, asked with MCP sampling, which has no schemas: the format of the answer is described in words. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/client";
import { durationText } from "../base/duration.ts";
import { ClaudikinsError, messageOf } from "../base/errors.ts";
import { estimateTokens } from "../base/token-estimate.ts";
import type { Responder } from "../servers/connection/responder.ts";
import { inWords, type Model } from "./model.ts";

/** The error code of hosts if the user refuses. */
const refusedByPerson = -1;

/** Time for the host's model to answer. Long, because hosts may show the request to the user first. */
const samplingMs = 300_000;

const hint = 'Set "llm" in claudikins.json to use a model of your own instead.';

export function samplingModel(sample: NonNullable<Responder["sample"]>): Model {
  return {
    name: "the host's model",
    async ask(request, signal) {
      const systemPrompt = inWords(request);
      const timeout = AbortSignal.timeout(samplingMs);
      const params = {
        messages: [{ role: "user" as const, content: { type: "text" as const, text: request.prompt } }],
        systemPrompt,
        maxTokens: request.maxTokens,
        temperature: 0,
        modelPreferences: { costPriority: 1, speedPriority: 1, intelligencePriority: 0.3 },
      };
      let text: string;
      try {
        signal.throwIfAborted();
        // claudikins itself asks, as a server would.
        const asked = { server: "claudikins", signal: AbortSignal.any([signal, timeout]) };
        text = textOf((await sample(params, asked)).content);
      } catch (error) {
        if (signal.aborted) throw new ClaudikinsError("CANCELLED", "The request to the host's model was cancelled");
        throw timeout.aborted ? unavailable(`it gave no answer within ${durationText(samplingMs)}`) : failureOf(error);
      }
      if (text === "") {
        throw new ClaudikinsError("MODEL_ANSWER_INVALID", "The answer of the host's model is empty", { hint });
      }
      const tokens = {
        prompt: Math.round(estimateTokens(`${systemPrompt}\n${request.prompt}`)),
        completion: Math.round(estimateTokens(text)),
      };
      return { text, tokens, isEstimate: true };
    },
  };
}

function textOf(content: unknown): string {
  const texts = [content].flat().flatMap((block) => {
    const { type, text } = Object(block) as { type?: unknown; text?: unknown };
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  return texts.join("").trim();
}

function failureOf(error: unknown): ClaudikinsError {
  if (
    error instanceof ProtocolError &&
    (error.code === refusedByPerson || error.code === ProtocolErrorCode.InvalidRequest)
  ) {
    return new ClaudikinsError("MODEL_REFUSED", "The user or the host refused the request to its model", { hint });
  }
  return unavailable(messageOf(error));
}

function unavailable(what: string): ClaudikinsError {
  return new ClaudikinsError("MODEL_UNAVAILABLE", `The host's model cannot be used: ${what}`, { hint });
}
