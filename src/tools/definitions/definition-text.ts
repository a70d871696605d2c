/** A definition as text for people, with a line for each sentence and each value, so that a difference is short. */
import { visibleText } from "../../base/visible-text.ts";
import type { Definition } from "./definition.ts";

/** Characters that are not seen are escaped. Keys are sorted. */
export function definitionText({ title, description, inputSchema, outputSchema, annotations }: Definition): string {
  const parts = [
    ...(title === undefined ? [] : [`title: ${title}`]),
    "description:",
    ...description.split(/\n|(?<=[.!?]) +/).map((line) => `  ${line}`),
    `arguments: ${indented(inputSchema)}`,
    ...(outputSchema ? [`results: ${indented(outputSchema)}`] : []),
    ...(annotations ? [`annotations: ${indented(annotations)}`] : []),
  ];
  return visibleText(`${parts.join("\n")}\n`);
}

function indented(value: unknown): string {
  return JSON.stringify(sorted(value), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, sorted(each)]));
}
