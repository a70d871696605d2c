/** The program of an execution that has ended, so that it can be saved under a name. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { toolId } from "../../tools/model.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import { aboutRequest } from "../execution/stored-executions.ts";
import type { ExecutionRecord } from "../trace/record.ts";
import { readRecord, readSummaries } from "../trace/store.ts";
import { withoutFunction } from "./last-programs.ts";

export interface ExecutedProgram {
  code: string;
  /** The ids of what it called, if they were recorded. */
  calls?: string[] | undefined;
  /** What its session had read when it ended. */
  labels: Read[];
  /** Undefined if it was not recorded with its contents. */
  record?: ExecutionRecord | undefined;
}

/**
 * The code of an execution, from its record or from the store. `last` is the newest of the config, or of its door, that worked. Throws
 * EXECUTION_NOT_FOUND if the whole code is in neither.
 */
export async function executedProgram(
  wanted: string,
  parts: ExecutionParts,
  { stored }: Pick<Executions, "stored">,
): Promise<ExecutedProgram> {
  const rows = (await stored.list(parts)).filter(({ state, isOk }) => state === "ended" && isOk);
  const id =
    wanted === "last"
      ? await lastOf(
          parts,
          rows.filter((row) => stored.isOfView(row)),
        )
      : wanted;
  const record = id === undefined ? undefined : await readRecord(parts.store, id);
  const { chars = 0, text: code } = record?.code ?? {};
  if (record && code !== undefined && code.length === chars) {
    const labels = (record.labels ?? []) as Read[];
    const calls = record.timeline.map(({ server, tool }) => withoutFunction(toolId(server, tool)));
    return { code, calls, labels, record };
  }
  const row = rows.find((each) => each.id === id);
  if (row) return { code: aboutRequest(row.request).code, labels: await parts.sessions.ofExecution(row.id) };
  const what =
    wanted === "last"
      ? "The code of no execution that worked is stored"
      : `The code of the execution "${wanted}" is not stored`;
  throw new ClaudikinsError("EXECUTION_NOT_FOUND", what, {
    hint: "Save the program from its file, or run it again with exec --record. Agents save their last program with programs.save.",
  });
}

async function lastOf({ store, config }: ExecutionParts, rows: readonly { id: string }[]): Promise<string | undefined> {
  const owner = configOwner(config.origin);
  const recorded = (await readSummaries(store)).filter(
    ({ ok, hasContents, program, ...each }) =>
      ok &&
      hasContents &&
      program === undefined &&
      each.config === owner &&
      each.door === config.door &&
      each.person?.id === config.person?.id,
  );
  const [newest] = [...recorded, ...rows].sort((a, b) => (a.id < b.id ? 1 : -1));
  return newest?.id;
}
