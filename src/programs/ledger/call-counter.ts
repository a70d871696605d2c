/** Counts calls in the ledger. */

import { charsOfBlocks } from "../../base/context-characters.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { LargeJson } from "../../base/large-json.ts";
import { maxContextChars } from "../../base/limits.ts";
import { continuesElsewhere } from "../../policy/approval-queue.ts";
import type { CallRequest } from "../../sandbox/contract.ts";
import { contextChars, textOf } from "../../sandbox/worker/binding-value.ts";
import { objectsOf } from "../../servers/result.ts";
import { entryKeyOf } from "../../tools/catalog/config-entry.ts";
import { findTool } from "../../tools/model.ts";
import type { Parts } from "../parts.ts";
import { isKnownFunction } from "../server-functions.ts";
import type { CallValue, ToolCallListener } from "../tool-call-events.ts";
import { type CountedUse, unknownTool } from "./counts.ts";

/** With `isForAgent`, a program of an agent makes the calls, so their results do not enter its context by themselves. */
export function callCounter(parts: Parts, isForAgent: boolean): ToolCallListener {
  const open = new Map<number, { hasLeft: boolean }>();
  return (event) => {
    const known = open.get(event.call);
    switch (event.type) {
      case "called":
        // Calls that continue a subscription, and questions about the tools, name no server: they are not counted.
        if (event.request.namespace === "" || !parts.ledger.isOn) return;
        open.set(event.call, { hasLeft: false });
        return;
      case "sent":
        if (known) known.hasLeft = true;
        return;
      case "planned":
        open.delete(event.call);
        return;
      case "returned":
      case "failed":
      case "cancelled": {
        open.delete(event.call);
        // Another process makes a call that has not left, and counts it.
        if (!known || (event.type === "cancelled" && event.reason === continuesElsewhere && !known.hasLeft)) return;
        const { request, durationMs } = event;
        const value = event.type === "returned" ? event.value : undefined;
        count(parts, request, {
          calls: 1,
          failures: event.type === "failed" || isError(value) ? 1 : 0,
          durationMs,
          resultChars: value ? charsOf(value) : 0,
          takenChars: isForAgent && value && !("result" in value) ? contextChars(value, request, maxContextChars) : 0,
          argumentChars: isForAgent ? (request.args?.length ?? 0) : 0,
        });
      }
    }
  };
}

function count(parts: Parts, request: CallRequest, use: CountedUse): void {
  const { server, tool } = usedNames(request, parts);
  const config = tool === unknownTool ? undefined : parts.config.servers.get(server);
  parts.ledger.called({ server, tool, entry: config && entryKeyOf(parts.config, config) }, use);
}

function isError(value: CallValue | undefined): boolean {
  return value !== undefined && "result" in value && value.result["isError"] === true;
}

function charsOf(value: CallValue): number {
  if (!("result" in value)) return textOf(value).length;
  const { result } = value;
  return charsOfResult(result["content"] ?? result["contents"] ?? messagesOf(result));
}

/** Large content is counted as text, without parsing it. */
function charsOfResult(blocks: unknown): number {
  return blocks instanceof LargeJson ? (blocks.text ?? blocks.json).length : charsOfBlocks(blocks);
}

function messagesOf(prompt: JsonObject): unknown {
  return objectsOf(prompt["messages"]).map(({ content }) => content);
}

/** The names of a call's server and tool. An unknown name could be anything, so a placeholder is stored in its place. */
export function usedNames(
  { namespace, group, name }: Pick<CallRequest, "namespace" | "group" | "name">,
  { config, catalog }: Parts,
): { server: string; tool: string } {
  const server = config.servers.has(namespace) ? namespace : unknownTool;
  if (group !== "tools") return { server, tool: isKnownFunction(group, name) ? `${group}.${name}` : unknownTool };
  const known = catalog.findWithDenied(namespace);
  return { server, tool: (known && findTool(known, name))?.name ?? unknownTool };
}
