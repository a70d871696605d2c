/** Lists executions of one config by what they are: with a filter, in pages, those that run or wait first. */
import type { ActivityFilter, ActivityOrder } from "../../store/activity.ts";
import { callsSentence } from "../trace/about.ts";
import { type EndState, endStateOf, endStates } from "../trace/record.ts";
import { searchedIn } from "../trace/store.ts";
import { isOpen, type ListedExecution } from "./listed-executions.ts";

/** `waiting` stands for executions that wait for a person, a timer, or a process. */
export const activityStates = ["running", "waiting", ...endStates] as const;
export type ActivityState = (typeof activityStates)[number];

/** The state by which a list is filtered. */
export function activityState({ state, summary }: ListedExecution): ActivityState {
  if (state.state === "ended") return summary ? endStateOf(summary) : endStateOf({ ...state, ok: state.ok === true });
  if (state.state === "lost") return "failed";
  return state.state === "running" && state.approvals.length === 0 ? "running" : "waiting";
}

/** The states of records among those of a filter. */
export function endStatesIn(states: readonly string[] | undefined): EndState[] | undefined {
  return states && endStates.filter((each) => states.includes(each));
}

/** Whether an execution fits. The same as the condition on records in `store/activity.ts`. */
export function fits(execution: ListedExecution, filter: ActivityFilter): boolean {
  const { config, door, person, agent, programs, states, server, tool, since, until, text } = filter;
  const { summary } = execution;
  const hasTool = (each: { server: string; tool: string }) =>
    each.server === server && (tool === undefined || each.tool === tool);
  return (
    (config === undefined || execution.config === config) &&
    (door === undefined || execution.door === door) &&
    (person === undefined || execution.person?.id === person) &&
    (agent === undefined || execution.agent === agent) &&
    (programs === undefined || programs.includes(execution.program ?? "")) &&
    (states === undefined || states.includes(activityState(execution))) &&
    (server === undefined || (summary?.tools ?? []).some(hasTool)) &&
    (since === undefined || execution.startedAt >= since) &&
    (until === undefined || execution.startedAt < until) &&
    (text === undefined || wordsOf(execution).includes(text.toLowerCase()))
  );
}

function wordsOf(execution: ListedExecution): string {
  return `${searchedIn({ ...execution, tools: execution.summary?.tools }).words}\n${titleOf(execution).toLowerCase()}`;
}

/** What an execution is, in a few words: its comment, its saved program, its calls, or its first line. */
export function titleOf({ comment, program, code = "", summary }: ListedExecution): string {
  if (comment) return comment;
  if (program !== undefined) return program;
  const line = code.trim().split("\n", 1)[0] ?? "";
  if (!summary) return line || "a program";
  return summary.calls === 0 && line !== "" ? line : callsSentence(summary.calls, summary.tools ?? []);
}

/** Executions in the order of lists: those that run or wait, and then the others, in the same order as the records of `store/activity.ts`. */
export function inOrder(executions: readonly ListedExecution[], order: ActivityOrder = "newest"): ListedExecution[] {
  /** The newest id of each session. Ids begin with the time. */
  const newest = new Map<string, string>();
  for (const each of order === "session" ? executions.filter((one) => !isOpen(one)) : []) {
    const session = sessionOf(each);
    if ((newest.get(session) ?? "") < each.id) newest.set(session, each.id);
  }
  const place = (each: ListedExecution) => {
    if (order === "newest" || isOpen(each)) return 0;
    return order === "longest" ? (each.durationMs ?? 0) : (newest.get(sessionOf(each)) ?? "");
  };
  return [...executions].sort(
    (one, other) =>
      Number(isOpen(other)) - Number(isOpen(one)) ||
      compared(place(other), place(one)) ||
      other.startedAt - one.startedAt ||
      compared(other.id, one.id),
  );
}

function compared(one: string | number, other: string | number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The session of an execution. One without a session belongs to the others that the same command started in the same folder. */
function sessionOf({ session, startedBy, folder = "", door = "" }: ListedExecution): string {
  return session ?? [startedBy, folder, door].join("\n");
}
