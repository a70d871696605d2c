/**
 * The cost of a host's own tool search, computed from the direct transcripts. It is the best case: the context begins
 * with the names of all tools, and one search per task finds exactly the tools that the task uses. The search tool
 * itself and the host's instructions for it are not counted.
 */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { type Cost, writtenCall } from "./agent.ts";
import type { Played } from "./play.ts";

export interface Searched {
  definitionTokens: number;
  costs: Pick<Cost, "workTokens" | "roundTrips" | "processedTokens">[];
}

export function withToolSearch(direct: Played): Searched {
  const { definitions, instructions } = direct.shown;
  const definitionTokens = countTokens([...definitions.keys(), instructions].join("\n"));
  const costs = direct.costs.map(({ used, requestTokens, workTokens, roundTrips, processedTokens }) => {
    const names = [...used];
    const call = writtenCall("tool_search", { query: names.join(" ") });
    const found = names.map((name) => definitions.get(name)).join("\n");
    const searchTokens = countTokens(call) + countTokens(found);
    const moreEachTime = definitionTokens + searchTokens - direct.definitionTokens;
    return {
      workTokens: workTokens + searchTokens,
      roundTrips: roundTrips + 1,
      // The request for the search, then everything that the direct way sent, with other definitions.
      processedTokens: definitionTokens + requestTokens + processedTokens + roundTrips * moreEachTime,
    };
  });
  return { definitionTokens, costs };
}
