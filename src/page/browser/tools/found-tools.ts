/** The tools of all servers on the page: loaded, searched as an agent searches, filtered and in order. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { minuteMs } from "../../../base/units.ts";
import type { PageFound, PageSearch, PageToolRow, PageToolTable, PageToolUse } from "../../servers-contract.ts";
import { get } from "../client.ts";
import { type Reason, useLoaded } from "../notice.tsx";
import { compareNames } from "../text.tsx";

/** Silence after which a text is searched. */
const typedMs = 200;

/** How often the calls of the tools are read again while the view is open. */
const usesEveryMs = minuteMs / 4;

export interface ToolQuery {
  text?: string | undefined;
  server?: string | undefined;
  state?: string | undefined;
  effect?: string | undefined;
  label?: string | undefined;
  use?: string | undefined;
  door?: string | undefined;
  order?: string | undefined;
}

export interface ListedTool {
  /** See `keyOf`. */
  key: string;
  row: PageToolRow;
  use: PageToolUse | undefined;
  /** The place in an agent's search, from 1. */
  rank?: number | undefined;
  signature?: string | undefined;
}

/** A line of the list: a tool, something else that agents find, or a sentence between them. */
export type Line = { tool: ListedTool } | { other: PageFound; rank: number } | { heading: string };

export const keyOf = ({ server, name }: Pick<PageToolRow, "server" | "name">) => JSON.stringify([server, name]);

interface FoundTools {
  table: PageToolTable | undefined;
  /** All tools of the table, by their keys. */
  byKey: ReadonlyMap<string, PageToolRow>;
  lines: Line[];
  /** The number of tools among the lines. */
  count: number;
  problem: Reason | undefined;
}

/** The tools are read again when `mark` changes. */
export function useTools(query: ToolQuery, mark: unknown): FoundTools {
  const behind = query.door === undefined ? "" : `?door=${encodeURIComponent(query.door)}`;
  const [table] = useLoaded<PageToolTable>(`policy/tools${behind}`, mark);
  const uses = useUses(behind);
  const { found, problem } = useSearch(query, mark);
  const byKey = useMemo(() => new Map((table?.tools ?? []).map((row) => [keyOf(row), row])), [table]);
  const lines = useMemo(() => (table ? linesOf(byKey, uses, query, found) : []), [byKey, uses, query, found]);
  const count = useMemo(() => lines.filter((line) => "tool" in line).length, [lines]);
  return { table, byKey, lines, count, problem };
}

function useUses(behind: string): ReadonlyMap<string, PageToolUse> {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && setTurn((each) => each + 1), usesEveryMs);
    return () => clearInterval(timer);
  }, []);
  const [uses] = useLoaded<PageToolUse[]>(`policy/uses${behind}`, turn);
  return useMemo(
    () => new Map((uses ?? []).map((use) => [keyOf({ server: use.server, name: use.tool }), use])),
    [uses],
  );
}

function useSearch({ text = "", door }: ToolQuery, mark: unknown) {
  const [found, setFound] = useState<PageSearch>();
  const [problem, setProblem] = useState<Reason>();
  const asked = useRef(0);
  useEffect(() => {
    const number = ++asked.current;
    setProblem(undefined);
    if (text.trim() === "") return setFound(undefined);
    const behind = door === undefined ? {} : { door };
    const load = () =>
      get<PageSearch>(`policy/search?${new URLSearchParams({ query: text, ...behind })}`).then(
        (answer) => number === asked.current && setFound(answer),
        (error: Reason) => number === asked.current && setProblem(error),
      );
    const timer = setTimeout(() => void load(), typedMs);
    return () => clearTimeout(timer);
  }, [text, door, mark]);
  return { found: text.trim() === "" ? undefined : found, problem };
}

function linesOf(
  tools: ReadonlyMap<string, PageToolRow>,
  uses: ReadonlyMap<string, PageToolUse>,
  query: ToolQuery,
  found: PageSearch | undefined,
): Line[] {
  const listed = [...tools].map(([key, row]): ListedTool => ({ key, row, use: uses.get(key) })).filter(fits(query));
  if (!found) return inOrder(listed.filter(hasWords(query.text ?? "")), query.order).map((tool) => ({ tool }));
  const byShown = new Map(listed.map((tool) => [shownKey(tool.row.server, tool.row.shownAs ?? tool.row.name), tool]));
  const ranked = found.found.flatMap((each, place): Line[] => {
    const rank = place + 1;
    if (each.kind !== "tool") return isNarrowed(query) ? [] : [{ other: each, rank }];
    const tool = byShown.get(shownKey(each.server, each.name));
    return tool ? [{ tool: { ...tool, rank, signature: each.signature } }] : [];
  });
  const usual = ranked.filter((line) => rankOf(line) <= found.usual);
  const further = ranked.slice(usual.length);
  const shown = new Set(ranked.flatMap((line) => ("tool" in line ? [line.tool.key] : [])));
  const others = listed.filter((tool) => !shown.has(tool.key)).filter(hasWords(query.text ?? ""));
  const named = inOrder(others, query.order).map((tool): Line => ({ tool }));
  return [
    { heading: found.problem ?? (ranked.length === 0 ? "An agent finds nothing with these words" : "An agent finds") },
    ...usual,
    ...withHeading("An agent finds these if it asks for more", further),
    ...withHeading("Not found by an agent, with these letters", named),
  ];
}

const withHeading = (heading: string, lines: Line[]): Line[] => (lines.length === 0 ? [] : [{ heading }, ...lines]);
const shownKey = (server: string, shown: string) => JSON.stringify([server, shown]);
const rankOf = (line: Line) => ("tool" in line ? (line.tool.rank ?? 0) : "other" in line ? line.rank : 0);
const isNarrowed = ({ server, state, effect, label, use }: ToolQuery) =>
  [server, state, effect, label, use].some(Boolean);

function fits({ server, state, effect, label, use }: ToolQuery): (tool: ListedTool) => boolean {
  return ({ row, use: calls }) =>
    (server === undefined || row.server === server) &&
    (state === undefined || row.state === state) &&
    (effect === undefined || row.effect === effect) &&
    (label === undefined || (label === "rule" ? row.rules.length > 0 : row.labels.some((each) => each === label))) &&
    (use === undefined ||
      (use === "called" ? calls !== undefined : use === "failing" ? (calls?.failures ?? 0) > 0 : calls === undefined));
}

function hasWords(text: string): (tool: ListedTool) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return ({ row: { server, name, shownAs = "", description } }) => {
    const whole = `${server}.${name} ${shownAs} ${description}`.toLowerCase();
    return words.every((word) => whole.includes(word));
  };
}

const orders: Record<string, (tool: ListedTool) => number> = {
  calls: ({ use }) => use?.calls ?? 0,
  failures: ({ use }) => (use ? use.failures / use.calls : 0),
  last: ({ use }) => use?.lastAt ?? 0,
};

/** By a number, the highest first. Without an order, by name within each server. */
function inOrder(tools: ListedTool[], order: string | undefined): ListedTool[] {
  const of = order === undefined ? undefined : orders[order];
  if (of) return tools.toSorted((one, other) => of(other) - of(one));
  const servers = Map.groupBy(tools, ({ row }) => row.server);
  return [...servers.values()].flatMap((own) => own.sort((one, other) => compareNames(one.row.name, other.row.name)));
}
