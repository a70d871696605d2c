/** What the ledger counts: sums, and the uses of each tool. Contents, arguments and code are never kept. */

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
  "failures",
  /** The sum of all calls' durations, also of concurrent calls. */
  "durationMs",
  /** Characters of all results. */
  "resultChars",
  /** Characters of results for agents' code: for each, what a host would have shown if the model had made the call. */
  "takenChars",
  /** Characters of the arguments of these calls. */
  "argumentChars",
] as const;

export type ToolUse = Record<(typeof useNames)[number], number>;

/** Stands for tools that do not exist. */
export const unknownTool = "(unknown)";

/** Stands for the rest if there are too many tools. */
const otherTools = "(others)";

export class Counts {
  readonly sums: Sums = Object.fromEntries(sumNames.map((name) => [name, 0])) as Sums;
  /** First uses of the registry in a session, by the text that led there. */
  readonly hooks = new Map<string, number>();
  /** By server and tool. */
  readonly tools = new Map<string, Map<string, ToolUse>>();

  /** Reads the output of `toJson`. Throws for anything else. */
  static from(json: unknown): Counts {
    const { sums = {}, hooks = [], tools = [] } = json as CountsJson;
    const counts = new Counts();
    for (const name of sumNames) counts.sums[name] = number(sums[name] ?? 0);
    for (const [hook, count] of hooks) counts.addHook(text(hook), number(count));
    for (const [server, tool, ...values] of tools) {
      const use = Object.fromEntries(useNames.map((name, place) => [name, number(values[place] ?? 0)]));
      counts.addUse(text(server), text(tool), use as unknown as ToolUse);
    }
    return counts;
  }

  /** Zero counts are omitted. */
  toJson(): CountsJson {
    const sums = Object.entries(this.sums).filter(([, value]) => value !== 0);
    const tools = this.uses().map(([server, tool, use]): ToolRow => {
      const values = useNames.map((name) => Math.round(use[name]));
      return [server, tool, ...values];
    });
    return {
      ...(sums.length > 0 ? { sums: Object.fromEntries(sums) } : {}),
      ...(this.hooks.size > 0 ? { hooks: [...this.hooks].sort() } : {}),
      ...(tools.length > 0 ? { tools } : {}),
    };
  }

  get isEmpty(): boolean {
    return this.tools.size === 0 && this.hooks.size === 0 && Object.values(this.sums).every((value) => value === 0);
  }

  /** Sorted by server and tool. */
  uses(): [server: string, tool: string, use: ToolUse][] {
    const all = [...this.tools].flatMap(([server, tools]) =>
      [...tools].map(([tool, use]): [string, string, ToolUse] => [server, tool, use]),
    );
    return all.sort(([a, b], [c, d]) => (a < c || (a === c && b < d) ? -1 : 1));
  }

  add({ sums, hooks, tools }: Counts): void {
    this.addSums(sums);
    for (const [hook, count] of hooks) this.addHook(hook, count);
    for (const [server, uses] of tools) for (const [tool, use] of uses) this.addUse(server, tool, use);
  }

  addSums(sums: Partial<Sums>): void {
    for (const name of sumNames) this.sums[name] += sums[name] ?? 0;
  }

  addHook(hook: string, count: number): void {
    this.hooks.set(hook, (this.hooks.get(hook) ?? 0) + count);
  }

  addUse(server: string, tool: string, use: ToolUse): void {
    const tools = this.tools.get(server) ?? new Map<string, ToolUse>();
    this.tools.set(server, tools);
    const known = tools.get(tool);
    if (!known) tools.set(tool, { ...use });
    else for (const name of useNames) known[name] += use[name];
  }

  /** Keeps `maxTools` tools; those with the fewest calls are summed up. */
  bounded(maxTools: number): Counts {
    const uses = this.uses();
    if (uses.length <= maxTools) return this;
    const counts = new Counts();
    counts.addSums(this.sums);
    for (const [hook, count] of this.hooks) counts.addHook(hook, count);
    const byCalls = uses.toSorted(([, , a], [, , b]) => b.calls - a.calls);
    for (const [place, [server, tool, use]] of byCalls.entries()) {
      if (place < maxTools - 1) counts.addUse(server, tool, use);
      else counts.addUse(otherTools, otherTools, use);
    }
    return counts;
  }
}

type ToolRow = [server: string, tool: string, ...values: number[]];

export interface CountsJson {
  sums?: Partial<Sums>;
  hooks?: [hook: string, count: number][];
  tools?: ToolRow[];
}

function number(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new Error("not a number");
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Error("not a text");
}
