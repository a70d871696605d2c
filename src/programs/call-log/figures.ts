/** Sums up the call log: the calls of each tool, server, agent, door, person and program, and how long they took. */
import { eventLoopTurn } from "../../base/event-loop.ts";
import {
  about,
  either,
  list,
  named,
  nothing,
  number,
  record,
  text,
  time,
  type ValueOf,
} from "../../base/json-shape.ts";
import {
  type CallFilter,
  type CallLogRows,
  eachCall,
  maxCallsReadAtOnce,
  type StoredCall,
} from "../../store/call-log.ts";
import { toolId } from "../../tools/model.ts";

export const callGroups = ["tool", "server", "agent", "door", "person", "program"] as const;
export type CallGroup = (typeof callGroups)[number];

export const callFiguresShape = named(
  "CallFigures",
  record({
    name: about("The tool, the agent and so on; null for the calls without one", either(text, nothing)),
    "server?": about("Of a tool", text),
    "tool?": about("The tool's own name", text),
    calls: number,
    failures: about("Calls with another outcome than ok, without the denied ones", number),
    denied: about("Calls that the policy or a person denied", number),
    executions: about("Executions that made the calls", number),
    roundTrips: about("Executions, and single calls of agents and commands", number),
    durationMs: about("The sum of all durations, also of concurrent calls", number),
    p50Ms: about(
      "Half of the calls that were sent took at most this long; null if none was sent",
      either(number, nothing),
    ),
    p95Ms: about("The same for 95 of 100", either(number, nothing)),
    resultBytes: about("About the bytes of all results", number),
    lastAt: about("When the last call was made", time),
  }),
);
export type CallFigures = ValueOf<typeof callFiguresShape>;

export const callFiguresKeys = { figures: list(callFiguresShape) };

/** The words for calls that no agent has made. */
export const starterTexts: Record<StoredCall["startedBy"], string> = {
  exec: "claudikins exec",
  serve: "an agent",
  schedule: "a schedule",
  event: "an event",
  call: "claudikins call",
};

interface Named {
  key: string;
  name: string;
  of?: { server: string; tool: string };
}

/** The group of a call, of each kind. People are told apart by their ids. Undefined if the call has none. */
const groupsOf: Record<CallGroup, (call: StoredCall) => Named | undefined> = {
  tool: ({ server, tool }) => ({
    key: JSON.stringify([server, tool]),
    name: toolId(server, tool),
    of: { server, tool },
  }),
  server: ({ server }) => ofName(server),
  agent: ({ agent, startedBy }) => ofName(agent ?? starterTexts[startedBy]),
  door: ({ door }) => ofName(door),
  person: ({ person, personName, token }) =>
    person === null ? ofName(token && `token ${token}`) : { key: person, name: personName ?? person },
  program: ({ program }) => ofName(program),
};

const ofName = (name: string | null): Named | undefined => (name === null ? undefined : { key: name, name });

class Group {
  readonly #executions = new Set<string>();
  readonly #sentMs: number[] = [];
  #named: Named | undefined;
  #calls = 0;
  #failures = 0;
  #denied = 0;
  #singles = 0;
  #durationMs = 0;
  #resultBytes = 0;
  #lastAt = 0;

  add(call: StoredCall, named: Named | undefined): void {
    const { execution, durationMs } = call;
    this.#named = named;
    this.#calls += 1;
    this.#durationMs += durationMs;
    this.#resultBytes += call.resultBytes;
    this.#lastAt = Math.max(this.#lastAt, call.at);
    if (call.outcome === "denied") this.#denied += 1;
    else if (call.outcome !== "ok") this.#failures += 1;
    if (execution === null) this.#singles += 1;
    else this.#executions.add(execution);
    if (call.sent > 0) this.#sentMs.push(durationMs);
  }

  get figures(): CallFigures {
    const sorted = this.#sentMs.sort((one, other) => one - other);
    /** The nearest rank: one of the durations. */
    const share = (percent: number) => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? null;
    return {
      name: this.#named?.name ?? null,
      ...this.#named?.of,
      calls: this.#calls,
      failures: this.#failures,
      denied: this.#denied,
      executions: this.#executions.size,
      roundTrips: this.#executions.size + this.#singles,
      durationMs: Math.round(this.#durationMs),
      p50Ms: share(50),
      p95Ms: share(95),
      resultBytes: this.#resultBytes,
      lastAt: this.#lastAt,
    };
  }
}

/** The figures of each group, those with the most calls first. Reads the log once, in parts, so that other work goes on. */
export async function callFigures<By extends CallGroup>(
  rows: Pick<CallLogRows, "read">,
  filter: CallFilter,
  by: readonly By[],
): Promise<Record<By, CallFigures[]>> {
  const all = by.map((group) => ({ group, groups: new Map<string | null, Group>() }));
  let read = 0;
  for await (const call of eachCall(rows, filter, "oldest first")) {
    for (const { group, groups } of all) {
      const named = groupsOf[group](call);
      groups.getOrInsertComputed(named?.key ?? null, () => new Group()).add(call, named);
    }
    if (++read % maxCallsReadAtOnce === 0) await eventLoopTurn();
  }
  return Object.fromEntries(
    all.map(({ group, groups }) => [
      group,
      [...groups.values()]
        .map(({ figures }) => figures)
        .sort((one, other) => other.calls - one.calls || inOrder(one, other)),
    ]),
  ) as Record<By, CallFigures[]>;
}

function inOrder({ name: one }: CallFigures, { name: other }: CallFigures): number {
  return (one ?? "") < (other ?? "") ? -1 : 1;
}
