/** The context cost of whole tasks: the same ones by the servers' own tools, and by search_tools with execute_code. */
import { median } from "./measure.ts";
import { type Other, type Row, rowOf } from "./report.ts";
import type { Measure } from "./section.ts";
import type { Cost } from "./tasks/agent.ts";
import { type Played, playCode, playDirect, tasks } from "./tasks/play.ts";

/** Rounds at most: each starts the servers twice, and plays everything. */
const maxRounds = 5;

/** What a model can take in at once, of many that are sold now. */
const window = 200_000;

interface Round {
  code: Played;
  direct: Played;
}

export const measureTasks: Measure = async (bench) => {
  const rounds: Round[] = [];
  const { least: count } = bench.rounds(maxRounds, 3);
  // The first one warms the machine's caches: its tokens are the same, its times do not count.
  for (let round = 0; round <= count; round++) {
    const direct = await playDirect(bench);
    rounds.push({ code: await playCode(bench), direct });
  }
  const [{ code, direct }] = rounds as [Round];
  const counted = "once";
  const pair = (what: string, unit: Row["unit"], ours: number, theirs: number): Row => ({
    what,
    unit,
    ours,
    others: { direct: beside(ours, theirs) },
    counted,
  });
  const ofEach = (what: string, unit: Row["unit"], pick: (cost: Cost, played: Played) => number): Row[] => {
    const values = tasks.map(
      (_, index) => [pick(code.costs[index]!, code), pick(direct.costs[index]!, direct)] as const,
    );
    const [ours, theirs] = [values.map(([first]) => first), values.map(([, second]) => second)];
    return [
      ...tasks.map(({ name }, index) => pair(`${name}: ${what}`, unit, ours[index]!, theirs[index]!)),
      { ...pair(`all ${tasks.length} tasks: ${what}`, unit, sum(ours), sum(theirs)), id: `all ${what}` },
      {
        ...pair(`the median task: ${what}`, unit, median(ours), median(theirs)),
        others: { direct: { value: median(theirs), ratio: median(values.map(([first, second]) => first / second)) } },
        id: `median ${what}`,
      },
    ];
  };
  const computed = (rows: Row[]) => rows.map((row): Row => ({ ...row, how: "computed" }));
  const wins = (pick: (cost: Cost, played: Played) => number) =>
    tasks.filter((_, index) => pick(code.costs[index]!, code) < pick(direct.costs[index]!, direct)).length;
  const work = (cost: Cost) => cost.workTokens;
  const turns = (cost: Cost) => cost.roundTrips;
  const tooLarge = tasks.filter((_, index) => inContext(direct.costs[index]!, direct) > window);
  return {
    rows: [
      pair("definitions, before any work", "tokens", code.definitionTokens, direct.definitionTokens),
      ...ofEach("tokens in the context", "tokens", inContext),
      ...ofEach("tokens without the definitions", "tokens", work),
      ...ofEach("round trips", "round trips", turns),
      ...computed(ofEach("tokens processed", "tokens", (cost) => cost.processedTokens)),
      ...tasks.map(({ name }, index) => {
        const msOf = (way: keyof Round) => median(rounds.slice(1).map((round) => round[way].costs[index]!.ms));
        const what = `${name}: what the tools take`;
        const counted = `${count} rounds`;
        return {
          what,
          unit: "ms" as const,
          ours: msOf("code"),
          others: { direct: { value: msOf("direct") } },
          counted,
        };
      }),
      rowOf(`all ${tasks.length} tasks: what the tools take`, {
        ours: rounds.slice(1).map((round) => sum(round.code.costs.map(({ ms }) => ms))),
        direct: rounds.slice(1).map((round) => sum(round.direct.costs.map(({ ms }) => ms))),
      }),
    ],
    notes: [
      "Scripted transcripts over real connections to the demo, filesystem, memory and everything servers; no model is asked. Both ways have to give the same answer.",
      "Counted with o200k: names, descriptions and argument schemas of the tools, instructions, the request, each call as it is written, each result's text. Calls that need not wait for each other are one round trip; the answer is one, too.",
      `Without the definitions, code takes fewer tokens in ${wins(work)} of ${tasks.length} tasks: where results are small, searching and writing code cost more than a direct call. It takes fewer round trips in ${wins(turns)}.`,
      "What the tools take is without the model, whose round trips take seconds each. Direct servers have been started before; behind claudikins each starts with the first task that needs it.",
      "Tokens processed are computed: each round trip sends the whole context again. Caches of model providers make that cheaper, not smaller.",
      `Counted as if it fitted, which it does not with ${window.toLocaleString("en")} tokens: ${tooLarge.map(({ name }) => name).join("; ")}, direct. demo.list_orders indents its JSON generously, as some servers do.`,
    ],
  };
};

/** The definitions, and all of the work. */
const inContext = (cost: Cost, played: Played) => played.definitionTokens + cost.workTokens;

const beside = (ours: number, theirs: number): Other => ({ value: theirs, ratio: ours / theirs });

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
