/** The server `model`: programs ask the model of the config, or else the agent's own, with `model.ask`. */
import type { CallToolResult, CreateMessageResult, Server, Tool } from "@modelcontextprotocol/server";
import { ClaudikinsError, toClaudikinsError } from "../base/errors.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import type { Log } from "../base/log.ts";
import { dayMs } from "../base/units.ts";
import { version } from "../base/version.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/load.ts";
import { modelServerName } from "../config/model-server.ts";
import { callerIn, type ProgramCaller } from "../programs/saved/callers.ts";
import { timeOf } from "../programs/trace/id.ts";
import type { Channel } from "../servers/connection/channel.ts";
import { memoryChannel } from "../servers/connection/memory-channel.ts";
import type { Store } from "../store/store.ts";
import { asksModelKey, askTool } from "../tools/asks-model.ts";
import { AnswerFromModel, maxPromptChars, maxSchemaChars } from "./answer-from-model.ts";
import type { Model } from "./model.ts";

/** How long the requests of one program are counted. */
const countedMs = 30 * dayMs;

interface ModelServerParts {
  config: Pick<Config, "llm" | "askModel">;
  env: Environment;
  log: Log;
  store: Pick<Store, "quotas">;
}

const ask: Tool = {
  name: askTool,
  description:
    "Asks a model, and returns its answer as a value of the schema; without one, as text. What others have written belongs into `data`.",
  inputSchema: {
    type: "object",
    properties: {
      prompt: { type: "string", maxLength: maxPromptChars },
      schema: { type: "object", description: "JSON Schema of the answer" },
      data: { description: "What the prompt is about" },
    },
    required: ["prompt"],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, openWorldHint: true },
  _meta: { [asksModelKey]: true },
};

/** A channel to a new server. */
export async function modelChannel(parts: ModelServerParts): Promise<Channel> {
  const { Server } = await import("@modelcontextprotocol/server");
  const server = new Server({ name: modelServerName, version }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools: [ask] }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { arguments: given = {}, _meta: meta } = params;
    const caller = callerIn(meta);
    // The time of the model is not that of the program.
    caller?.pause?.hold();
    try {
      const { calls = 0, maxTokens = 0 } = parts.config.askModel || {};
      await count(calls, caller, parts);
      const sample = (asked: object, { signal }: { signal: AbortSignal }) =>
        mcpReq.requestSampling(asked as never, { signal }) as Promise<CreateMessageResult>;
      const model = await modelFor(server, sample, parts);
      const asked = new AnswerFromModel(model, { signal: mcpReq.signal, maxTokens });
      return resultOf(await asked.answer(requestIn(given)), asked);
    } catch (error) {
      const { code, message, hint } = toClaudikinsError(error);
      const text = [`${code}: ${message}`, hint].filter(Boolean).join("\n");
      return { isError: true, content: [{ type: "text", text }], structuredContent: { code } };
    } finally {
      caller?.pause?.release();
    }
  });
  return memoryChannel(server);
}

type Sample = (asked: object, given: { signal: AbortSignal }) => Promise<CreateMessageResult>;

/** Throws NEEDS_VARIABLE, NEEDS_SECRET and MODEL_UNAVAILABLE. */
async function modelFor(
  server: Server,
  sample: Sample,
  { config: { llm }, env, log }: ModelServerParts,
): Promise<Model> {
  if (llm) {
    const { modelOf } = await import("./openai-model.ts");
    return modelOf(llm, env, { log });
  }
  if (server.getClientCapabilities()?.sampling) {
    const { samplingModel } = await import("./sampling-model.ts");
    return samplingModel(sample as never);
  }
  throw new ClaudikinsError("MODEL_UNAVAILABLE", "No model is configured, and nobody is connected who offers one", {
    hint: 'Set "llm" in claudikins.json, such as { "llm": { "preset": "ollama" } }. Programs in the background always need it.',
  });
}

/** Counts the requests of a program and of those that it calls, in whatever process they are made. Throws QUOTA_REACHED. */
async function count(limit: number, caller: ProgramCaller | undefined, { store }: ModelServerParts): Promise<void> {
  if (!caller) return;
  const [program = ""] = caller.position.execution.split("-", 1);
  const from = timeOf(program);
  const use = { key: `model ${program}`, from, to: from + countedMs, amount: 1, limit };
  if (!(await store.quotas.take([use]))) return;
  throw new ClaudikinsError("QUOTA_REACHED", `A program may ask the model ${limit} times, and has done so`, {
    hint: 'Ask about several things at once, with a schema for a list. The user can raise the limit: "askModel": { "calls": … }',
  });
}

/** The arguments were checked with the schema of the tool. Throws INVALID_ARGUMENTS. */
function requestIn({ prompt, schema, data }: JsonObject) {
  if (isObject(schema) && JSON.stringify(schema).length > maxSchemaChars) {
    throw new ClaudikinsError("INVALID_ARGUMENTS", `The schema has more than ${maxSchemaChars} characters`);
  }
  return { prompt: String(prompt), schema: isObject(schema) ? schema : undefined, data };
}

function resultOf(value: unknown, { model, tokens }: AnswerFromModel): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text: JSON.stringify(value) }];
  const structured = isObject(value) ? { structuredContent: value } : {};
  return { content, ...structured, _meta: { "claudikins/model": { name: model, tokens } } };
}
