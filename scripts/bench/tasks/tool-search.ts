/**
 * What a host's own tool search makes of the direct transcripts. Computed, and its best case: at first there are the names of
 * all tools, and one search for each task finds the tools that this task uses and no other. What the search tool itself and
 * the host's words about it take is the host's own, and not counted.
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
      // The request for the search, and then all that the direct way sent, with other definitions.
      processedTokens: definitionTokens + requestTokens + processedTokens + roundTrips * moreEachTime,
    };
  });
  return { definitionTokens, costs };
}
