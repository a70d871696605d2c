/** The context cost of whole tasks: with the servers' own tools, and with search_tools and execute_code. */
import { median } from "./measure.ts";
import { type Other, type Row, rowOf } from "./report.ts";
import type { Measure } from "./section.ts";
import { type Played, playCode, playDirect, tasks } from "./tasks/play.ts";
import { type Searched, withToolSearch } from "./tasks/tool-search.ts";

/** Maximum number of rounds: each starts the servers twice and plays all tasks. */
const maxRounds = 5;

/** The context window of many current models. */
const window = 200_000;

interface Round {
  code: Played;
  /** The same tasks again, with the ledger of the first run. */
  again: Played;
  direct: Played;
}

export const measureTasks: Measure = async (bench) => {
  const rounds: Round[] = [];
  const { least: count } = bench.rounds(maxRounds, 3);
  // The first round warms the machine's caches: its tokens count, its times do not.
  for (let round = 0; round <= count; round++) {
    const direct = await playDirect(bench);
    const { first, again } = await playCode(bench);
    rounds.push({ code: first, again, direct });
  }
  const [{ code, again, direct }] = rounds as [Round];
  const searched = withToolSearch(direct);
  const counted = "once";
  const row = (what: string, unit: Row["unit"], [ours, later, theirs, found]: Figures): Row => ({
    what,
    unit,
    ours,
    others: {
      [withLedger]: beside(ours, later),
      direct: beside(ours, theirs),
      [toolSearch]: { ...beside(ours, found), how: "computed" },
    },
    counted,
  });
  const ofEach = (what: string, unit: Row["unit"], pick: Pick): Row[] => {
    const values = [code, again, direct, searched].map((way) => way.costs.map((cost) => pick(cost, way)));
    const [ours = [], later = [], theirs = [], found = []] = values;
    const figures = (of: (all: number[]) => number): Figures => [of(ours), of(later), of(theirs), of(found)];
    const middle = (others: number[]): Other => ({
      value: median(others),
      ratio: median(ours.map((value, index) => value / others[index]!)),
    });
    return [
      ...tasks.map(({ name }, index) =>
        row(
          `${name}: ${what}`,
          unit,
          figures((all) => all[index]!),
        ),
      ),
      {
        ...row(`all ${tasks.length} tasks: ${what}`, unit, figures(sum)),
        id: `all ${what}`,
      },
      {
        ...row(`the median task: ${what}`, unit, figures(median)),
        others: {
          [withLedger]: middle(later),
          direct: middle(theirs),
          [toolSearch]: { ...middle(found), how: "computed" },
        },
        id: `median ${what}`,
      },
    ];
  };
  const computed = (rows: Row[]) => rows.map((row): Row => ({ ...row, how: "computed" }));
  const wins = (pick: Pick, over: Way) =>
    tasks.filter((_, index) => pick(code.costs[index]!, code) < pick(over.costs[index]!, over)).length;
  const work: Pick = (cost) => cost.workTokens;
  const turns: Pick = (cost) => cost.roundTrips;
  const tooLarge = tasks.filter((_, index) => inContext(direct.costs[index]!, direct) > window);
  return {
    rows: [
      row("definitions, before any work", "tokens", [
        code.definitionTokens,
        again.definitionTokens,
        direct.definitionTokens,
        searched.definitionTokens,
      ]),
      ...ofEach("tokens in the context", "tokens", inContext),
      ...ofEach("tokens without the definitions", "tokens", work),
      ...ofEach("round trips", "round trips", turns),
      ...computed(ofEach("tokens processed", "tokens", (cost) => cost.processedTokens)),
      ...computed([
        winsIn("fewer tokens in the context than tool search", wins(inContext, searched)),
        winsIn("fewer tokens than direct calls, definitions not counted", wins(work, direct)),
        winsIn("fewer round trips than direct calls", wins(turns, direct)),
        winsIn("fewer round trips than tool search", wins(turns, searched)),
      ]),
      ...tasks.map(({ name }, index) => {
        const msOf = (way: keyof Round) => median(rounds.slice(1).map((round) => round[way].costs[index]!.ms));
        const what = `${name}: time in the tools`;
        const counted = `${count} rounds`;
        return {
          what,
          unit: "ms" as const,
          ours: msOf("code"),
          others: { direct: { value: msOf("direct") } },
          counted,
        };
      }),
      rowOf(`all ${tasks.length} tasks: time in the tools`, {
        ours: rounds.slice(1).map((round) => sum(round.code.costs.map(({ ms }) => ms))),
        direct: rounds.slice(1).map((round) => sum(round.direct.costs.map(({ ms }) => ms))),
      }),
    ],
    notes: [
      "Each task is a scripted transcript over real connections to the demo, filesystem, memory and everything servers. No model is involved. All ways must give the same answer.",
      "The first figure is a first day: nothing was called before, and agents know the usual calls of well-known servers. With a ledger: the same tasks after one earlier run, whose calls the surface shows.",
      "A task is done without a search if the surface shows how all of its tools are called. Its program then reads the fields that a model guessed which had seen only the surface. A task that sends what it has read is searched for unless the surface names the fields.",
      "Counted with the o200k tokenizer: tool names, descriptions and argument schemas, instructions, the request, each call as written, and the text of each result. Calls that do not depend on each other share one round trip. The final answer is one round trip.",
      "Tool search is computed from the direct transcripts for a host that shows all tool names first and loads definitions by search. It is the best case: one search per task, which finds exactly the tools the task uses. The host's own search tool is not counted.",
      "Where results are small, searching and writing code cost more than a direct call whose definition is already loaded.",
      "Time in the tools excludes the model, whose round trips take seconds each. Direct servers are started in advance; behind claudikins each server starts with the first task that needs it.",
      "Tokens processed is computed: each round trip sends the whole context again. Prompt caching makes that cheaper, not smaller.",
      `These direct transcripts exceed a context window of ${window.toLocaleString("en")} tokens and are counted as if they fitted: ${tooLarge.map(({ name }) => name).join("; ")}.`,
      "demo.list_orders returns indented JSON, as some servers do.",
    ],
  };
};

type Way = Played | Searched;
type Pick = (cost: Searched["costs"][number], way: Way) => number;

/** The figures of claudikins, of claudikins with the ledger of an earlier run, of direct calls, and of tool search. */
type Figures = [ours: number, later: number, theirs: number, found: number];

/** The surface shows the calls of the tools that were called most. */
const withLedger = "with a ledger";

/** Hosts that load definitions by search. */
const toolSearch = "tool search";

const winsIn = (what: string, count: number): Row => ({
  what: `tasks (of ${tasks.length}) where code takes ${what}`,
  id: what,
  unit: "tasks",
  ours: count,
  others: {},
  counted: "once",
});

/** The definitions and the whole work. */
const inContext: Pick = (cost, way) => way.definitionTokens + cost.workTokens;

const beside = (ours: number, theirs: number): Other => ({ value: theirs, ratio: ours / theirs });

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
