/** The contents of an execution that is compared. The record has them, or the store if it was a program in the background. */
import { ClaudikinsError } from "../../base/errors.ts";
import { indentedJson } from "../../base/json-object.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import { programAgain } from "../execution/run-again.ts";
import type { ExecutionRecord } from "../trace/record.ts";

/** Characters of a code, a value or logs that are compared. */
const maxComparedChars = 200_000;

export interface ComparedText {
  text: string;
  /** False if only the beginning is known. */
  isWhole: boolean;
}

export interface ComparedExecution {
  record: ExecutionRecord;
  /** Undefined if it is not stored, as for the others. */
  code: ComparedText | undefined;
  /** What was returned. Empty for a failure. */
  value: ComparedText | undefined;
  /** One line for each line of the logs. */
  logs: ComparedText | undefined;
}

/** The contents that were recorded. */
export function recordedContents(record: ExecutionRecord): ComparedExecution {
  const { code, ok, hasContents, value, logs } = record;
  const isWithoutValue = !ok || (hasContents && value === undefined);
  return {
    record,
    code: code.text === undefined ? undefined : beginningOf(code.text, code.text.length === code.chars),
    value: isWithoutValue ? beginningOf("") : value && valueText(value.text, value.isWhole),
    logs: logs.lines === 0 ? beginningOf("") : logs.entries && logText(logs.entries),
  };
}

/** The same with what only the store has: programs in the background keep their code and their outcome. */
export async function storedContents(
  record: ExecutionRecord,
  parts: ExecutionParts,
  executions: Pick<Executions, "stored">,
): Promise<ComparedExecution> {
  const known = recordedContents(record);
  const { id } = record;
  if (!known.code) {
    const again = await orNothing(programAgain(id, parts, executions, { isDryRun: true }));
    known.code = again && beginningOf(again.source);
  }
  if (known.value && known.logs) return known;
  const outcome = await orNothing(executions.stored.outcomeOf(id, parts));
  if (outcome?.ok) known.value ??= valueText(outcome.json ?? JSON.stringify(outcome.value) ?? "");
  if (outcome) known.logs ??= logText(outcome.logs);
  return known;
}

/** Undefined if the execution is not in the store. */
async function orNothing<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ClaudikinsError) return undefined;
    throw error;
  }
}

function valueText(json: string, isWhole = true): ComparedText {
  return beginningOf(isWhole && json.length <= maxComparedChars ? indentedJson(json) : json, isWhole);
}

function logText(entries: readonly { level: string; text: string }[]): ComparedText {
  return beginningOf(entries.map(({ level, text }) => `${level}: ${text}`).join("\n"));
}

function beginningOf(text: string, isWhole = true): ComparedText {
  return { text: text.slice(0, maxComparedChars), isWhole: isWhole && text.length <= maxComparedChars };
}
