/** Answers calls of a recorded server from its recordings. */
import { isDeepStrictEqual } from "node:util";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { madeUpResult } from "../../tools/made-up.ts";
import { shapeOf } from "../../tools/observed/observe.ts";
import type { RecordedTool, RecordedToolCall, Recording } from "./format.ts";

/**
 * What answers a call whose arguments were never recorded. `exact`: an error. `order`: the next answer of the tool. `schema`: a made-up result
 * of the tool's type.
 */
export const answerModes = ["exact", "order", "schema"] as const;
export type AnswerMode = (typeof answerModes)[number];

/** Characters of recorded arguments that an error shows. */
const maxShownArgumentChars = 500;

export class ImitatedServer {
  readonly tools = new Map<string, RecordedTool>();
  readonly #calls: readonly RecordedToolCall[];
  readonly #used = new Set<RecordedToolCall>();
  readonly #mode: AnswerMode;

  constructor(server: string, recordings: readonly Recording[], mode: AnswerMode) {
    this.#mode = mode;
    this.#calls = recordings.flatMap(({ calls }) => {
      return calls.filter((call) => call.server === server && isAnswered(call));
    });
    for (const { servers } of recordings) {
      for (const [name, tool] of Object.entries(servers[server]?.tools ?? {})) this.tools.set(name, tool);
    }
  }

  /** The result of a tool. A call that no recording has is a failure of the tool, which says so. */
  call(tool: string, args: JsonObject): JsonObject {
    const all = this.#calls.filter((call) => call.tool === tool);
    const call = this.#next(all, args);
    if (call) return resultOf(call);
    const known = this.tools.get(tool);
    if (this.#mode === "schema" && known) {
      const results = all.flatMap(({ raw, result }) => (raw || result === undefined ? [] : [result]));
      const { inputSchema, outputSchema } = known;
      return madeUpResult({
        ...{ name: tool, description: "", inputSchema },
        ...(outputSchema ? { outputSchema } : {}),
        ...(results.length === 0 ? {} : { observed: { ...shapeOf(results[0]) } }),
      });
    }
    return failed(`${never(tool, all)}${this.#mode === "exact" ? ` ${otherModes}` : ""}`);
  }

  /** The answer of a function that a server has beside its tools. Throws NOT_RECORDED. */
  other(name: string, args: JsonObject): JsonObject {
    const all = this.#calls.filter((call) => call.tool === name);
    const { result, error } = this.#next(all, args) ?? {};
    if (isObject(result)) return result;
    throw new ClaudikinsError("NOT_RECORDED", error?.message ?? never(name, all));
  }

  /** Equal calls get their answers in order, and then the last answer again. */
  #next(all: readonly RecordedToolCall[], args: JsonObject): RecordedToolCall | undefined {
    const exact = all.filter((call) => isDeepStrictEqual(call.arguments, args));
    const unused = (calls: readonly RecordedToolCall[]) => calls.find((call) => !this.#used.has(call));
    const found = unused(exact) ?? exact.at(-1) ?? (this.#mode === "order" ? unused(all) : undefined);
    if (found) this.#used.add(found);
    return found;
  }
}

const otherModes = "To answer other arguments, too: --answers order, or --answers schema.";

function never(name: string, all: readonly RecordedToolCall[]): string {
  if (all.length === 0) return `No call of ${name} was ever recorded.`;
  const known = [...new Set(all.map((call) => JSON.stringify(call.arguments)))].join(", ");
  return `No call of ${name} with these arguments was ever recorded. Recorded arguments: ${known.slice(0, maxShownArgumentChars)}.`;
}

function isAnswered({ result, content, error }: RecordedToolCall): boolean {
  return result !== undefined || content !== undefined || error !== undefined;
}

/** A whole result, as a server sends it. */
function resultOf({ raw, result, content, error }: RecordedToolCall): JsonObject {
  if (error) return failed(error.message, error.data);
  if (content) return { content };
  if (raw && isObject(result)) return result;
  const text = typeof result === "string" ? result : JSON.stringify(result);
  return { content: [{ type: "text", text }], ...(isObject(result) ? { structuredContent: result } : {}) };
}

function failed(message: string, data?: string): JsonObject {
  return {
    content: [{ type: "text", text: message }],
    ...(data === undefined ? {} : { structuredContent: JSON.parse(data) }),
    isError: true,
  };
}
