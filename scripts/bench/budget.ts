/** What the limit of the surface does to whole tasks: round trips and tokens with several limits, and with 4, 18 and 52 servers. */
import type { Row } from "./report.ts";
import type { Measure } from "./section.ts";
import { recordedServers } from "./surface.ts";
import { type PlayedCode, playCode } from "./tasks/play.ts";

const limits = ["default", 600, 800, 1_000, 1_200] as const;
const serverCounts = [4, 18, 52];

/** The servers of the tasks, which are also recorded. */
const ofTasks = new Set(["filesystem", "memory", "everything"]);

export const measureBudget: Measure = async (bench) => {
  const recorded = Object.entries(recordedServers()).filter(([name]) => !ofTasks.has(name));
  const rows: Row[] = [];
  for (const count of serverCounts) {
    const more = count - 4;
    if (recorded.length < more) continue;
    const step = Math.max(1, Math.floor(recorded.length / Math.max(1, more)));
    const others = Object.fromEntries(recorded.filter((_, at) => at % step === 0).slice(0, more));
    const played: [limit: string, again: PlayedCode][] = [];
    for (const limit of limits) {
      const settings = limit === "default" ? {} : { surfaceTokens: limit };
      played.push([String(limit), (await playCode(bench, { others, settings })).again]);
    }
    const row = (what: string, unit: Row["unit"], figure: (played: PlayedCode) => number): Row => {
      const [[, ours], ...rest] = played as [[string, PlayedCode], ...[string, PlayedCode][]];
      const beside = ([limit, each]: [string, PlayedCode]) => [
        limit,
        { value: figure(each), ratio: figure(ours) / figure(each) },
      ];
      return {
        what: `${count} servers: ${what}`,
        unit,
        ours: figure(ours),
        others: Object.fromEntries(rest.map(beside)),
        counted: "once",
      };
    };
    const sum = ({ costs }: PlayedCode, pick: (cost: PlayedCode["costs"][number]) => number) =>
      costs.reduce((total, cost) => total + pick(cost), 0);
    rows.push(
      row("definitions, before any work", "tokens", ({ definitionTokens }) => definitionTokens),
      row("round trips of all tasks", "round trips", (each) => sum(each, (cost) => cost.roundTrips)),
      row("tokens in the context", "tokens", (each) => sum(each, (cost) => each.definitionTokens + cost.workTokens)),
      row("tokens processed", "tokens", (each) => sum(each, (cost) => cost.processedTokens)),
    );
  }
  return {
    rows,
    notes: [
      "The tasks of the section `tasks` with a ledger: four servers are in use, and the others were never called. The columns are values of `surfaceTokens`.",
    ],
  };
};
