/** Compares a tool's definition with the one that was accepted: which changes hold the tool until a person has seen them. */
import type { JsonObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxShownNameChars } from "../limits.ts";
import type { Definition } from "./definition.ts";
import { schemaChanges, textChange } from "./schema-change.ts";

/** Changes of one tool that are named. */
const maxNamedChanges = 10;

/** A hint of MCP, its default, and its value for a tool that is more dangerous. */
const hints: Record<string, { default: boolean; isSafe: boolean }> = {
  readOnlyHint: { default: false, isSafe: true },
  idempotentHint: { default: false, isSafe: true },
  destructiveHint: { default: true, isSafe: false },
  openWorldHint: { default: true, isSafe: false },
};

/** The reasons to hold the tool, as short sentences without their end. Empty if the change passes. */
export function definitionChanges(before: Definition, now: Definition): string[] {
  const all = [
    ...textReasons("title", before.title, now.title),
    ...textReasons("description", before.description, now.description),
    ...schemaChanges(before.inputSchema, now.inputSchema, "arguments"),
    ...resultChanges(before.outputSchema, now.outputSchema),
    ...annotationChanges(before.annotations ?? {}, now.annotations ?? {}),
  ];
  if (all.length <= maxNamedChanges) return all;
  return [...all.slice(0, maxNamedChanges), `and ${all.length - maxNamedChanges} more changes`];
}

function textReasons(part: string, before: string | undefined, now: string | undefined): string[] {
  const change = textChange(before, now);
  return change === undefined ? [] : [`the ${part} was ${change}`];
}

function resultChanges(before: JsonObject | undefined, now: JsonObject | undefined): string[] {
  if (now === undefined) return [];
  return before === undefined ? ["the server describes its results now"] : schemaChanges(before, now, "results");
}

/** A hint that makes the tool look less dangerous holds it. One that makes it look more dangerous passes. */
function annotationChanges(before: JsonObject, now: JsonObject): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) => {
    const [old, value] = [before, now].map((each) => (Object.hasOwn(each, key) ? each[key] : undefined));
    if (Bun.deepEquals(old, value)) return [];
    if (key === "title") return textReasons("title", old as string | undefined, value as string | undefined);
    const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
    if (!hint) return [`the annotation "${oneLine(key, maxShownNameChars)}" changed`];
    const wasSafe = (old ?? hint.default) === hint.isSafe;
    const isSafe = (value ?? hint.default) === hint.isSafe;
    return isSafe && !wasSafe ? [`${key} is ${String(value ?? "not set")} now, so the tool looks safer`] : [];
  });
}
