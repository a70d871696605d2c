/** Executions as lists show them: stored and recorded ones, each once and with one state. */
import type { Person } from "../../config/oidc.ts";
import type { BriefExecution } from "../../store/executions.ts";
import { toIdentifier } from "../../tools/names.ts";
import type { StartedBy, Summary } from "../trace/record.ts";
import { type ExecutionState, stateOf, stateOfRecord } from "./execution-state.ts";
import type { Executions } from "./executions.ts";
import type { AboutProgram } from "./stored-executions.ts";

export interface ListedExecution {
  id: string;
  /** In milliseconds since 1970. */
  startedAt: number;
  state: ExecutionState;
  startedBy: StartedBy;
  /** The config file; null for the demo. */
  config: string | null;
  /** The door of the config behind which it was started. */
  door?: string | undefined;
  /** The person for whom it was started. */
  person?: Person | undefined;
  /** The agent, as it names itself. */
  agent?: string | undefined;
  /** The working folder. */
  folder?: string | undefined;
  /** The comment at the beginning of its code, if the code is stored. */
  comment?: string | undefined;
  /** The name of the saved program that it is. */
  program?: string | undefined;
  /** The id of the execution whose code it runs again. */
  repeats?: string | undefined;
  /** The session of the agent, by a short name. */
  session?: string | undefined;
  /** The beginning of its program, for a stored one; for a saved program, its name. */
  code?: string | undefined;
  durationMs?: number | undefined;
  /** The figures of its record. */
  summary?: Summary | undefined;
}

export async function storedExecution(
  row: BriefExecution,
  { code, program, door, person, startedBy, isDryRun, ...about }: AboutProgram,
  executions: Executions,
): Promise<ListedExecution> {
  const { id, startedAt, changedAt, config } = row;
  const state = { ...stateOf(await executions.progressOf(row)), ...(isDryRun ? { dryRun: true as const } : {}) };
  const durationMs = state.state === "ended" ? changedAt - startedAt : undefined;
  return {
    id,
    startedAt,
    state,
    startedBy,
    config,
    door,
    person,
    agent: about.agent,
    folder: about.folder,
    comment: about.comment,
    program,
    repeats: about.repeats,
    session: about.session,
    code: program === undefined ? code : calledAs(program),
    durationMs,
  };
}

/** With the ids of the open approvals that each of them waits for. */
export function withApprovals(
  stored: readonly ListedExecution[],
  open: readonly { id: string; execution: string }[],
): ListedExecution[] {
  const waited = Map.groupBy(open, ({ execution }) => execution);
  return stored.map((each) => {
    const approvals = waited.get(each.id)?.map(({ id }) => id) ?? [];
    // An approval may be withdrawn a moment after its execution has ended.
    return isOpen(each) ? { ...each, state: { ...each.state, approvals } } : each;
  });
}

function recordedExecution(summary: Summary): ListedExecution {
  const { id, at, startedBy, program, repeats, session, config, door, person, durationMs, agent, folder, comment } =
    summary;
  const code = program === undefined ? undefined : calledAs(program);
  const state = stateOfRecord(summary);
  const known = { startedBy, config, door, person, agent, folder, comment, program, repeats, session, code };
  return { id, startedAt: at, state, ...known, durationMs, summary };
}

/** Lists show the name of a saved program instead of its code. */
function calledAs(program: string): string {
  return `programs.${toIdentifier(program)}`;
}

/**
 * Joins both lists: executions that run or wait come first, then the newest. A record has more figures than the store, but counts only for
 * an execution that has ended.
 */
export function joined(stored: readonly ListedExecution[], recorded: readonly Summary[]): ListedExecution[] {
  const open = stored.filter(isOpen);
  const isOfOpen = new Set(open.map(({ id }) => id));
  const same = new Map(stored.map((each) => [each.id, each]));
  const shown = recorded
    .filter(({ id }) => !isOfOpen.has(id))
    .map(recordedExecution)
    .map((each) => {
      const { code, comment } = same.get(each.id) ?? {};
      return { ...each, code: each.code ?? code, comment: each.comment ?? comment };
    });
  const isShown = new Set(shown.map(({ id }) => id));
  const ended = stored.filter((each) => !isOpen(each) && !isShown.has(each.id));
  return [...newestFirst(open), ...newestFirst([...ended, ...shown])];
}

export function isOpen({ state }: ListedExecution): boolean {
  return state.state !== "ended" && state.state !== "lost";
}

function newestFirst(executions: ListedExecution[]): ListedExecution[] {
  return executions.sort((one, other) => other.startedAt - one.startedAt);
}
