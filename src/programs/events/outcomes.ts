/** The outcomes of saved programs, as events for the programs that follow them. */
import { dayMs, megabyte } from "../../base/units.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { executionHolder } from "../../store/labels.ts";
import type { Store } from "../../store/store.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import type { Summary } from "../trace/record.ts";
import type { OfferedEvent } from "./event-queue.ts";
import { hasSchedules } from "./places.ts";
import type { OutcomeSource, ProgramState, Trigger } from "./stored-triggers.ts";

/** How old an outcome may be. Deliveries are kept for longer, so that none starts a program twice. */
const outcomeAgeMs = dayMs;

/** The longest time from the beginning of a program to its end that is looked for, because a program may wait for a person. */
const longestRunMs = 14 * dayMs;

/** Runs of the followed programs that are read with each look, every few seconds. The newest count. */
const maxFollowedRuns = 200;

/** Size of a value as JSON that the next program gets. It gets a note in the place of a larger one. */
const maxPassedValueBytes = megabyte;

/** What has become of a program. */
export interface ProgramNews {
  program: string;
  state: ProgramState;
  /** The name of the event: always the same for the same news. */
  event: string;
  /** Undefined if it was not begun. */
  execution?: string | undefined;
  /** Undefined if it is not stored. */
  outcome?: Outcome | undefined;
  /** Why it was not begun, or why it waits. */
  why?: string | undefined;
}

type OutcomeTrigger = Trigger & { on: OutcomeSource };

export function follows({ on }: Trigger, { program, state }: ProgramNews): boolean {
  if (on.kind !== "after" || on.program !== program) return false;
  return on.when ? on.when.includes(state) : state !== "waiting";
}

/** The programs that have ended since the triggers were added, however they were started, in the order in which they began. */
export async function endedPrograms(
  triggers: readonly OutcomeTrigger[],
  { store, config: { origin, door } }: Pick<ExecutionParts, "store" | "config">,
  now: number,
): Promise<ProgramNews[]> {
  const { readActivity } = await import("../trace/store.ts");
  const names = new Set(triggers.map(({ on }) => on.program));
  const since = sinceOf(triggers, now);
  const owner = configOwner(origin);
  const isOurs = (each: Summary): each is Summary & { program: string } =>
    names.has(each.program ?? "") && !each.dryRun && each.config === owner && each.door === door && !each.person;
  const filter = { config: owner, programs: [...names], since: since - longestRunMs };
  const found = (await readActivity(store, filter, { limit: maxFollowedRuns })).filter(isOurs);
  const ended = found.filter(({ at, durationMs }) => at + durationMs >= since);
  return ended.map(({ id, program, ok }) => newsOf(id, program, ok)).reverse();
}

export function newsOf(execution: string, program: string, ok: boolean, outcome?: Outcome): ProgramNews {
  return { execution, program, state: ok ? "done" : "failed", event: execution, outcome };
}

function sinceOf(triggers: readonly OutcomeTrigger[], now: number): number {
  return Math.max(now - outcomeAgeMs, Math.min(...triggers.map(({ createdAt }) => createdAt)));
}

/** The programs that wait for a person, each once for a question. The user decides about them, so that nobody else's are among them. */
export async function waitingPrograms(
  triggers: readonly OutcomeTrigger[],
  { store, config: { origin, door } }: Pick<ExecutionParts, "store" | "config">,
): Promise<ProgramNews[]> {
  const names = new Set(triggers.filter(({ on }) => on.when?.includes("waiting")).map(({ on }) => on.program));
  if (names.size === 0) return [];
  const open = await store.approvals.list({ state: "open", config: configOwner(origin) });
  const found: ProgramNews[] = [];
  for (const { id, execution, told, server, tool, ...asked } of open) {
    if (asked.door !== (door ?? null) || asked.person !== null) continue;
    const program = await programOf(execution, names, store);
    if (program === undefined) continue;
    found.push({
      program,
      state: "waiting",
      event: `${execution} ${id}`,
      execution,
      why: `${server}.${tool}: ${told}`,
    });
  }
  return found;
}

/** The saved program that an execution is, or that has called it. */
async function programOf(execution: string, names: ReadonlySet<string>, { executions }: Pick<Store, "executions">) {
  for (let id = execution; id !== ""; id = id.slice(0, Math.max(0, id.lastIndexOf("-")))) {
    const row = await executions.get(id);
    const { program } = row ? (JSON.parse(row.request) as { program?: { name: string } }) : {};
    if (program && names.has(program.name)) return program.name;
  }
  return undefined;
}

/** The times at which a program was not begun, because something was wrong with it. */
export async function unbegunPrograms(
  triggers: readonly OutcomeTrigger[],
  place: SavedProgramsPlace,
  now: number,
): Promise<ProgramNews[]> {
  if (!hasSchedules(place)) return [];
  const { Schedules } = await import("../saved/schedules.ts");
  const names = new Set(triggers.map(({ on }) => on.program));
  const since = sinceOf(triggers, now);
  return new Schedules(place).all().flatMap(({ id, program, lastRun }): ProgramNews[] => {
    const { execution, end, due } = lastRun ?? {};
    if (!end || execution !== undefined || end.ok || end.at < since || !names.has(program)) return [];
    return [{ program, state: "failed", event: `${id} ${due}`, why: end.message }];
  });
}

/**
 * The event that something has become of a program. Whoever gets its value has read what the program had read. Without contents, the event has
 * names and ids alone.
 */
export async function outcomeEvent(
  { execution, program, state, event, outcome: known, why }: ProgramNews,
  executions: Executions,
  parts: ExecutionParts,
  { hasContents }: { hasContents: boolean },
): Promise<OfferedEvent> {
  const { store } = parts;
  const of = execution === undefined ? {} : { execution };
  const about = { kind: "outcome", program, state, ...of };
  const depth = execution === undefined ? 1 : 1 + (await depthOf(execution, store));
  if (!hasContents) return { name: event, content: about, depth };
  const told = why === undefined ? {} : { error: { name: "Error", message: why } };
  if (execution === undefined || state === "waiting") return { name: event, content: { ...about, ...told }, depth };
  const outcome = known ?? (await executions.stored.outcomeOf(execution, parts).catch(() => undefined));
  const { readRecord } = await import("../trace/store.ts");
  const stored = await store.labels.of({ holders: [executionHolder(execution)] });
  const recorded = (await readRecord(store, execution))?.labels ?? [];
  const result =
    outcome === undefined ? {} : outcome.ok ? passedValue(outcome.value) : { error: errorOf(outcome.error) };
  return {
    name: event,
    content: { ...about, ...result },
    labels: [...recorded, ...(stored as Read[])],
    depth,
  };
}

function passedValue(value: unknown): { value: unknown } | { tooLarge: number } {
  const size = Buffer.byteLength(JSON.stringify(value) ?? "");
  return size > maxPassedValueBytes ? { tooLarge: size } : { value };
}

function errorOf({ name, message, code }: { name: string; message: string; code?: string | undefined }) {
  return { name, message, ...(code === undefined ? {} : { code }) };
}

/** The depth of the delivery that has started the execution, or the program that called it. 0 if an event has not. */
async function depthOf(execution: string, { deliveries }: Pick<Store, "deliveries">): Promise<number> {
  const [root = execution] = execution.split("-", 1);
  return (await deliveries.ofExecution(root))?.depth ?? 0;
}
