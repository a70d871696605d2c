/** Counts calls in the ledger. */
import { entryKeyOf } from "../catalog/config-entry.ts";
import { LargeJson } from "../clients/decoding/large-json.ts";
import { objectsOf } from "../clients/result.ts";
import type { JsonObject } from "../json-object.ts";
import { charsOfBlocks, shownChars } from "../ledger/characters.ts";
import { type ToolUse, unknownTool } from "../ledger/counts.ts";
import type { RegistryServer, RegistryTool } from "../registry/model.ts";
import { textOf } from "../sandbox/binding-value.ts";
import type { BindingCall, BindingValue } from "../sandbox/contract.ts";
import type { Parts } from "./parts.ts";
import { isServerFunction } from "./server-functions.ts";

interface Surroundings {
  parts: Parts;
  signal: AbortSignal;
}

/** Makes and counts a call. `taken`: a program of an agent makes it, so its result does not enter the context by itself. */
export function counted(
  call: BindingCall,
  { taken, ...around }: Surroundings & { taken: boolean },
  make: () => Promise<BindingValue>,
): Promise<BindingValue> {
  return measured(
    make,
    around,
    () => usedNames(call, around.parts),
    (value) => ({
      isFailure: value === undefined,
      resultChars: value ? textOf(value).length : 0,
      takenChars: taken && value ? Math.min(charsOf(value, call), shownChars) : 0,
      argumentChars: taken ? (call.argsJson ?? JSON.stringify(call.args)).length : 0,
    }),
  );
}

/** Makes and counts a call whose whole result is passed on. Names are the server's own. */
export function countedResult(
  names: () => Used,
  around: Surroundings,
  make: () => Promise<JsonObject>,
): Promise<JsonObject> {
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
  make: () => Promise<T>,
  { parts, signal }: Surroundings,
  names: () => Used,
  measure: (result: T | undefined) => Measure,
): Promise<T> {
  if (!parts.ledger.isOn) return make();
  const startedAt = performance.now();
  let result: T | undefined;
  try {
    result = await make();
    return result;
  } finally {
    const used = names();
    const config = used.tool === unknownTool ? undefined : parts.config.servers.get(used.server);
    const entry = config && entryKeyOf(parts.config.origin, config);
    const { isFailure, ...chars } = measure(result);
    const durationMs = performance.now() - startedAt;
    // A cancelled call has no answer, so it did not fail.
    const failures = isFailure && !signal.aborted ? 1 : 0;
    parts.ledger.called({ ...used, entry }, { calls: 1, failures, durationMs, ...chars });
  }
}

/** Longer JSON is not parsed for counting. */
const longJson = 500_000;

/** Characters that a model would have read. Content blocks count by their texts, unless their JSON is too long to parse. */
function charsOf(value: BindingValue, { group, raw }: BindingCall): number {
  const text = textOf(value);
  const areBlocks = "blocks" in value || ("json" in value && (raw || group !== "tools"));
  if (!areBlocks) return text.length;
  if (text.length > longJson) return 0;
  if ("blocks" in value) return charsOfBlocks(JSON.parse(text));
  const { content, contents } = (JSON.parse(text) ?? {}) as { content?: unknown; contents?: unknown };
  return Array.isArray(content ?? contents) ? charsOfBlocks(content ?? contents) : text.length;
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
