/** One call of a tool, whoever makes it, as the ledger counts it. */

import { LargeJson } from "../clients/decoding/large-json.ts";
import { objectsOf } from "../clients/result.ts";
import type { JsonObject } from "../json-object.ts";
import { charsOfBlocks, shownChars } from "../ledger/characters.ts";
import { type ToolUse, unknownTool } from "../ledger/counts.ts";
import { textOf } from "../sandbox/binding-value.ts";
import type { BindingCall, BindingValue } from "../sandbox/contract.ts";
import type { Parts } from "./parts.ts";

interface Surroundings {
  parts: Parts;
  signal: AbortSignal;
}

/** `taken`: by the code of an agent, so that the result comes into no context by itself. Gives and throws what `make` does. */
export async function counted(
  call: BindingCall,
  { taken, ...around }: Surroundings & { taken: boolean },
  make: () => Promise<BindingValue>,
): Promise<BindingValue> {
  const { parts } = around;
  return measured(
    make,
    around,
    () => usedNames(call, parts),
    (value) => ({
      isFailure: value === undefined,
      resultChars: value ? textOf(value).length : 0,
      takenChars: taken && value ? Math.min(charsOf(value, call), shownChars) : 0,
      argumentChars: taken ? JSON.stringify(call.args).length : 0,
    }),
  );
}

/** The same for who passes a result on as it is, to somebody who has called the tool by itself. The names are the server's own. */
export async function countedResult(
  names: Used | (() => Used),
  around: Surroundings,
  make: () => Promise<JsonObject>,
): Promise<JsonObject> {
  return measured(make, around, typeof names === "function" ? names : () => names, (result) => ({
    isFailure: result === undefined || result["isError"] === true,
    resultChars: charsOfResult(result?.["content"] ?? result?.["contents"] ?? messagesOf(result)),
    takenChars: 0,
    argumentChars: 0,
  }));
}

/** Large content is not parsed to be counted. */
function charsOfResult(blocks: unknown): number {
  return blocks instanceof LargeJson ? (blocks.text ?? blocks.json).length : charsOfBlocks(blocks);
}

function messagesOf(prompt: JsonObject | undefined): unknown {
  return objectsOf(prompt?.["messages"]).map(({ content }) => content);
}

interface Measure extends Pick<ToolUse, "resultChars" | "takenChars" | "argumentChars"> {
  isFailure: boolean;
}

/** `measure` is given nothing where there is no result. */
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
    const { server, tool } = names();
    const { isFailure, ...chars } = measure(result);
    const durationMs = performance.now() - startedAt;
    // One that was broken off did not fail: it has no answer.
    const failures = isFailure && !signal.aborted ? 1 : 0;
    parts.ledger.called(server, tool, { calls: 1, failures, durationMs, ...chars });
  }
}

/** Longer JSON is not parsed to be counted. */
const longJson = 500_000;

/** As a model would have read it: of content blocks their texts, not the JSON that they are passed on as; if that is too long, nothing. */
function charsOf(value: BindingValue, { group, raw }: BindingCall): number {
  const text = textOf(value);
  const areBlocks = "blocks" in value || ("json" in value && (raw || group !== "tools"));
  if (!areBlocks) return text.length;
  if (text.length > longJson) return 0;
  if ("blocks" in value) return charsOfBlocks(JSON.parse(text));
  const { content, contents } = (JSON.parse(text) ?? {}) as { content?: unknown; contents?: unknown };
  return Array.isArray(content ?? contents) ? charsOfBlocks(content ?? contents) : text.length;
}

/** Whose tool, and which: their own names, or that there is no such thing. */
interface Used {
  server: string;
  tool: string;
}

/** How a call names them. */
type Naming = Pick<BindingCall, "namespace" | "group" | "name">;

export function usedNames(call: Naming, parts: Parts): Used {
  return { server: serverOf(call, parts), tool: nameOf(call, parts) };
}

function serverOf({ namespace }: Naming, { config }: Parts): string {
  return config.servers.has(namespace) ? namespace : unknownTool;
}

/** Its own name, whatever it was called by. What is no tool's name may be anything: it is not written down. */
function nameOf({ namespace, group, name }: Naming, parts: Parts): string {
  if (group !== "tools") return serverFunctions.has(`${group}.${name}`) ? `${group}.${name}` : unknownTool;
  const tools = parts.catalog.findWithDenied(namespace)?.tools ?? [];
  const tool = tools.find((each) => each.name === name) ?? tools.find((each) => each.jsName === name);
  return tool?.name ?? unknownTool;
}

/** As in server-functions.ts. */
const serverFunctions = new Set([
  "resources.list",
  "resources.templates",
  "resources.read",
  "resources.subscribe",
  "resources.next",
  "resources.unsubscribe",
  "prompts.list",
  "prompts.get",
]);
