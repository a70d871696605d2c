/** Counts the tokens that the tool definitions of servers take in an agent's context. Each server is started and asked. */
import { askAll } from "../catalog/ask-all.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Problem } from "../errors.ts";
import { definitionText } from "../registry/model.ts";
import { estimateTokens } from "../token-estimate.ts";

export type Measured = { tools: number; tokens: number } | { tools?: undefined; problem: Problem };

export interface MeasureOptions {
  withinMs: number;
  signal: AbortSignal;
  onServer?: (name: string) => void;
}

/** Takes `withinMs` at most for all servers. Servers that answer stay connected for the next use. */
export async function measure(
  catalog: ToolCatalog,
  names: readonly string[],
  options: MeasureOptions,
): Promise<Map<string, Measured>> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.withinMs)]);
  const ask = async (name: string) => {
    const { tools } = (await catalog.preview(name, { signal })).server;
    return { tools: tools.length, tokens: tools.reduce((sum, tool) => sum + estimateTokens(definitionText(tool)), 0) };
  };
  const answers = await askAll(names, undefined, ask, { signal, onServer: options.onServer });
  return new Map(
    answers.map(({ server, durationMs: _, ...answer }): [string, Measured] => {
      if (!("problem" in answer)) return [server, answer];
      const isLate = answer.problem.code === "CANCELLED" && !options.signal.aborted;
      return [server, isLate ? { problem: tooSlow(server) } : answer];
    }),
  );
}

function tooSlow(name: string): Problem {
  const hint = "Some servers take longer on their first start. To give them more time: claudikins init --timeout 2m";
  return { code: "SERVER_UNAVAILABLE", message: `${name} did not answer in time`, hint };
}
