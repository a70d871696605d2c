/** What has changed about the tools of a recording since it was made, and what each change does to the recorded calls. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { nearNames } from "../../base/near-names.ts";
import { checkArguments } from "../../tools/arguments/check-arguments.ts";
import { type ResultChange, resultChanges, withChange } from "../../tools/definitions/compatible.ts";
import { shapeOf } from "../../tools/observed/observe.ts";
import { merge, type Shape } from "../../tools/observed/shape.ts";
import {
  calledName,
  type RecordedFailure,
  type RecordedTool,
  type RecordedToolCall,
  type Recording,
} from "../recordings/format.ts";
import type { CurrentServers, CurrentTool, SeenShapes } from "./contract.ts";
import { interned } from "./interned.ts";
import { noServer } from "./text-check.ts";

export interface DefinitionChange {
  /** `demo.list_orders` */
  tool: string;
  /** The places of the calls in the recording that it changes. */
  calls: ReadonlySet<number>;
  /** A sentence without its end. */
  text: string;
  /** Whether it certainly comes about. Otherwise results may be as before, too, and another value in the output is no harm. */
  isCertain: boolean;
  /** The call as it would be answered. */
  answered: (call: RecordedToolCall) => RecordedToolCall;
}

/** In the order of the calls. Tools that are not known now have no changes. */
export async function definitionChanges(
  recording: Recording,
  servers: CurrentServers,
  seen: SeenShapes,
): Promise<DefinitionChange[]> {
  const found: DefinitionChange[] = [];
  const tools = Map.groupBy(recording.calls.entries(), ([, call]) => calledName(call));
  for (const [tool, calls] of tools) {
    const [[, { server, tool: name }]] = calls as [[number, RecordedToolCall]];
    const before = recording.servers[server]?.tools[name];
    // The functions of `tools`, and what a server has beside its tools.
    if (server === "" || !before || !Object.hasOwn(servers, server)) continue;
    found.push(...(await changesOf(tool, calls, { before, current: servers[server] ?? null, name, seen: seen[tool] })));
  }
  return found;
}

type PlacedCall = readonly [place: number, call: RecordedToolCall];

interface Around {
  before: RecordedTool;
  current: CurrentServers[string];
  name: string;
  seen: JsonObject | undefined;
}

async function changesOf(
  tool: string,
  calls: readonly PlacedCall[],
  { before, current, name, seen }: Around,
): Promise<DefinitionChange[]> {
  const places = new Set(calls.map(([place]) => place));
  const now = current?.tools.find((each) => each.name === name);
  if (!now) {
    const text = current ? noTool(tool, name, current.tools) : noServer(tool.slice(0, -name.length - 1));
    return [{ tool, calls: places, text, ...failing({ code: "TOOL_NOT_FOUND", message: text }) }];
  }
  if (now.isHeld) {
    const text = `${tool} is held until you accept its new definition`;
    return [{ tool, calls: places, text, ...failing({ code: "DEFINITION_CHANGED", message: text }) }];
  }
  return [...(await argumentChanges(tool, calls, before, now)), ...changesOfResults(tool, calls, before, now, seen)];
}

function noTool(tool: string, name: string, tools: readonly CurrentTool[]): string {
  const [near] = nearNames(
    name,
    tools.map((each) => each.name),
  );
  return `${tool} does not exist any more${near === undefined ? "" : `; it may be called ${near} now`}`;
}

/** The recorded arguments that would be refused now, and were not. */
async function argumentChanges(
  tool: string,
  calls: readonly PlacedCall[],
  before: RecordedTool,
  now: CurrentTool,
): Promise<DefinitionChange[]> {
  const { inputSchema } = now;
  if (!inputSchema || Bun.deepEquals(before.inputSchema, inputSchema)) return [];
  const byText = new Map<string, Set<number>>();
  for (const [place, { arguments: args }] of calls) {
    const problems = await checkArguments(interned(inputSchema), args);
    if (problems.length === 0) continue;
    const known = await checkArguments(interned(before.inputSchema), args);
    const added = problems.filter((problem) => !known.includes(problem));
    if (added.length === 0) continue;
    const text = `${tool} refuses the arguments: ${added.map((each) => each.replace(/\.$/, "")).join("; ")}`;
    byText.set(text, (byText.get(text) ?? new Set()).add(place));
  }
  return [...byText].map(([text, places]) => {
    return { tool, calls: places, text, ...failing({ code: "INVALID_ARGUMENTS", message: text }) };
  });
}

function failing(error: RecordedFailure): Pick<DefinitionChange, "isCertain" | "answered"> {
  return {
    isCertain: true,
    answered: ({ result: _, content: __, error: ___, ...call }) => ({ ...call, error }),
  };
}

function changesOfResults(
  tool: string,
  calls: readonly PlacedCall[],
  before: RecordedTool,
  now: CurrentTool,
  seen: JsonObject | undefined,
): DefinitionChange[] {
  const results = calls.flatMap(([place, call]) => (resultOf(call) === undefined ? [] : [place]));
  if (results.length === 0) return [];
  const places = new Set(results);
  const ofSeen = seen ? seenChanges(calls, seen) : observedChanges(calls, now);
  return [...declaredChanges(calls, before, now), ...ofSeen].map((change) => ({
    tool,
    calls: places,
    text: `${tool}: ${change.text}`,
    isCertain: change.isCertain,
    answered: (call) => withResult(call, change),
  }));
}

/** The changes between the schemas. If the server had none, the recorded results stand for it. */
function declaredChanges(calls: readonly PlacedCall[], before: RecordedTool, now: CurrentTool): ResultChange[] {
  const { outputSchema } = now;
  if (!outputSchema || Bun.deepEquals(before.outputSchema, outputSchema)) return [];
  if (before.outputSchema) return resultChanges(before.outputSchema, outputSchema);
  return resultChanges(recordedShape(calls), outputSchema, { before: "seen", now: "declared" });
}

function seenChanges(calls: readonly PlacedCall[], seen: JsonObject): ResultChange[] {
  return resultChanges(recordedShape(calls), seen, { before: "seen", now: "seen" });
}

/**
 * What results had that were seen in daily use, with any arguments. It counts only if no result was as before: other results may differ for
 * other reasons. A whole result that is a text may say that there is nothing.
 */
function observedChanges(calls: readonly PlacedCall[], { observed }: CurrentTool): ResultChange[] {
  if (!observed) return [];
  return seenChanges(calls, observed).filter(({ isCertain, isRenamed, kind, path }) => {
    return isCertain && path.length > 0 && (kind !== "gone" || isRenamed);
  });
}

/** The shape of the recorded results of a tool. */
function recordedShape(calls: readonly PlacedCall[]): JsonObject {
  const shapes = calls.flatMap(([, call]) => {
    const result = resultOf(call);
    return result === undefined ? [] : [shapeOf(result)];
  });
  return { ...shapes.reduce<Shape | undefined>((some, each) => (some ? merge(some, each) : each), undefined) };
}

/** The value that the schema of results describes. */
export function resultOf({ raw, result }: Pick<RecordedToolCall, "raw" | "result">): unknown {
  if (!raw) return result;
  return isObject(result) ? result["structuredContent"] : undefined;
}

function withResult(call: RecordedToolCall, change: ResultChange): RecordedToolCall {
  const { raw, result } = call;
  const path = raw ? ["structuredContent", ...change.path] : change.path;
  const changed = withChange(result, { path, value: change.value });
  return changed === result ? call : { ...call, result: changed ?? null };
}
