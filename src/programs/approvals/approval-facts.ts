/**
 * The facts with which a person decides about a call that waits: who asks, the labelled data that its program or its session had read, and
 * how its arguments differ from the last approved call of the same tool. All of them are read from what is stored anyway.
 */
import { parseExact } from "../../base/exact-json.ts";
import type { Approvals } from "../../policy/approvals/approvals.ts";
import { type Approval, hasWhole } from "../../store/approval.ts";
import { executionHolder } from "../../store/labels.ts";
import type { Store } from "../../store/store.ts";
import { aboutRequest } from "../execution/stored-executions.ts";
import { argumentChanges } from "./argument-changes.ts";
import type { ApprovalFacts } from "./facts-shape.ts";

/** Calls of the log of one execution that are looked through for what it has read. */
const maxLookedCalls = 1_000;

/** Calls that are named for one source. The first ones count. */
const maxNamedReads = 5;

/** `whole` are all arguments as JSON, if they are kept. */
export async function approvalFacts(
  row: Approval,
  whole: string | undefined,
  approvals: Approvals,
  store: Store,
): Promise<ApprovalFacts> {
  const [asker, reads, lastApproved] = await Promise.all([
    askerOf(row, store),
    readsOf(row, store),
    lastOf(row, whole ?? (hasWhole(row) ? row.excerpt : undefined), approvals),
  ]);
  return { asker, reads, lastApproved };
}

/** A saved program runs within the execution of the program that has called it. */
function rootOf({ execution }: Pick<Approval, "execution">): string {
  return execution.split("-", 1)[0] ?? execution;
}

async function askerOf(row: Approval, { executions }: Store): Promise<ApprovalFacts["asker"]> {
  const stored = (await executions.get(row.execution)) ?? (await executions.get(rootOf(row)));
  if (!stored) return undefined;
  const { startedBy, agent, folder, program } = aboutRequest(stored.request, 0);
  return {
    startedBy,
    ...(agent ? { agent } : {}),
    ...(folder ? { folder } : {}),
    ...(program ? { program } : {}),
  };
}

async function readsOf(row: Approval, { labels, callLog }: Store): Promise<ApprovalFacts["reads"]> {
  const executions = [...new Set([row.execution, rootOf(row)])];
  const found = await labels.of({ holders: executions.map(executionHolder) });
  const sources = [...new Map(found.map((each) => [`${each.label} ${each.source}`, each])).values()];
  if (sources.length === 0) return [];
  const filter = { config: row.config ?? undefined };
  const calls = (
    await Promise.all(
      executions.map((execution) =>
        callLog.read({ ...filter, execution }, { order: "oldest first", limit: maxLookedCalls }),
      ),
    )
  ).flat();
  return sources.map(({ label, source }) => ({
    label,
    source,
    calls: calls
      .filter(({ server, tool, outcome }) => `${server}.${tool}` === source && outcome === "ok")
      .slice(0, maxNamedReads)
      .map(({ call, at }) => ({ call: call ?? 0, at })),
  }));
}

async function lastOf(
  row: Approval,
  args: string | undefined,
  approvals: Approvals,
): Promise<ApprovalFacts["lastApproved"]> {
  const last = await approvals.lastApproved(row);
  if (!last) return undefined;
  const isWhole = args !== undefined && hasWhole(last);
  const compared = isWhole ? argumentChanges(parseExact(last.excerpt), parseExact(args)) : { changes: [], more: 0 };
  return { id: last.id, decidedAt: last.decidedAt ?? 0, isWhole, ...compared };
}
