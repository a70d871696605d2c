/**
 * What the ledger counts: sums, the uses of each tool by the names of the server and the tool, and the calls of each tool by the entry of
 * its server. Names are for the user's own figures; only calls of the same entry say anything to an agent. Contents, arguments and code
 * are never kept.
 */

const sumNames = [
  /** Sessions of hosts that listed our tools. */
  "sessions",
  /** JSON characters of the definitions that these sessions would have loaded without claudikins. */
  "definitionChars",
  /** Characters of our definitions and instructions, which they loaded instead. */
  "surfaceChars",
  /** Runs of execute_code, characters of their code, and characters of their answers. */
  "executions",
  "codeChars",
  "returnedChars",
  /** Runs of `claudikins exec`. */
  "shellExecutions",
  /** Calls of search_tools, and characters of their queries and answers. */
  "searches",
  "queryChars",
  "foundChars",
] as const;

export type Sums = Record<(typeof sumNames)[number], number>;

const useNames = [
  "calls",
  /** Without the denied ones. */
  "failures",
  /** The sum of all calls' durations, also of concurrent calls. */
  "durationMs",
  /** Characters of all results. */
  "resultChars",
  /** Characters of results for agents' code: for each, what a host would have shown if the model had made the call. */
  "takenChars",
  /** Characters of the arguments of these calls. */
  "argumentChars",
  /** Calls that the policy or a person denied. */
  "denied",
] as const;

export type CountedUse = Record<(typeof useNames)[number], number>;

/** A use to add. Without `denied`, none was. */
export type AddedUse = Omit<CountedUse, "denied"> & { denied?: number };

/** The part from which an agent's surface is made. A denied call is a failure here. */
export type EntryUse = Pick<CountedUse, "calls" | "failures">;

/** Stands for tools that do not exist. */
export const unknownTool = "(unknown)";

/** Stands for the rest if there are too many tools. */
const otherTools = "(others)";

/** A counted tool in words: its id, unless it stands for others. */
export function countedToolText({ server, tool }: { server: string; tool: string }): string {
  if (server === otherTools) return "other tools";
  if (server === unknownTool) return "unknown servers";
  return tool === unknownTool ? `unknown tools of ${server}` : `${server}.${tool}`;
}

export class Counts {
  readonly sums: Sums = Object.fromEntries(sumNames.map((name) => [name, 0])) as Sums;
  /** First uses of the registry in a session, by the text that led there. */
  readonly hooks = new Map<string, number>();
  /** By server and tool. */
  readonly tools = new Map<string, Map<string, CountedUse>>();
  /** By the key of the server's entry and by tool. */
  readonly entries = new Map<string, Map<string, EntryUse>>();

  /** Reads the output of `toJson`. Throws for anything else. */
  static from(json: unknown): Counts {
    const { sums = {}, hooks = [], tools = [], entries = [] } = json as CountsJson;
    const counts = new Counts();
    for (const name of sumNames) counts.sums[name] = number(sums[name] ?? 0);
    for (const [hook, count] of hooks) counts.addHook(text(hook), number(count));
    for (const [server, tool, ...values] of tools) {
      const use = Object.fromEntries(useNames.map((name, place) => [name, number(values[place] ?? 0)]));
      counts.addUse(text(server), text(tool), use as unknown as CountedUse);
    }
    for (const [entry, tool, calls, failures] of entries) {
      counts.addEntryUse(text(entry), text(tool), { calls: number(calls), failures: number(failures) });
    }
    return counts;
  }

  /** Zero counts are omitted. */
  toJson(): CountsJson {
    const sums = Object.entries(this.sums).filter(([, value]) => value !== 0);
    const tools = this.uses().map(([server, tool, use]): ToolRow => {
      const values = useNames.map((name) => Math.round(use[name]));
      if (use.denied === 0) values.pop();
      return [server, tool, ...values];
    });
    return {
      ...(sums.length > 0 ? { sums: Object.fromEntries(sums) } : {}),
      ...(this.hooks.size > 0 ? { hooks: [...this.hooks].sort() } : {}),
      ...(tools.length > 0 ? { tools } : {}),
      ...(this.entries.size > 0 ? { entries: this.#entryRows() } : {}),
    };
  }

  #entryRows(): EntryRow[] {
    const rows = [...this.entries].flatMap(([entry, tools]) =>
      [...tools].map(([tool, { calls, failures }]): EntryRow => [entry, tool, calls, failures]),
    );
    return rows.sort(([a, b], [c, d]) => (a < c || (a === c && b < d) ? -1 : 1));
  }

  get isEmpty(): boolean {
    const isCalled = this.tools.size > 0 || this.entries.size > 0;
    return !isCalled && this.hooks.size === 0 && Object.values(this.sums).every((value) => value === 0);
  }

  /** Sorted by server and tool. */
  uses(): [server: string, tool: string, use: CountedUse][] {
    const all = [...this.tools].flatMap(([server, tools]) =>
      [...tools].map(([tool, use]): [string, string, CountedUse] => [server, tool, use]),
    );
    return all.sort(([a, b], [c, d]) => (a < c || (a === c && b < d) ? -1 : 1));
  }

  add({ sums, hooks, tools, entries }: Counts): void {
    this.addSums(sums);
    for (const [hook, count] of hooks) this.addHook(hook, count);
    for (const [server, uses] of tools) for (const [tool, use] of uses) this.addUse(server, tool, use);
    for (const [entry, uses] of entries) for (const [tool, use] of uses) this.addEntryUse(entry, tool, use);
  }

  addSums(sums: Partial<Sums>): void {
    for (const name of sumNames) this.sums[name] += sums[name] ?? 0;
  }

  addHook(hook: string, count: number): void {
    this.hooks.set(hook, (this.hooks.get(hook) ?? 0) + count);
  }

  addUse(server: string, tool: string, use: AddedUse): void {
    const tools = this.tools.get(server) ?? new Map<string, CountedUse>();
    this.tools.set(server, tools);
    const known = tools.get(tool);
    if (!known) {
      tools.set(tool, { ...use, denied: use.denied ?? 0 });
      return;
    }
    // Every call comes here, and a loop over names takes three times as long.
    known.calls += use.calls;
    known.failures += use.failures;
    known.durationMs += use.durationMs;
    known.resultChars += use.resultChars;
    known.takenChars += use.takenChars;
    known.argumentChars += use.argumentChars;
    known.denied += use.denied ?? 0;
  }

  addEntryUse(entry: string, tool: string, { calls, failures }: EntryUse): void {
    const tools = this.entries.get(entry) ?? new Map<string, EntryUse>();
    this.entries.set(entry, tools);
    const known = tools.get(tool);
    if (!known) tools.set(tool, { calls, failures });
    else {
      known.calls += calls;
      known.failures += failures;
    }
  }

  /** Keeps `maxTools` tools of each kind. Of those with the fewest calls, names are summed up, and entries are dropped. */
  bounded(maxTools: number): Counts {
    const uses = this.uses();
    const rows = this.#entryRows();
    if (uses.length <= maxTools && rows.length <= maxTools) return this;
    const counts = new Counts();
    counts.addSums(this.sums);
    for (const [hook, count] of this.hooks) counts.addHook(hook, count);
    const byCalls = uses.toSorted(([, , a], [, , b]) => b.calls - a.calls);
    for (const [place, [server, tool, use]] of byCalls.entries()) {
      if (uses.length <= maxTools || place < maxTools - 1) counts.addUse(server, tool, use);
      else counts.addUse(otherTools, otherTools, use);
    }
    for (const [entry, tool, calls, failures] of rows.toSorted((a, b) => b[2] - a[2]).slice(0, maxTools)) {
      counts.addEntryUse(entry, tool, { calls, failures });
    }
    return counts;
  }
}

type ToolRow = [server: string, tool: string, ...values: number[]];

type EntryRow = [entry: string, tool: string, calls: number, failures: number];

export interface CountsJson {
  sums?: Partial<Sums>;
  hooks?: [hook: string, count: number][];
  tools?: ToolRow[];
  entries?: EntryRow[];
}

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error("not a number");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error("not a text");
}
