/** Makes the recorded calls that only read once more, and finds the shapes of their results as they are now. */
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { findTool } from "../../tools/model.ts";
import { shapeOf } from "../../tools/observed/observe.ts";
import { merge, type Shape } from "../../tools/observed/shape.ts";
import { callOnce } from "../call.ts";
import type { Parts } from "../parts.ts";
import { calledName, type RecordedToolCall, type Recording } from "../recordings/format.ts";
import { recordedAnswer } from "../recordings/replayable.ts";
import { resultOf } from "./changes.ts";
import type { SeenShapes } from "./contract.ts";

/** Calls of one tool that are made once more, with different arguments. */
const maxCallsOfTool = 5;

export interface SeenNow {
  shapes: SeenShapes;
  /** Number of calls that were made. */
  calls: number;
  /** The tools that were not called, or whose calls failed, with the reason as a sentence without its end. */
  notSeen: { tool: string; why: string }[];
}

/** Every call passes the policy, as any other call. Throws CANCELLED. */
export async function seenNow(recordings: readonly Recording[], parts: Parts, signal: AbortSignal): Promise<SeenNow> {
  const seen: SeenNow = { shapes: {}, calls: 0, notSeen: [] };
  const calls = recordings.flatMap((recording) => recording.calls.map((call) => ({ call, recording })));
  const answered = calls.filter(({ call }) => resultOf(call) !== undefined);
  for (const [tool, all] of Map.groupBy(answered, ({ call }) => calledName(call))) {
    const { server, tool: name } = all[0]!.call;
    const why = whyNot({ server, tool: name }, parts);
    if (why !== undefined) {
      seen.notSeen.push({ tool, why });
      continue;
    }
    const shapes: Shape[] = [];
    let failure: string | undefined;
    const usable = all.filter(({ call, recording }) => !hasPlaceholder(call.arguments, recording));
    for (const args of differentArguments(usable.map(({ call }) => call)).slice(0, maxCallsOfTool)) {
      try {
        const value = await answeredNow({ server, tool: name, args }, parts, signal);
        const { result } = recordedAnswer({ value });
        seen.calls += 1;
        if (result !== undefined) shapes.push(shapeOf(result));
      } catch (error) {
        signal.throwIfAborted();
        failure = messageOf(error);
        if (!isToolFailure(error)) break;
      }
    }
    const [first, ...others] = shapes;
    if (first) seen.shapes[tool] = { ...others.reduce((some, each) => merge(some, each), first) };
    else seen.notSeen.push({ tool, why: failure ?? "its recorded arguments are placeholders" });
  }
  return seen;
}

/** A tool that answers with a failure is called once more, because it may do so only sometimes. */
async function answeredNow(call: Parameters<typeof callOnce>[0], parts: Parts, signal: AbortSignal) {
  signal.throwIfAborted();
  try {
    return await callOnce(call, parts, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isToolFailure(error)) throw error;
    return await callOnce(call, parts, signal);
  }
}

function isToolFailure(error: unknown): boolean {
  return toClaudikinsError(error).code === "TOOL_FAILED";
}

function whyNot(
  { server, tool: name }: Pick<RecordedToolCall, "server" | "tool">,
  { catalog, config }: Parts,
): string | undefined {
  if (server === "" || config.servers.get(server)?.isSavedPrograms) return "it is part of claudikins";
  const known = catalog.find(server);
  const tool = known && findTool(known, name);
  if (!tool) return "it does not exist";
  return tool.annotations?.["readOnlyHint"] === true ? undefined : "its server does not say that it only reads";
}

function differentArguments(calls: readonly RecordedToolCall[]): JsonObject[] {
  return [...new Map(calls.map(({ arguments: args }) => [JSON.stringify(args), args])).values()];
}

/** Whether a part stands for a secret, or may stand for private data because a recorded result has it. No server knows either. */
function hasPlaceholder(args: JsonObject, { calls, isPrivateReplaced = false }: Recording): boolean {
  if (JSON.stringify(args).includes("***")) return true;
  if (!isPrivateReplaced) return false;
  const results = calls.map(({ result, content }) => JSON.stringify(result ?? content ?? null));
  return valuesIn(args).some((value) => results.some((result) => result.includes(value)));
}

/** The texts and numbers of a value, as JSON. */
function valuesIn(value: unknown): string[] {
  if (typeof value === "string" || typeof value === "number") return [JSON.stringify(value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(valuesIn) : [];
}
