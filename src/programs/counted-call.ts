/** Counts calls in the ledger. */

import { charsOfBlocks, shownChars } from "../base/context-characters.ts";
import type { JsonObject } from "../base/json-object.ts";
import { type Clock, HeldTime } from "../base/time-limit.ts";
import { continuesElsewhere } from "../policy/desk.ts";
import { contextChars, textOf } from "../sandbox/binding-value.ts";
import type { BindingCall, BindingValue } from "../sandbox/contract.ts";
import { LargeJson } from "../servers/decoding/large-json.ts";
import { objectsOf } from "../servers/result.ts";
import { entryKeyOf } from "../tools/catalog/config-entry.ts";
import type { RegistryServer, RegistryTool } from "../tools/model.ts";
import { type ToolUse, unknownTool } from "./ledger/counts.ts";
import type { Parts } from "./parts.ts";
import { isServerFunction } from "./server-functions.ts";

interface Surroundings {
  parts: Parts;
  signal: AbortSignal;
  /** The time limit of the caller. */
  clock?: Clock | undefined;
  /** Whether the call was sent to its server. */
  hasLeft?: (() => boolean) | undefined;
}

/** `clock` is held while a person is asked: that is not time in the tool. */
type Make<T> = (clock: Clock) => Promise<T>;

/** Makes and counts a call. `taken`: a program of an agent makes it, so its result does not enter the context by itself. */
export function counted(
  call: BindingCall,
  { taken, ...around }: Surroundings & { taken: boolean },
  make: Make<BindingValue>,
): Promise<BindingValue> {
  return measured(
    make,
    around,
    () => usedNames(call, around.parts),
    (value) => ({
      isFailure: value === undefined,
      resultChars: value ? textOf(value).length : 0,
      takenChars: taken && value ? contextChars(value, call, shownChars) : 0,
      argumentChars: taken ? (call.argsJson ?? JSON.stringify(call.args)).length : 0,
    }),
  );
}

/** Makes and counts a call whose whole result is passed on. Names are the server's own. */
export function countedResult(names: () => Used, around: Surroundings, make: Make<JsonObject>): Promise<JsonObject> {
  return measured(make, around, names, (result) => ({
    isFailure: result === undefined || result["isError"] === true,
    resultChars: charsOfResult(result?.["content"] ?? result?.["contents"] ?? messagesOf(result)),
    takenChars: 0,
    argumentChars: 0,
  }));
}

/** Large content is counted as text, without parsing it. */
function charsOfResult(blocks: unknown): number {
  return blocks instanceof LargeJson ? (blocks.text ?? blocks.json).length : charsOfBlocks(blocks);
}

function messagesOf(prompt: JsonObject | undefined): unknown {
  return objectsOf(prompt?.["messages"]).map(({ content }) => content);
}

interface Measure extends Pick<ToolUse, "resultChars" | "takenChars" | "argumentChars"> {
  isFailure: boolean;
}

/** `measure` gets undefined if the call threw. */
async function measured<T>(
  make: Make<T>,
  { parts, signal, clock, hasLeft = () => true }: Surroundings,
  names: () => Used,
  measure: (result: T | undefined) => Measure,
): Promise<T> {
  const held = new HeldTime(clock);
  if (!parts.ledger.isOn) return make(held);
  const startedAt = performance.now();
  let result: T | undefined;
  try {
    result = await make(held);
    return result;
  } finally {
    // Another process makes a call that has not left, and counts it.
    if (signal.reason !== continuesElsewhere || hasLeft()) count(result);
  }

  function count(known: T | undefined): void {
    const used = names();
    const config = used.tool === unknownTool ? undefined : parts.config.servers.get(used.server);
    const entry = config && entryKeyOf(parts.config, config);
    const { isFailure, ...chars } = measure(known);
    const durationMs = performance.now() - startedAt - held.ms;
    // A cancelled call has no answer, so it did not fail.
    const failures = isFailure && !signal.aborted ? 1 : 0;
    parts.ledger.called({ ...used, entry }, { calls: 1, failures, durationMs, ...chars });
  }
}

/** The own names of a server and its tool, or a placeholder for names that do not exist. */
interface Used {
  server: string;
  tool: string;
}

/** The names as a call has them. */
type Naming = Pick<BindingCall, "namespace" | "group" | "name">;

/** The names of a call. An unknown name could be anything, so it is not stored. */
export function usedNames({ namespace, group, name }: Naming, { config, catalog }: Parts): Used {
  const server = config.servers.has(namespace) ? namespace : unknownTool;
  if (group !== "tools") return { server, tool: isServerFunction(group, name) ? `${group}.${name}` : unknownTool };
  const known = catalog.findWithDenied(namespace);
  return { server, tool: (known && findTool(known, name))?.name ?? unknownTool };
}

/** The tool with that name, else the one with that name in code. */
export function findTool({ tools }: RegistryServer, name: string): RegistryTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.jsName === name);
}
