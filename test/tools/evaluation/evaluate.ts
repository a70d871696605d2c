/** How often the right tool is first, and how often among the first five. */
import type { RegistryServer } from "../../../src/tools/model.ts";
import { ToolSearch } from "../../../src/tools/search/tool-search.ts";
import { serverOf } from "../search-corpus.ts";
import { type Example, examples } from "./corpus.ts";

export interface Evaluation {
  requests: number;
  first: number;
  firstFive: number;
  /** Requests whose tool is not among the first five, with the tools that were found. */
  missed: { request: string; wanted: string; found: string[] }[];
}

export function evaluate(): Evaluation {
  const search = new ToolSearch({ version: 1, servers: serversOf(examples) });
  const answers = examples.flatMap(({ server, tool, requests }) =>
    requests.map((request) => {
      const found = search.search(request, 5).map(({ id }) => id);
      return { request, wanted: `${server}.${tool}`, found };
    }),
  );
  const missed = answers.filter(({ wanted, found }) => !found.includes(wanted));
  return {
    requests: answers.length,
    first: answers.filter(({ wanted, found }) => found[0] === wanted).length / answers.length,
    firstFive: 1 - missed.length / answers.length,
    missed,
  };
}

function serversOf(all: Example[]): RegistryServer[] {
  return [...Map.groupBy(all, ({ server }) => server)].map(([name, tools]) =>
    serverOf(
      name,
      Object.fromEntries(
        tools.map(({ tool, description, parameters }) => {
          const names = parameters.split(", ").filter(Boolean);
          return [tool, { description, parameters: Object.fromEntries(names.map((each) => [each, {}])) }];
        }),
      ),
    ),
  );
}
