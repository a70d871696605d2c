/** One call of a tool, whoever makes it, as the ledger counts it. */

import { charsOfBlocks, shownChars } from "../ledger/characters.ts";
import { unknownTool } from "../ledger/counts.ts";
import { textOf } from "../sandbox/binding-value.ts";
import type { BindingCall, BindingValue } from "../sandbox/contract.ts";
import type { Toolbox } from "./toolbox.ts";

/** `taken`: by code, so that the result comes into no context by itself. Gives and throws what `make` does. */
export async function counted(
  call: BindingCall,
  { toolbox, signal, taken }: { toolbox: Toolbox; signal: AbortSignal; taken: boolean },
  make: () => Promise<BindingValue>,
): Promise<BindingValue> {
  // Questions about the tools are no calls.
  if (call.namespace === "" || !toolbox.ledger.isOn) return make();
  const startedAt = performance.now();
  let value: BindingValue | undefined;
  try {
    value = await make();
    return value;
  } finally {
    const resultChars = value ? textOf(value).length : 0;
    const shown = taken && value ? Math.min(charsOf(value, call), shownChars) : 0;
    toolbox.ledger.called(serverOf(call, toolbox), nameOf(call, toolbox), {
      calls: 1,
      // One that was broken off did not fail: it has no answer.
      failures: value || signal.aborted ? 0 : 1,
      durationMs: performance.now() - startedAt,
      resultChars,
      takenChars: shown,
      argumentChars: taken ? JSON.stringify(call.args).length : 0,
    });
  }
}

/** Longer JSON is not parsed to be counted. */
const longJson = 2_000_000;

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

function serverOf({ namespace }: BindingCall, { config }: Toolbox): string {
  return config.servers.has(namespace) ? namespace : unknownTool;
}

/** Its own name, whatever it was called by. What is no tool's name may be anything: it is not written down. */
function nameOf({ namespace, group, name }: BindingCall, toolbox: Toolbox): string {
  if (group !== "tools") return serverFunctions.has(`${group}.${name}`) ? `${group}.${name}` : unknownTool;
  const tools = toolbox.known(namespace)?.tools ?? [];
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
