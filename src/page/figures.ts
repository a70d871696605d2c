/** Reads the ledger and the call log for the figures of the page, with the functions of `claudikins stats` and `claudikins calls figures`. */
import { messageOf } from "../base/errors.ts";
import { type CallFigures, callFigures } from "../programs/call-log/figures.ts";
import { type Statistics, statisticsOf } from "../programs/ledger/statistics.ts";
import { type Periods, readCounts } from "../programs/ledger/store.ts";
import { defaultDays, ledgerKeptDays } from "../programs/limits.ts";
import type { Store } from "../store/store.ts";
import type { PageFigures, PageUseFigures } from "./activity-contract.ts";
import { RefusedRequest } from "./guard.ts";

/** Days including today, or null for all. Throws RefusedRequest. */
export function daysIn(search: URLSearchParams): number | null {
  const text = search.get("days") ?? String(defaultDays);
  if (text === "all") return null;
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= ledgerKeptDays) return days;
  throw new RefusedRequest(400, `The days are a number from 1 to ${ledgerKeptDays}, or all`);
}

/** The calls of all projects of the user. */
export async function readFigures(
  days: number | null,
  store: Pick<Store, "counts" | "callLog">,
  now = new Date(),
): Promise<PageFigures> {
  const { periods, problems } = await readCounts(store as Store).catch((error: unknown) => ({
    periods: new Map() as Periods,
    problems: [messageOf(error)],
  }));
  const chosen = days ?? undefined;
  const { total, periods: shown, tools } = statisticsOf(periods, { days: chosen, now });
  const log = await callFigures(store.callLog, { since: startOf(days, now) }, [
    "tool",
    "server",
    "agent",
    "door",
    "person",
    "program",
  ]);
  const { sessions, executions, shellExecutions, searches, calls, failures, denied, durationMs, tokens } = total;
  const servers = [...new Set(tools.map(({ server }) => server))].map((server) => {
    const own = statisticsOf(periods, { days: chosen, server, now });
    return { server, ...sumOf(own) };
  });
  const lastBefore = calls > 0 ? undefined : lastCalled(periods);
  return {
    days,
    periods: shown.map((each) => ({
      period: each.period,
      calls: each.calls,
      failures: each.failures,
      denied: each.denied,
      durationMs: each.durationMs,
      keptOut: each.tokens.keptOut,
    })),
    total: {
      ...{ sessions, executions, shellExecutions, searches, calls, failures, denied, durationMs },
      keptOut: tokens.keptOut,
      without: tokens.all.without,
    },
    tools: timed(
      tools.map(({ resultChars: _, ...tool }) => tool),
      log.tool,
    ),
    servers: timed(
      servers.sort((one, other) => other.calls - one.calls),
      log.server,
    ),
    agents: log.agent.map(callerOf),
    doors: named(log.door),
    people: named(log.person),
    programs: named(log.program),
    lastBefore,
    problems,
  };
}

/** The local midnight with which the first day begins. */
function startOf(days: number | null, now: Date): number | undefined {
  return days === null ? undefined : new Date(now.getFullYear(), now.getMonth(), now.getDate() - (days - 1)).getTime();
}

function sumOf({ total, tools }: Statistics): Omit<PageUseFigures, "server" | "p50Ms" | "p95Ms"> {
  const { calls, failures, denied, durationMs } = total;
  return {
    calls,
    failures,
    denied,
    durationMs,
    takenTokens: tools.reduce((sum, { takenTokens }) => sum + takenTokens, 0),
  };
}

function timed(uses: Omit<PageUseFigures, "p50Ms" | "p95Ms">[], log: readonly CallFigures[]): PageUseFigures[] {
  const keyOf = (server: string | null | undefined, tool: string | undefined) => JSON.stringify([server, tool]);
  const byName = new Map(log.map((each) => [keyOf(each.server ?? each.name, each.tool), each]));
  return uses.map((use) => {
    const { p50Ms = null, p95Ms = null } = byName.get(keyOf(use.server, use.tool)) ?? {};
    return { ...use, p50Ms, p95Ms };
  });
}

function callerOf({ name, calls, failures, denied, executions, roundTrips, durationMs, p50Ms, p95Ms }: CallFigures) {
  return { name, calls, failures, denied, executions, roundTrips, durationMs, p50Ms, p95Ms };
}

/** Empty if no call has a name: nobody uses doors, for example. */
function named(log: readonly CallFigures[]) {
  return log.some(({ name }) => name !== null) ? log.map(callerOf) : [];
}

function lastCalled(periods: Periods): string | undefined {
  const called = [...periods].filter(([, counts]) => counts.tools.size > 0).map(([period]) => period);
  return called.sort().at(-1);
}
