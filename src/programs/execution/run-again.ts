/** The program of an execution, so that it can be run a second time. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { configOwner } from "../../servers/logs/place.ts";
import type { ExecuteRequest, ExecutionParts } from "../execute.ts";
import type { ExecutionRecord } from "../trace/record.ts";
import { readRecord } from "../trace/store.ts";
import type { Executions } from "./executions.ts";
import type { StoredRequest } from "./stored-executions.ts";

export interface ProgramAgain extends Partial<Pick<ExecuteRequest, "limits" | "check">> {
  source: string;
  /** The id of the execution. */
  repeats: string;
  /** What the session had read that wrote the code, and what the program had read. A second run begins with these labels. */
  labels: Read[];
}

/**
 * Finds the whole code in the record of an execution, or in the store. Throws EXECUTION_NOT_FOUND if it is in neither, and USAGE for a run of a saved
 * program, which has rights of its own, unless it is a dry run.
 */
export async function programAgain(
  id: string,
  parts: ExecutionParts,
  { stored }: Pick<Executions, "stored">,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<ProgramAgain> {
  const record = await readRecord(parts.store, id);
  const own = record && isOwn(record, parts) ? record : undefined;
  if (own?.program !== undefined && !isDryRun) throw ofSavedProgram(own.program);
  const { chars = 0, text } = own?.code ?? {};
  if (text !== undefined && text.length === chars)
    return { source: text, repeats: id, labels: (own?.labels ?? []) as Read[] };
  if (own && !(await stored.has(id))) {
    throw new ClaudikinsError("EXECUTION_NOT_FOUND", `The code of the execution "${id}" is not stored`, {
      hint: 'To keep the code from now on: exec --record, serve --record, or "record": "contents" in the config.',
    });
  }
  const { row } = await stored.look(id, parts);
  const { source, program, asked: limits, check } = JSON.parse(row.request) as StoredRequest;
  if (program && !isDryRun) throw ofSavedProgram(program.name);
  return { source, repeats: id, limits, check, labels: await parts.sessions.ofExecution(id) };
}

/** The labels that the code of an execution has, in whatever form and behind whatever door it is run again. */
export async function readsOfExecution(id: string, { store, sessions }: ExecutionParts): Promise<Read[]> {
  const { labels = [] } = (await readRecord(store, id)) ?? {};
  return [...(labels as Read[]), ...(await sessions.ofExecution(id))];
}

function isOwn({ config, door, person }: ExecutionRecord, { config: own }: ExecutionParts): boolean {
  return config === configOwner(own.origin) && door === own.door && person?.id === own.person?.id;
}

function ofSavedProgram(name: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", `This execution is a run of the saved program "${name}"`, {
    hint: `To run that: claudikins programs run ${name}`,
  });
}
