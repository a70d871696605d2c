/** The outcomes of saved programs, as events for the programs that follow them. */
import { dayMs, megabyte } from "../../base/units.ts";
import type { Read } from "../../policy/flow/session-reads.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { configOwner } from "../../servers/logs/place.ts";
import { executionHolder } from "../../store/labels.ts";
import type { Store } from "../../store/store.ts";
import type { ExecutionParts } from "../execute.ts";
import type { Executions } from "../execution/executions.ts";
import type { Summary } from "../trace/record.ts";
import type { OfferedEvent } from "./event-queue.ts";
import type { OutcomeSource, Trigger } from "./triggers.ts";

/** How old an outcome may be. Deliveries are kept for longer, so that none starts a program twice. */
const outcomeAgeMs = dayMs;

/** Size of a value as JSON that the next program gets. It gets a note in the place of a larger one. */
const maxPassedValueBytes = megabyte;

/** A program that has ended. */
export interface EndedProgram {
  execution: string;
  program: string;
  ok: boolean;
  /** Undefined if it is not stored. */
  outcome?: Outcome | undefined;
}

export function follows({ on }: Trigger, { program, ok }: EndedProgram): boolean {
  if (on.kind !== "after" || on.program !== program) return false;
  return on.if === undefined || (on.if === "done") === ok;
}

/** The programs that have ended since the triggers were added, however they were started, in the order in which they began. */
export async function endedPrograms(
  triggers: readonly (Trigger & { on: OutcomeSource })[],
  { store, config: { origin, door } }: Pick<ExecutionParts, "store" | "config">,
  now: number,
): Promise<EndedProgram[]> {
  const { readActivity, recordsKept } = await import("../trace/store.ts");
  const names = new Set(triggers.map(({ on }) => on.program));
  const since = Math.max(now - outcomeAgeMs, Math.min(...triggers.map(({ createdAt }) => createdAt)));
  const owner = configOwner(origin);
  const isOurs = (each: Summary): each is Summary & { program: string } =>
    names.has(each.program ?? "") && !each.dryRun && each.config === owner && each.door === door && !each.person;
  const filter = { config: owner, programs: [...names], since };
  const found = (await readActivity(store, filter, { limit: recordsKept.count })).filter(isOurs);
  return found.map(({ id, program, ok }) => ({ execution: id, program, ok })).reverse();
}

/** The event that a program has ended. Whoever gets its value has read what the program had read. */
export async function outcomeEvent(
  { execution, program, ok, outcome: known }: EndedProgram,
  executions: Executions,
  parts: ExecutionParts,
): Promise<OfferedEvent> {
  const outcome = known ?? (await executions.stored.outcomeOf(execution, parts).catch(() => undefined));
  const { store } = parts;
  const { readRecord } = await import("../trace/store.ts");
  const stored = await store.labels.of({ holders: [executionHolder(execution)] });
  const recorded = (await readRecord(store, execution))?.labels ?? [];
  const result =
    outcome === undefined ? {} : outcome.ok ? passedValue(outcome.value) : { error: errorOf(outcome.error) };
  return {
    name: execution,
    content: { kind: "outcome", program, ok, execution, ...result },
    labels: [...recorded, ...(stored as Read[])],
    depth: 1 + (await depthOf(execution, store)),
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
