/** Counts the tokens that the tool definitions of servers take in an agent's context. Each server is started and asked. */

import { listedAtOnce } from "../catalog/listing-queue.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import { type Problem, problemOf } from "../errors.ts";
import { Semaphore } from "../semaphore.ts";
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
  const semaphore = new Semaphore(listedAtOnce);
  const measured = await Promise.all(
    names.map(async (name): Promise<[string, Measured]> => {
      const turn = semaphore.acquire(signal);
      if (turn && !(await turn)) return [name, { problem: tooSlow(name) }];
      const answer = await ask(catalog, name, signal).catch((thrown: unknown): Measured => {
        const problem = problemOf(thrown);
        return { problem: problem.code === "CANCELLED" && !options.signal.aborted ? tooSlow(name) : problem };
      });
      options.onServer?.(name);
      semaphore.release();
      return [name, answer];
    }),
  );
  return new Map(measured);
}

async function ask(catalog: ToolCatalog, name: string, signal: AbortSignal): Promise<Measured> {
  const { server } = await catalog.preview(name, { signal });
  // The fields that an agent gives to its model.
  const definitions = server.tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, inputSchema }),
  );
  return { tools: server.tools.length, tokens: definitions.reduce((sum, text) => sum + estimateTokens(text), 0) };
}

function tooSlow(name: string): Problem {
  const hint = "Some servers take longer on their first start. To try again: claudikins list --check";
  return { code: "SERVER_UNAVAILABLE", message: `${name} did not answer in time`, hint };
}
